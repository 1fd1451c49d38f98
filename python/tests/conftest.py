"""Data for the tests."""

import numpy as np
import pytest


def make(queries=40, documents=12, features=6, seed=1):
    """Return features, labels and query ids; labels depend on the first two features."""
    random = np.random.default_rng(seed)
    rows = queries * documents
    X = random.normal(size=(rows, features)).astype(np.float32)
    y = np.clip(np.round(1.2 * X[:, 0] + 0.6 * X[:, 1] + 0.5 * random.normal(size=rows) + 0.5), 0, 4)
    return X, y.astype(np.float32), np.repeat(np.arange(1, queries + 1), documents)


@pytest.fixture(scope="session")
def data():
    return make()


@pytest.fixture(scope="session")
def files(data, tmp_path_factory):
    """The same data as a LETOR file. Each float32 is written so that it reads back exactly."""
    X, y, qid = data
    path = tmp_path_factory.mktemp("data") / "train.txt"
    with open(path, "w") as file:
        for row, label, query in zip(X, y, qid):
            values = " ".join(f"{place}:{np.format_float_positional(value)}" for place, value in enumerate(row, 1))
            file.write(f"{label:g} qid:{query} {values}\n")
    return path
