"""The estimator."""

from __future__ import annotations

import inspect
import json
import logging
import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np

from . import _native
from ._analysis import evaluate
from ._data import dataset, matrix, queries, split_qid
from ._results import Epoch

try:
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
except ImportError:
    BaseEstimator = None

    class NotFittedError(ValueError, AttributeError):
        """The estimator is not fitted yet."""


log = logging.getLogger("burnrank")

#: Arguments that are not settings of a model, with defaults and help.
OTHERS = {
    "ensemble": (1, "Number of nets or tree models that are trained in parallel and averaged"),
    "trials": (None, "Maximum number of runs of model selection; for auto"),
    "seconds": (None, "Maximum time of model selection in seconds; for auto"),
    "device": ("auto", "Device of nets: auto, flex, or another backend of the build"),
    "qid_column": ("qid", "Name, or number in arrays, of the column of X with query ids, used if qid is not passed"),
    "progress": (True, "Whether to show a progress bar if tqdm is installed and the output is a terminal"),
}

SETTINGS = _native.settings()


class _Parameters:
    """What scikit-learn's BaseEstimator provides, for environments without scikit-learn."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in PARAMETERS}

    def set_params(self, **params: Any):
        for name, value in params.items():
            if name not in PARAMETERS:
                raise ValueError(f"Invalid parameter '{name}' for estimator {type(self).__name__}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [f"{name}={getattr(self, name)!r}" for name, value in PARAMETERS.items() if getattr(self, name) != value]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()


#: All arguments with their defaults. None is the default of the setting.
PARAMETERS = {"model": "auto", **{row[0]: None for row in SETTINGS}, **{name: row[0] for name, row in OTHERS.items()}}


class BurnRanker(BaseEstimator or _Parameters):
    """A ranking model: neural nets, boosted trees, or a baseline of the papers.

    >>> import numpy as np
    >>> from burnrank import BurnRanker
    >>> X = np.array([[3.0], [1.0], [2.0]] * 20, np.float32)
    >>> y, qid = [2, 0, 1] * 20, np.repeat(np.arange(20), 3)
    >>> ranker = BurnRanker(model="linear", epochs=5).fit(X, y, qid=qid)
    >>> ranker.predict(X[:3]).argsort().tolist()
    [1, 2, 0]
    >>> round(ranker.score(X, y, qid), 2)
    1.0
    """

    def __init__(self, **params: Any):
        bound = BurnRanker.__init__.__signature__.bind(self, **params)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        callbacks: Optional[list[Callable[[Epoch], Any]]] = None,
        sample_weight: Any = None,
    ) -> BurnRanker:
        """Train on documents X with labels y.

        X is a NumPy array, a pandas or polars data frame, another table with Arrow's PyCapsule interface, or a SciPy sparse matrix.
        `qid` is the query of each document; documents of a query are adjacent. Without `eval_set`, a pair of X and y, one in five
        queries is held out to choose the best epoch. Each callback is called with each `Epoch`, and stops training if it returns true.
        """
        if sample_weight is not None:
            raise ValueError("sample_weight: weights of documents are not supported: leave it out")
        arguments = self._arguments()
        _native.check(*arguments)
        train, names, features = dataset(X, y, qid, self.qid_column)
        valid = self._eval_data(eval_set, eval_qid)
        with _Observer(self.progress, callbacks or []) as observer:
            fitted = _native.fit(*arguments, train, valid, names, observer)
        self._model, history, selection, (self.importance_type_, importances) = fitted
        self.history_ = [Epoch.of(record) for record in json.loads(history)]
        self.selection_ = json.loads(selection) if selection else None
        self.feature_importances_ = np.abs(np.array(importances))
        self._set_features(features, names)
        log.info("trained %s: best epoch %d, validation %s", self.info_["objective"], self.best_epoch_, self.best_score_)
        return self

    def predict(self, X: Any, qid: Any = None) -> np.ndarray:
        """Return the score of each document; higher scores rank first.

        `qid` is only needed if features are scaled within each query.
        """
        self._fitted()
        return self._predict(*split_qid(X, qid, self.qid_column))

    def _predict(self, X: Any, qid: Any) -> np.ndarray:
        """Score documents whose query ids are not in X."""
        model = self._fitted()
        view, names = matrix(X)
        rows, columns = view.shape
        if names is None and columns != self.n_features_in_:
            raise ValueError(
                f"X has {columns} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
            )
        if model.needs_queries:
            if qid is None:
                raise ValueError("qid: the model scales features within each query: pass the query of each document")
            sizes = queries(qid, rows)[1]
        else:
            sizes = [1] * rows if rows < 4096 else _blocks(rows)
        names = names if hasattr(self, "feature_names_in_") else None
        return np.frombuffer(model.predict(view, sizes, names), np.float32)

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of `metric` over the queries; its negative for costs, so that higher is better."""
        if sample_weight is not None:
            raise ValueError("sample_weight: weights of documents are not supported: leave it out")
        self._fitted()
        X, qid = split_qid(X, qid, self.qid_column)
        scores = self._predict(X, qid)
        metric = "ndcg@10" if self.metric is None else self.metric
        result = evaluate(y, scores, qid, [metric]).metrics[0]
        return -result.mean if result.cost else result.mean

    def save(self, folder: str | os.PathLike, *, force: bool = False) -> None:
        """Write a model folder, which the command-line tool reads too. `force` replaces a model that exists."""
        self._fitted().save(os.fspath(folder), force)

    @classmethod
    def load(cls, folder: str | os.PathLike, device: str = "auto") -> BurnRanker:
        """Read a model folder that `save` or the command-line tool wrote. Settings have the values of the training run."""
        ranker = cls(device=device)
        ranker._restore(_native.Model.load(os.fspath(folder), device))
        return ranker

    def to_onnx(self, path: Optional[str | os.PathLike] = None) -> bytes:
        """Return the model in ONNX format, and write it to `path` if given."""
        return self.export("onnx", path)

    def export(self, format: str, path: Optional[str | os.PathLike] = None) -> bytes:
        """Return the model in the format of another program, and write it to `path` if given.

        The formats are those of `python -m burnrank export --help`.
        """
        name = Path(path).stem if path is not None else "model"
        content, beside, note = self._fitted().export(format, name, None)
        if path is not None:
            Path(path).write_bytes(content)
            if beside is not None:
                Path(path).with_suffix(beside[0]).write_bytes(beside[1])
        if note:
            log.info("%s", note)
        return bytes(content)

    @property
    def info_(self) -> dict[str, Any]:
        """The contents of the model's `model.json`: settings, data, metrics, scaling."""
        return json.loads(self._fitted().info)

    @property
    def best_epoch_(self) -> int:
        """Epoch of the model."""
        return self.info_["best_epoch"]

    @property
    def best_score_(self) -> Optional[float]:
        """Validation metric of the model."""
        return (self.info_.get("run") or {}).get("best_value")

    def _arguments(self) -> tuple:
        """Return the arguments as the native module takes them."""
        if not isinstance(self.model, str):
            raise ValueError(f"model {self.model!r}: expected a name, such as auto, linear, mlp or trees")
        settings, functions = [], {"objective": None, "metric": None}
        for row in SETTINGS:
            value = getattr(self, row[0])
            if value is None:
                continue
            if callable(value) and row[0] in functions:
                wrap = _objective if row[0] == "objective" else _metric
                functions[row[0]] = (getattr(value, "__name__", "custom"), wrap(value))
                continue
            settings.append((row[0], _text(row[0], value)))
        limits = _Limits(self)
        return self.model, settings, limits, functions["objective"], functions["metric"]

    def _eval_data(self, eval_set: Any, eval_qid: Any):
        if eval_set is None:
            if eval_qid is not None:
                raise ValueError("eval_qid: needs eval_set")
            return None
        # Other libraries take a list of sets.
        if isinstance(eval_set, list):
            if len(eval_set) != 1:
                raise ValueError(f"eval_set: expected one pair of X and y, got {len(eval_set)}")
            eval_set = eval_set[0]
            if isinstance(eval_qid, (list, tuple)) and len(eval_qid) == 1:
                eval_qid = eval_qid[0]
        if not isinstance(eval_set, tuple) or len(eval_set) != 2:
            raise ValueError("eval_set: expected a pair of X and y")
        return dataset(*eval_set, eval_qid, self.qid_column)[0]

    def _set_features(self, features: int, names: Optional[list[str]]) -> None:
        self.n_features_in_ = features
        if names:
            self.feature_names_in_ = np.array(names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _restore(self, model: _native.Model) -> None:
        self._model = model
        info = json.loads(model.info)
        self.history_, self.selection_ = [], None
        self._set_features(model.n_features, info.get("feature_names"))
        importance = model.importance()
        if importance is not None:
            self.importance_type_, values = importance
            self.feature_importances_ = np.abs(np.array(values))

    def _fitted(self) -> _native.Model:
        if not hasattr(self, "_model"):
            text = "instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
            raise NotFittedError(f"This {type(self).__name__} {text}")
        return self._model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__().copy()
        model = state.pop("_model", None)
        if model is not None:
            with tempfile.TemporaryDirectory() as folder:
                model.save(os.path.join(folder, "model"), False)
                files = Path(folder, "model").iterdir()
                state["_files"] = {file.name: file.read_bytes() for file in files if file.name != "training.jsonl"}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        files = state.pop("_files", None)
        if BaseEstimator is not None:
            super().__setstate__(state)
        else:
            self.__dict__.update(state)
        if files is not None:
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder, "model")
                place.mkdir()
                for name, content in files.items():
                    (place / name).write_bytes(content)
                self._model = _native.Model.load(str(place), self.device)


