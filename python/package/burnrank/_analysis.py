"""Evaluation, comparison and explanation, as the commands of the same names."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Mapping, Optional, Union

import numpy as np

from . import _native
from ._data import dataset, labels, queries, vector
from ._results import Table

MetricLike = Union[str, Callable]


@dataclass(frozen=True)
class MetricResult:
    """Values of a metric."""

    #: Name of the metric.
    name: str
    #: Mean over queries.
    mean: float
    #: Standard error of the mean; NaN for fewer than two queries.
    standard_error: float
    #: Bounds of the 95% confidence interval of the mean.
    interval: tuple[float, float]
    #: Number of evaluated queries.
    queries: int
    #: Number of skipped queries.
    skipped: int
    #: Value of each query; NaN for skipped ones.
    values: np.ndarray = field(repr=False)
    #: Whether lower values are better.
    cost: bool = False

    @classmethod
    def of(cls, result: dict[str, Any]) -> MetricResult:
        result["interval"] = tuple(_number(bound) for bound in result["interval"])
        result["values"] = np.array([_number(value) for value in result["values"]])
        return cls(**{**result, "mean": _number(result["mean"]), "standard_error": _number(result["standard_error"])})


@dataclass(frozen=True)
class Evaluation(Table):
    """Values of metrics over queries."""

    #: One result per metric.
    metrics: list[MetricResult]
    #: How ties and queries without relevant documents are treated.
    conventions: str

    def __getitem__(self, name: str) -> MetricResult:
        for metric in self.metrics:
            if metric.name == name:
                return metric
        raise KeyError(name)

    def _caption(self) -> str:
        return f"conventions: {self.conventions}"

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                "metric": m.name,
                "mean": m.mean,
                "standard error": m.standard_error,
                "low": m.interval[0],
                "high": m.interval[1],
                "queries": m.queries,
            }
            for m in self.metrics
        ]


@dataclass(frozen=True)
class Comparison(Table):
    """Comparison of systems by one metric, with p-values corrected by Holm's method."""

    #: Name of the metric.
    metric: str
    #: Significance level over all pairs together.
    alpha: float
    #: Number of queries.
    queries: int
    #: Leaderboard: rank, name, mean, interval and letters of each system. Systems that share a letter do not differ significantly.
    rows: list[dict[str, Any]]
    #: One comparison per pair: means, difference, tests, interval, wins and losses. The difference is `system` minus `baseline`.
    comparisons: list[dict[str, Any]] = field(repr=False)

    def _caption(self) -> str:
        return f"{self.metric}, {self.queries} queries, significance level {self.alpha}"

    def _rows(self) -> list[dict[str, Any]]:
        rows = []
        for c in self.comparisons:
            adjusted = c["adjusted"] or {}
            low, high = adjusted.get("interval") or (None, None)
            rows.append(
                {
                    "baseline": c["baseline"],
                    "system": c["system"],
                    "baseline mean": c["baseline_mean"],
                    "system mean": c["system_mean"],
                    "difference": c["difference"],
                    "low": low,
                    "high": high,
                    "p": (c["randomisation"] or {}).get("p"),
                    "corrected p": adjusted.get("randomisation"),
                    "significant": is_significant(c, self.alpha),
                }
            )
        return rows


@dataclass(frozen=True)
class Explanation(Table):
    """Permutation importance of all features, and the other results of `burnrank explain` in `details`."""

    #: Name of the metric.
    metric: str
    #: Names of the features.
    feature_names: list[str]
    #: Importance of each feature, the most important first: name, decrease of the metric, standard error, p-value, interval.
    importances: list[dict[str, Any]]
    #: Partial dependences of the most important features: name, values, mean scores.
    dependences: list[dict[str, Any]] = field(repr=False)
    #: All results.
    details: dict[str, Any] = field(repr=False)

    def _caption(self) -> str:
        return f"decrease of {self.metric} when a feature is permuted"

    def _rows(self) -> list[dict[str, Any]]:
        none = (None, None)
        return [
            {
                "feature": row["name"],
                "decrease": row["decrease"],
                "standard error": row["standard_error"],
                "low": (row["interval"] or none)[0],
                "high": (row["interval"] or none)[1],
                "p": row["p"],
            }
            for row in self.importances
        ]


