"""Conversion of data to the native module, and reading of files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from . import _native


@dataclass(frozen=True)
class Letor:
    """The contents of a data file: `X, y, qid = burnrank.read_letor(path)`."""

    #: Features, one row per document.
    X: np.ndarray
    #: Labels.
    y: np.ndarray
    #: Query of each document.
    qid: np.ndarray
    #: Feature names, if the file has them.
    feature_names: Optional[list[str]] = None
    #: Document ids, if the file has them.
    document_ids: Optional[list[str]] = None

    def __iter__(self):
        return iter((self.X, self.y, self.qid))


def read_letor(path: str | os.PathLike, first_index: int = 1) -> Letor:
    """Read a data file: LETOR (SVMlight) text, plain or compressed, or a Parquet, CSV or cache file.

    `first_index` is the index of the first feature in LETOR files, 0 or 1. Query ids become integers if all of them are.
    """
    data = _native.Data.read(os.fspath(path), first_index)
    shape, features, labels, ids, sizes, names, documents = data.unpack()
    X = np.frombuffer(features, np.float32).reshape(shape)
    y = np.frombuffer(labels, np.float32)
    try:
        queries = np.array([int(i) for i in ids], np.int64)
        if [str(i) for i in queries.tolist()] != ids:
            raise ValueError
    except (ValueError, OverflowError):
        queries = np.array(ids, dtype=str)
    return Letor(X, y, np.repeat(queries, sizes), names, documents)


def is_frame(X: Any) -> bool:
    """Whether this is a table with named columns."""
    return (hasattr(X, "columns") or hasattr(X, "column_names")) and not isinstance(X, np.ndarray)


def column_names(X: Any) -> list:
    if hasattr(X, "column_names"):
        return list(X.column_names)
    return list(X.columns)


def split_qid(X: Any, qid: Any, column: Any) -> tuple[Any, Any]:
    """Return X without its column of query ids, and the query ids: `qid`, or that column."""
    if column is None:
        return X, qid
    if is_frame(X):
        if column not in column_names(X):
            return X, qid
        if hasattr(X, "drop_columns"):
            found, X = X.column(column).to_numpy(), X.drop_columns([column])
        elif hasattr(X, "get_column"):
            found, X = X.get_column(column).to_numpy(), X.drop(column)
        elif hasattr(X, "iloc"):
            found, X = X[column].to_numpy(), X.drop(columns=[column])
        else:
            raise ValueError(f"X: cannot take the column '{column}' out of {type(X).__name__}: pass qid")
        return X, found if qid is None else qid
    if isinstance(column, (int, np.integer)):
        X = np.asarray(X)
        if X.ndim != 2 or not -X.shape[1] <= column < X.shape[1]:
            raise ValueError(f"qid_column {column}: X has the shape {X.shape}")
        return np.delete(X, column, axis=1), X[:, column] if qid is None else qid
    return X, qid


def matrix(X: Any) -> tuple[_native.Matrix, Optional[list[str]]]:
    """Return a view of X, and its column names if they are text."""
    names = None
    if is_frame(X):
        names = column_names(X)
        names = names if names and all(isinstance(name, str) for name in names) else None
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        X = X.tocsr()
        data = X.data if X.data.dtype in (np.float32, np.float64) else _real(X.data)
        index = lambda values: values if values.dtype in (np.int32, np.int64) else values.astype(np.int64)
        result = _native.Matrix.sparse(index(X.indptr), index(X.indices), data, X.shape[1])
    elif hasattr(X, "iloc") and hasattr(X, "to_numpy"):
        result = _native.Matrix.dense(_frame(X))
    elif hasattr(X, "__arrow_c_stream__"):
        result = _native.Matrix.arrow(X)
        names = result.names if names is None else names
    else:
        result = _native.Matrix.dense(_array(X))
    rows, columns = result.shape
    if rows == 0:
        raise ValueError("X: Found array with 0 sample(s): at least one document is needed")
    if columns == 0:
        raise ValueError(f"X: Found array with 0 feature(s) (shape={result.shape}) while a minimum of 1 is required.")
    return result, names


def _frame(X: Any) -> np.ndarray:
    """Return the values of a pandas data frame, without a copy if its columns have the same type."""
    for name, kind in zip(X.columns, X.dtypes):
        if getattr(kind, "kind", "O") not in "fiub":
            raise ValueError(f"X: column '{name}' has the type {kind}, which is not numeric: convert or drop it")
    if all(isinstance(kind, np.dtype) for kind in X.dtypes):
        return _array(X.to_numpy())
    return X.to_numpy(dtype=np.float64, na_value=np.nan)


def _array(X: Any) -> np.ndarray:
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"X: Expected 2D array, got {array.ndim}D array instead: one row per document and one column per feature. "
            "Reshape your data either using array.reshape(-1, 1) or array.reshape(1, -1)"
        )
    return array if array.dtype in (np.float32, np.float64) and array.dtype.isnative else _real(array)


def _real(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "c":
        raise ValueError("X: Complex data not supported")
    if array.dtype.kind == "O" and any(isinstance(value, dict) for value in array.ravel()[:1000]):
        raise TypeError("X: argument must be a string or a number: convert features to numbers")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X: features must be numbers: {error}") from None


def labels(y: Any, rows: int) -> np.ndarray:
    """Return labels as the native module reads them."""
    if y is None:
        raise ValueError("y: requires y to be passed, but the target y is None: pass the labels of the documents")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        import warnings

        kind = Warning
        try:
            from sklearn.exceptions import DataConversionWarning as kind
        except ImportError:
            pass
        warnings.warn("A column-vector y was passed when a 1d array was expected.", kind, stacklevel=4)
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y: expected one label per document, got an array of shape {y.shape}")
    if len(y) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {rows} rows of X, {len(y)} labels")
    if y.dtype.kind == "c":
        raise ValueError("y: Complex data not supported")
    try:
        return np.ascontiguousarray(y, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y: labels must be numbers: {error}") from None


def vector(values: Any, rows: int, name: str) -> np.ndarray:
    """Return one number per document."""
    array = np.asarray(values)
    if array.shape != (rows,):
        raise ValueError(f"{name}: expected {rows} numbers, one per document, got an array of shape {array.shape}")
    try:
        return np.ascontiguousarray(array, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected numbers: {error}") from None


def queries(qid: Any, rows: int) -> tuple[list[str], list[int]]:
    """Return ids and sizes of the queries. Documents of a query must be adjacent."""
    if qid is None:
        raise ValueError("qid: pass the query of each document, or X with the column of `qid_column`")
    qid = np.asarray(qid)
    if qid.shape != (rows,):
        raise ValueError(f"qid: expected {rows} query ids, one per document, got an array of shape {qid.shape}")
    if qid.dtype.kind == "f":
        if not np.isfinite(qid).all():
            raise ValueError("qid: contains NaN or infinity")
        if (qid == np.floor(qid)).all() and np.abs(qid).max(initial=0) < 2**53:
            qid = qid.astype(np.int64)
    starts = np.concatenate([[0], np.flatnonzero(qid[1:] != qid[:-1]) + 1]) if rows else np.array([], int)
    ids = [str(i) for i in qid[starts].tolist()]
    if len(set(ids)) != len(ids):
        seen: set[str] = set()
        again = next(i for i in ids if i in seen or seen.add(i))
        raise ValueError(f"qid: the documents of query '{again}' are not adjacent: sort X, y and qid by qid")
    return ids, np.diff(np.append(starts, rows)).tolist()


def dataset(X: Any, y: Any, qid: Any, column: Any) -> tuple[_native.Data, Optional[list[str]], int]:
    """Copy labelled data to the native module. Returns it with feature names and number of features."""
    X, qid = split_qid(X, qid, column)
    view, names = matrix(X)
    rows, columns = view.shape
    y = labels(y, rows)
    ids, sizes = queries(qid, rows)
    return _native.Data(view, y, ids, sizes, names), names, columns
