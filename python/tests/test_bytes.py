"""The same data and settings give the same model, byte for byte, from Python and from the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

import burnrank
from burnrank import BurnRanker

MODELS = [
    {"model": "linear", "epochs": 5},
    {"model": "mlp", "hidden": "8,4", "epochs": 5, "scale": "zscore", "seed": 7},
    {"model": "trees", "trees": 20, "subsample": 0.8},
    {"model": "ranksvm:c=0.1"},
    {"model": "auto", "trials": 6},
    {"model": "mlp", "epochs": 4, "ensemble": 3, "scale": "auto"},
]


def weights(folder):
    """The file with the weights, and the scaling."""
    files = [file for file in Path(folder).iterdir() if file.name in ("model.bpk", "model.txt", "kernel.json")]
    return files[0].read_bytes()


@pytest.mark.parametrize("params", MODELS, ids=lambda params: params["model"])
def test_bytes(data, files, tmp_path, params):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y, qid = data
    words = [word for name, value in params.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    command = [sys.executable, "-m", "burnrank", "train", "--train", str(files), "--out", str(tmp_path / "tool"), "--quiet", *words]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    expected = weights(tmp_path / "tool")
    names = list("abcdef")
    sources = {
        "numpy": (X, y, qid),
        "float64": (X.astype("float64"), y, qid),
        "pandas": (pandas.DataFrame(X, columns=names), pandas.Series(y), pandas.Series(qid)),
        "polars": (polars.DataFrame(dict(zip(names, X.T))), polars.Series(y), polars.Series(qid)),
        "file": tuple(burnrank.read_letor(files)),
    }
    for name, (features, labels, queries) in sources.items():
        ranker = BurnRanker(progress=False, **params).fit(features, labels, qid=queries)
        ranker.save(tmp_path / name)
        assert weights(tmp_path / name) == expected, name
    tool = BurnRanker.load(tmp_path / "tool")
    assert tool.info_["scaler"] == ranker.info_["scaler"] and (tool.predict(X, qid) == ranker.predict(X, qid)).all()
