"""Wrong input raises exceptions and never ends the process."""

import numpy as np
import pytest

import burnrank
from burnrank import BurnRanker
from conftest import make

CALLS = 10_000

#: The fault of labels that define no order.
EQUAL_LABELS = 10


def spoil(random, X, y, qid):
    """Return a number that stands for a fault, and data with this fault."""
    kind = int(random.integers(14))
    return kind, spoiled(kind, random, X, y, qid)


def spoiled(kind, random, X, y, qid):
    rows, columns = X.shape
    place = random.integers(rows), random.integers(columns)
    if kind == 0:
        return X[:, :0], y, qid
    if kind == 1:
        return X[: random.integers(rows)], y, qid
    if kind == 2:
        return X, y[: random.integers(rows)], qid
    if kind == 3:
        return X, y, qid[: random.integers(rows)]
    if kind == 4:
        X = X.copy()
        X[place] = random.choice([np.inf, -np.inf])
        return X, y, qid
    if kind == 5:
        y = y.copy()
        y[place[0]] = random.choice([np.nan, np.inf, -1])
        return X, y, qid
    if kind == 6:
        return X.astype(random.choice(["complex64", "datetime64[s]", "S5", "U5"])).astype(object), y, [[1]] * rows
    if kind == 7:
        return X.ravel() if random.integers(2) else X[None], y, qid
    if kind == 8:
        return X, y, random.permutation(qid)
    if kind == 9:
        qid = qid.astype(float)
        qid[place[0]] = np.nan
        return X, y, qid
    if kind == EQUAL_LABELS:
        return X, np.zeros_like(y), qid
    if kind == 11:
        return X[:0], y[:0], qid[:0]
    if kind == 12:
        return random.choice([None, 3, "text"]), y, qid
    return X[::-1, ::-1].T, y, qid


def test_ten_thousand_wrong_calls():
    random = np.random.default_rng(11)
    X, y, qid = make(6, 4, 3)
    good = BurnRanker(model="linear", epochs=1, progress=False).fit(X, y, qid=qid)
    refused = 0
    for call in range(CALLS):
        ranker = BurnRanker(model=["linear", "mlp"][call % 2], epochs=1, progress=False)
        kind, bad = spoil(random, X, y, qid)
        # Equal labels are no fault of validation data.
        with pytest.raises((ValueError, TypeError)):
            if call % 3 == 0 and kind != EQUAL_LABELS:
                ranker.fit(X, y, qid=qid, eval_set=bad[:2], eval_qid=bad[2])
            elif call % 3 == 1:
                good.score(*bad)
                ranker.fit(bad[0], bad[1], qid=bad[2])
            else:
                ranker.fit(bad[0], bad[1], qid=bad[2])
        refused += 1
    assert refused == CALLS


def test_malformed_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    X, y, qid = make(6, 4, 3)
    ranker = BurnRanker(model="linear", epochs=1, progress=False)
    for field, place, value in [("indices", 0, 99), ("indices", 3, -1), ("indptr", 2, 10**6), ("indptr", 1, -5)]:
        matrix = sparse.csr_matrix(X)
        getattr(matrix, field)[place] = value
        with pytest.raises(ValueError, match="sparse matrix"):
            ranker.fit(matrix, y, qid=qid)
    matrix = sparse.csr_matrix(X)
    matrix.data = matrix.data[:5]
    with pytest.raises(ValueError, match="sparse matrix"):
        ranker.fit(matrix, y, qid=qid)


def test_an_estimator_that_is_not_fitted():
    for call in (lambda r: r.predict(np.zeros((1, 1))), lambda r: r.save("x"), lambda r: r.to_onnx(), lambda r: r.info_):
        with pytest.raises((ValueError, AttributeError), match="not fitted"):
            call(BurnRanker())


def test_another_number_of_features(data):
    X, y, qid = data
    ranker = BurnRanker(model="linear", epochs=1, progress=False).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="X has 5 features, but BurnRanker is expecting 6"):
        ranker.predict(X[:, :5])
    with pytest.raises(ValueError):
        burnrank.explain(ranker, X[:, :5], y, qid)
