"""Other libraries and processes."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from burnrank import BurnRanker
from conftest import make


def fit(seed):
    X, y, qid = make(seed=seed)
    return BurnRanker(model="mlp", epochs=3, progress=False).fit(X, y, qid=qid).predict(X).sum()


def test_two_processes_of_joblib():
    joblib = pytest.importorskip("joblib")
    own = [fit(seed) for seed in (1, 2)]
    assert joblib.Parallel(n_jobs=2)(joblib.delayed(fit)(seed) for seed in (1, 2)) == own


def test_a_new_process_after_use():
    """A process that was forked after use raises a clear error; a spawned one works."""
    code = """
        import multiprocessing, os, sys
        import numpy as np
        from burnrank import BurnRanker

        X = np.arange(80, dtype=np.float32).reshape(40, 2) % 7
        y, qid = X[:, 0], np.arange(40) // 4

        def fit(_=None):
            return BurnRanker(model="linear", epochs=2, progress=False).fit(X, y, qid=qid).predict(X)

        if __name__ == "__main__":
            first = fit()
            child = os.fork()
            if child == 0:
                try:
                    fit()
                except RuntimeError as error:
                    os._exit(3 if "was forked" in str(error) else 4)
                os._exit(5)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                assert all((scores == first).all() for scores in pool.map(fit, range(2)))
            assert (fit() == first).all()
            print("done")
    """
    path = "spawned.py"
    result = run(code, path)
    assert result.stdout.strip() == "done", result.stderr


def test_a_process_that_was_forked_before_use():
    code = """
        import os
        import numpy as np
        import burnrank

        child = os.fork()
        X = np.arange(80, dtype=np.float32).reshape(40, 2) % 7
        burnrank.BurnRanker(model="trees", trees=3, min_data=2, progress=False).fit(X, X[:, 0], qid=np.arange(40) // 4)
        if child == 0:
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        print("done")
    """
    assert run(code, "forked.py").stdout.strip() == "done"


def run(code, name):
    import tempfile, os

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(textwrap.dedent(code))
        return subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300)


def test_lightgbm_and_scikit_learn_in_the_same_process(data):
    lightgbm = pytest.importorskip("lightgbm")
    ensemble = pytest.importorskip("sklearn.ensemble")
    X, y, qid = data
    sizes = np.full(40, 12)
    results = []
    for _ in range(5):
        own = BurnRanker(model="trees", trees=10, progress=False).fit(X, y, qid=qid).predict(X)
        theirs = lightgbm.LGBMRanker(n_estimators=10, verbose=-1, deterministic=True).fit(X, y, group=sizes).predict(X)
        forest = ensemble.HistGradientBoostingRegressor(max_iter=5, random_state=1).fit(X, y).predict(X)
        net = BurnRanker(model="mlp", epochs=2, progress=False).fit(X, y, qid=qid).predict(X)
        results.append((own.tobytes(), theirs.tobytes(), forest.tobytes(), net.tobytes()))
    assert len(set(results)) == 1


def test_global_settings_of_threads_are_kept(data):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    X, y, qid = data
    before = [(pool["internal_api"], pool["num_threads"]) for pool in threadpoolctl.threadpool_info()]
    BurnRanker(model="trees", trees=3, progress=False).fit(X, y, qid=qid)
    BurnRanker(model="mlp", epochs=2, progress=False).fit(X, y, qid=qid)
    after = [(pool["internal_api"], pool["num_threads"]) for pool in threadpoolctl.threadpool_info()]
    assert before == after
