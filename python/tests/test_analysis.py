"""Evaluation, comparison, explanation, certificates."""

import subprocess
import sys
import json

import numpy as np
import pytest

import burnrank
from burnrank import BurnRanker


def test_values_are_those_of_the_tool(data, files, tmp_path):
    X, y, qid = data
    scores = X[:, 0].round(1)
    (tmp_path / "scores.txt").write_text("".join(f"{score}\n" for score in scores))
    for options, words in [({}, []), ({"like": "lightgbm"}, ["--like", "lightgbm"]), ({"ties": "average"}, ["--ties", "average"])]:
        words = ["evaluate", "--data", str(files), "--scores", str(tmp_path / "scores.txt"), "--metric", "ndcg@5", "--json", *words]
        result = subprocess.run([sys.executable, "-m", "burnrank", *words], capture_output=True, text=True)
        expected = json.loads(result.stdout)["metrics"][0]
        own = burnrank.evaluate(y, scores, qid, "ndcg@5", **options).metrics[0]
        assert (own.name, own.mean, own.standard_error) == (expected["name"], expected["mean"], expected["standard_error"])
    sklearn = pytest.importorskip("sklearn.metrics")
    own = burnrank.evaluate(y, scores, qid, "ndcg@5", like="scikit-learn").metrics[0]
    theirs = [sklearn.ndcg_score([y[qid == query]], [scores[qid == query]], k=5) for query in np.unique(qid)]
    assert np.allclose(own.values, theirs)


def test_comparison(data):
    X, y, qid = data
    random = np.random.default_rng(5)
    systems = {"random": random.normal(size=len(y)), "good": X[:, 0], "better": 2 * X[:, 0] + X[:, 1]}
    result = burnrank.compare(y, systems, qid)
    assert result.queries == 40 and result.rows[0]["name"] == "better" and len(result.comparisons) == 3
    table = result.to_pandas()
    pair = table[(table["baseline"] == "random") & (table["system"] == "better")].iloc[0]
    assert pair["significant"] and pair["corrected p"] < 0.05 and pair["low"] > 0
    assert "<table>" in result._repr_html_() and "better" in str(result)
    # A permuted copy is no better.
    same = burnrank.compare(y, {"a": X[:, 0], "b": X[:, 0]}, qid)
    assert same.comparisons[0]["difference"] == 0 and not same.to_pandas()["significant"][0]


def test_explanation(data):
    X, y, qid = data
    ranker = BurnRanker(model="linear", epochs=20, progress=False).fit(X, y, qid=qid)
    result = burnrank.explain(ranker, X, y, qid)
    assert [row["name"] for row in result.importances[:2]] == ["f1", "f2"]
    assert result.to_pandas()["decrease"].is_monotonic_decreasing
    assert len(result.dependences) == 6 and result.details["comparison"]["baseline"] == "f1 alone"
    assert burnrank.explain(ranker, X, y, qid, baseline=X[:, 3]).details["comparison"]["baseline"] == "baseline"


def test_certificates(data):
    X, y, qid = data
    ranker = BurnRanker(model="linear", epochs=2, progress=False).fit(X, y, qid=qid)
    result = burnrank.certify(ranker, X, y, qid, directions=50)
    assert result.directions == 50 and len(result.to_pandas()) == 2
    trees = BurnRanker(model="trees", trees=3, progress=False).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="certify needs a linear net or an mlp"):
        burnrank.certify(trees, X, y, qid)


def test_functions_as_metrics(data):
    X, y, qid = data

    def first(scores, labels, offsets):
        return [labels[a:b][np.argmax(scores[a:b])] for a, b in zip(offsets, offsets[1:])]

    result = burnrank.evaluate(y, X[:, 0], qid, [first, "map", first])
    assert [metric.name for metric in result.metrics] == ["first", "map", "first"]
    assert result["first"].mean > 1
    assert burnrank.compare(y, {"a": X[:, 0], "b": X[:, 1]}, qid, first).metric == "first"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda y, s, q: burnrank.evaluate(y[1:], s, q), "inconsistent numbers"),
        (lambda y, s, q: burnrank.evaluate(y, s, q[1:]), "qid: expected"),
        (lambda y, s, q: burnrank.evaluate(-y - 1, s, q), "a label is a number of 0 or more"),
        (lambda y, s, q: burnrank.evaluate(y, s, q[::7][np.arange(len(y)) % 60]), "not adjacent"),
        (lambda y, s, q: burnrank.evaluate(y, s, q, "ndgc"), "did you mean 'ndcg'"),
        (lambda y, s, q: burnrank.evaluate(y, s, q, like="ranklib"), "unknown program"),
        (lambda y, s, q: burnrank.evaluate(y, s, q, like="letor", ties="average"), "`like` states ties"),
        (lambda y, s, q: burnrank.evaluate(y, s, q, threshold=-1), "threshold"),
        (lambda y, s, q: burnrank.compare(y, {"a": s}, q), "two or more"),
        (lambda y, s, q: burnrank.compare(y, {"a": s, "b": s}, q, alpha=2), "alpha"),
    ],
)
def test_wrong_calls(data, call, text):
    X, y, qid = data
    with pytest.raises(ValueError, match=text):
        call(y, X[:, 0], qid)
