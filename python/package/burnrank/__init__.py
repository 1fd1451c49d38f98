"""Learning to rank: neural nets and boosted trees, trained with RankNet, LambdaRank and LambdaLoss.

`BurnRanker` is a scikit-learn estimator. The functions `evaluate`, `compare`, `explain` and `certify` correspond to the commands of the
command-line tool, which is `python -m burnrank`.

>>> import numpy as np, burnrank
>>> random = np.random.default_rng(1)
>>> X = random.normal(size=(600, 4)).astype(np.float32)
>>> qid = np.repeat(np.arange(60), 10)
>>> y = (X[:, 0] + 0.3 * random.normal(size=600) > 0.8).astype(int)
>>> ranker = burnrank.BurnRanker(model="linear", epochs=20).fit(X, y, qid=qid)
>>> ranker.predict(X).shape
(600,)
>>> int(np.argmax(ranker.feature_importances_))
0
"""

from importlib import import_module

from ._native import __version__

# Imported on first use, so that the command-line tool starts without NumPy and scikit-learn.
_PLACES = {
    "BurnRanker": "_ranker",
    "Certificate": "_analysis",
    "Comparison": "_analysis",
    "Epoch": "_results",
    "Evaluation": "_analysis",
    "Explanation": "_analysis",
    "Letor": "_data",
    "certify": "_analysis",
    "compare": "_analysis",
    "evaluate": "_analysis",
    "explain": "_analysis",
    "read_letor": "_data",
    "set_memory_limit": "_native",
}

__all__ = ["__version__", *_PLACES]


def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module 'burnrank' has no attribute '{name}'")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