def _signature() -> inspect.Signature:
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature([own, *(inspect.Parameter(name, keyword, default=value) for name, value in PARAMETERS.items())])


def _parameters_help() -> str:
    model = "Model: auto, linear, mlp, trees, or a baseline of the papers [default: auto]"
    lines = [("model", model)]
    lines += [(row[0], f"{row[3]} [default: {row[5]}]") for row in SETTINGS]
    lines += [(name, f"{text} [default: {default}]") for name, (default, text) in OTHERS.items()]
    return "\n".join(f"    {name} : {text}" for name, text in lines)


BurnRanker.__init__.__signature__ = _signature()
BurnRanker.__doc__ += f"\n    Parameters\n    ----------\n{_parameters_help()}\n"


class _Limits:
    """Arguments that are not settings, with checked types."""

    def __init__(self, ranker: BurnRanker):
        self.ensemble = _whole("ensemble", ranker.ensemble)
        self.trials = None if ranker.trials is None else _whole("trials", ranker.trials)
        self.seconds = None if ranker.seconds is None else float(_text("seconds", ranker.seconds))
        self.device = str(ranker.device)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ValueError(f"{name} {value!r}: expected a whole number")
    return int(value)


def _text(name: str, value: Any) -> str:
    """Return the value of a setting as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return ",".join(_text(name, item) for item in value)
    if isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} {value!r}: expected a number or text")
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value)).replace("nan", "NaN")
    raise ValueError(f"{name} {value!r}: expected a number or text")


def _blocks(rows: int, size: int = 1024) -> list[int]:
    """Divide rows into blocks, which are scored together."""
    return [size] * (rows // size) + ([rows % size] if rows % size else [])


def _objective(function: Callable) -> Callable:
    """Convert arrays of an objective from and to bytes."""

    def call(scores: bytes, labels: bytes):
        s, y = np.frombuffer(scores, np.float32), np.frombuffer(labels, np.float32)
        result = function(s, y, np.array([0, len(s)]))
        if not isinstance(result, tuple) or len(result) not in (2, 3):
            raise ValueError("an objective returns a tuple of gradient and hessian, and optionally the loss")
        gradient, hessian = result[0], np.ones(len(s)) if result[1] is None else result[1]
        loss = float(result[2]) if len(result) == 3 else 0.0
        return np.asarray(gradient, np.float32).tobytes(), np.asarray(hessian, np.float32).tobytes(), loss

    return call


def _metric(function: Callable) -> Callable:
    """Evaluate a metric on one ranked list."""

    def call(labels: bytes) -> float:
        y = np.frombuffer(labels, np.float32)
        scores = np.arange(len(y), 0, -1, np.float32)
        return float(np.asarray(function(scores, y, np.array([0, len(y)]))).reshape(-1)[0])

    return call


class _Observer:
    """Passes epochs to callbacks, the log and a progress bar."""

    def __init__(self, progress: bool, callbacks: list[Callable]):
        self.bar, self.progress, self.callbacks = None, progress, list(callbacks)
        for callback in self.callbacks:
            if not callable(callback):
                raise ValueError(f"callbacks: {callback!r} is not a function")

    def __enter__(self) -> _Observer:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.bar is not None:
            self.bar.close()

    def __call__(self, kind: str, report: str) -> bool:
        event = json.loads(report)
        if kind == "selection":
            self._advance("selecting a model", event["runs"], event["of"], "run")
            return False
        epochs = [Epoch.of(record) for record in event["epochs"]]
        if epochs:
            self._advance("training", epochs[-1].epoch, event["of"], "epoch")
        stops = False
        for epoch in epochs:
            log.debug("epoch %d: loss %.6g, train %.6f, valid %.6f", epoch.epoch, epoch.loss, epoch.train, epoch.valid)
            for callback in self.callbacks:
                stops = bool(callback(epoch)) or stops
        return stops

    def _advance(self, what: str, done: int, total: int, unit: str) -> None:
        if self.bar is None and self.progress:
            try:
                from tqdm import tqdm
            except ImportError:
                self.progress = False
                return
            self.bar = tqdm(desc=what, total=total, unit=unit, disable=None, leave=False)
        if self.bar is not None:
            self.bar.total = total
            self.bar.update(done - self.bar.n)
