"""Prints type stubs of BurnRanker, from the table of settings."""

from burnrank import _native
from burnrank._ranker import OTHERS

HEAD = '''import os
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from ._results import Epoch

class BurnRanker:
    importance_type_: str
    feature_importances_: np.ndarray
    feature_names_in_: np.ndarray
    n_features_in_: int
    history_: list[Epoch]
    selection_: Optional[dict[str, Any]]
    def __init__(
        self,
        *,
        model: str = "auto",
'''

TAIL = '''    ) -> None: ...
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
    ) -> BurnRanker: ...
    def predict(self, X: Any, qid: Any = None) -> np.ndarray: ...
    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float: ...
    def save(self, folder: Union[str, os.PathLike[str]], *, force: bool = False) -> None: ...
    @classmethod
    def load(cls, folder: Union[str, os.PathLike[str]], device: str = "auto") -> BurnRanker: ...
    def to_onnx(self, path: Union[str, os.PathLike[str], None] = None) -> bytes: ...
    def export(self, format: str, path: Union[str, os.PathLike[str], None] = None) -> bytes: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> BurnRanker: ...
    @property
    def info_(self) -> dict[str, Any]: ...
    @property
    def best_epoch_(self) -> int: ...
    @property
    def best_score_(self) -> Optional[float]: ...
'''


def kind(argument: str, type: str) -> str:
    if argument in ("objective", "metric"):
        return "Union[str, Callable[..., Any], None]"
    return "Union[str, int, Sequence[int], None]" if argument == "hidden" else f"Optional[{type}]"


def main() -> None:
    print(HEAD, end="")
    for argument, _, _, text, expected, default, type in _native.settings():
        print(f"        {argument}: {kind(argument, type)} = None,  # {text} [default: {default}]")
    for argument, (default, text) in OTHERS.items():
        print(f"        {argument}: Any = {default!r},  # {text}")
    print(TAIL, end="")


if __name__ == "__main__":
    main()