@dataclass(frozen=True)
class Certificate(Table):
    """Result of a test whether a model is at a local optimum of a metric."""

    #: Whether no direction improved the metric.
    holds: bool
    #: Name of the metric.
    metric: str
    #: Value of the metric.
    value: float
    #: Number of random directions.
    directions: int
    #: One report per set of step sizes, with a `statement` of what it shows.
    reports: list[dict[str, Any]] = field(repr=False)

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                "steps": f"{min(r['steps']):g} to {max(r['steps']):g}",
                "directions": r["directions"],
                "improving": r["rising"],
                "best change": r["best"]["rise"],
            }
            for r in self.reports
        ]

    def _caption(self) -> str:
        return f"{self.metric} {self.value:.4f}: " + ("no direction improved it" if self.holds else "not a local optimum")


def evaluate(
    y: Any,
    scores: Any,
    qid: Any,
    metrics: Union[None, MetricLike, Iterable[MetricLike]] = None,
    *,
    like: Optional[str] = None,
    ties: Optional[str] = None,
    empty: Optional[str] = None,
    threshold: float = 1.0,
) -> Evaluation:
    """Evaluate scores by ranking metrics: mean, standard error and 95% interval over queries.

    A metric is a name such as "ndcg@10", or a function of scores, labels and query offsets that returns one value per query. `like`
    computes metrics as another program does: trec_eval, scikit-learn, lightgbm, xgboost or letor. `ties`, `empty` and `threshold` are
    the options of `burnrank evaluate`.

    >>> import burnrank
    >>> result = burnrank.evaluate([1, 0, 0, 2], [0.1, 0.9, 0.3, 0.2], qid=[1, 1, 2, 2], metrics=["mrr"])
    >>> result["mrr"].mean
    0.5
    """
    scores = np.asarray(scores)
    if scores.ndim != 1:
        raise ValueError(f"scores: expected one score per document, got an array of shape {scores.shape}")
    y, scores = labels(y, len(scores)), vector(scores, len(scores), "scores")
    ids, sizes = queries(qid, len(y))
    wanted = _listed(metrics)
    names = None if wanted is None else [metric for metric in wanted if isinstance(metric, str)]
    report = json.loads(_native.evaluate(y, scores, sizes, names, _Rules(like, ties, empty, threshold)))
    results = [MetricResult.of(result) for result in report["metrics"]]
    for function in (metric for metric in wanted or [] if not isinstance(metric, str)):
        results.append(_by_function(function, y, scores, sizes))
    if wanted is not None and len(wanted) == len(results):
        named, functions = iter(results[: len(names)]), iter(results[len(names) :])
        results = [next(named) if isinstance(metric, str) else next(functions) for metric in wanted]
    return Evaluation(results, report["conventions"])


def compare(
    y: Any,
    systems: Mapping[str, Any],
    qid: Any,
    metric: MetricLike = "ndcg@10",
    *,
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 1,
    like: Optional[str] = None,
    ties: Optional[str] = None,
    empty: Optional[str] = None,
    threshold: float = 1.0,
) -> Comparison:
    """Compare systems, given as names and scores, by paired significance tests over queries.

    >>> import numpy as np, burnrank
    >>> y, qid = np.tile([1, 0, 0], 40), np.repeat(np.arange(40), 3)
    >>> good, bad = np.tile([3, 2, 1], 40), np.tile([1, 2, 3], 40)
    >>> result = burnrank.compare(y, {"bad": bad, "good": good}, qid, "mrr")
    >>> result.rows[0]["name"], bool(result.comparisons[0]["adjusted"]["randomisation"] < 0.05)
    ('good', True)
    """
    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise ValueError("systems: expected two or more systems, as a dictionary of names and scores")
    options = {"like": like, "ties": ties, "empty": empty, "threshold": threshold}
    results = [evaluate(y, scores, qid, [metric], **options).metrics[0] for scores in systems.values()]
    ids, _ = queries(qid, len(np.asarray(y)))
    values = [result.values.tolist() for result in results]
    first = results[0]
    names = [str(name) for name in systems]
    report = _native.compare(first.name, names, values, ids, first.cost, float(alpha), int(resamples), int(seed))
    return Comparison(**json.loads(report))


def explain(
    ranker: Any,
    X: Any,
    y: Any,
    qid: Any = None,
    metric: str = "ndcg@10",
    *,
    baseline: Any = None,
    permute: str = "query",
    repeats: int = 5,
    seed: int = 1,
    dependences: int = 6,
    queries: int = 3,
    like: Optional[str] = None,
    ties: Optional[str] = None,
    empty: Optional[str] = None,
    threshold: float = 1.0,
) -> Explanation:
    """Explain a fitted ranker on labelled data: permutation importance, partial dependence, and the queries with the largest changes.

    `baseline` are scores to compare with; by default those of the best single feature. The other options are those of
    `burnrank explain`.
    """
    model = ranker._fitted()
    data, _, columns = dataset(X, y, qid, ranker.qid_column)
    if baseline is not None:
        baseline = ("baseline", vector(baseline, len(np.asarray(y)), "baseline").tolist())
    rules = _Rules(like, ties, empty, threshold)
    details = json.loads(
        _native.explain(model, data, metric, rules, baseline, permute, int(repeats), int(seed), int(dependences), int(queries))
    )
    names = details["feature_names"]
    named = lambda rows: [{"name": names[row["feature"]], **row} for row in rows]
    return Explanation(details["metric"], names, named(details["importances"]), named(details["dependences"]), details)


def certify(
    ranker: Any,
    X: Any,
    y: Any,
    qid: Any = None,
    metric: str = "ndcg@10",
    *,
    epsilon: float = 0.01,
    delta: float = 0.01,
    directions: Optional[int] = None,
    steps: Optional[Iterable[Iterable[float]]] = None,
    relative: bool = True,
    seed: int = 0,
    ties: Optional[str] = None,
    empty: Optional[str] = None,
    threshold: float = 1.0,
) -> Certificate:
    """Test whether a fitted net is at a local optimum of a metric on this data. The options are those of `burnrank certify`."""
    model = ranker._fitted()
    data, _, _ = dataset(X, y, qid, ranker.qid_column)
    sets = None if steps is None else [[float(step) for step in one] for one in steps]
    rules = _Rules(None, ties, empty, threshold)
    report = _native.certify(model, data, metric, rules, float(epsilon), float(delta), directions, sets, bool(relative), int(seed))
    report = json.loads(report)
    return Certificate(report["holds"], report["metric"], report["value"], report["directions"], report["reports"])


@dataclass
class _Rules:
    """How metrics are computed."""

    like: Optional[str]
    ties: Optional[str]
    empty: Optional[str]
    threshold: float

    def __post_init__(self) -> None:
        if not 0 < float(self.threshold) < float("inf"):
            raise ValueError(f"threshold {self.threshold}: expected a positive number")


def is_significant(comparison: dict[str, Any], alpha: float) -> bool:
    """Whether a comparison is significant by the corrected randomisation test."""
    p = (comparison["adjusted"] or {}).get("randomisation")
    return p is not None and p <= alpha


def _listed(metrics: Union[None, MetricLike, Iterable[MetricLike]]) -> Optional[list[MetricLike]]:
    if metrics is None:
        return None
    listed = [metrics] if isinstance(metrics, str) or callable(metrics) else list(metrics)
    for metric in listed:
        if not isinstance(metric, str) and not callable(metric):
            raise ValueError(f"metrics: {metric!r}: expected the name of a metric, or a function")
    return listed


def _by_function(function: Callable, y: np.ndarray, scores: np.ndarray, sizes: list[int]) -> MetricResult:
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    values = np.asarray(function(scores, y, offsets), np.float64)
    name = getattr(function, "__name__", "custom")
    if values.shape != (len(sizes),):
        raise ValueError(f"{name}: expected one value per query, {len(sizes)}, got an array of shape {values.shape}")
    return MetricResult.of(json.loads(_native.summarise(name, np.ascontiguousarray(values))))


def _number(value: Optional[float]) -> float:
    return float("nan") if value is None else value
