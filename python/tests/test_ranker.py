"""The estimator."""

import inspect
import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import burnrank
from burnrank import BurnRanker, _native
from conftest import make


def small(**params):
    return BurnRanker(**{"model": "linear", "epochs": 4, "progress": False, **params})


def test_arguments_come_from_the_table_of_settings():
    arguments = list(inspect.signature(BurnRanker.__init__).parameters)
    settings = [row[0] for row in _native.settings()]
    assert len(settings) > 25 and set(settings) < set(arguments)
    assert {"lr", "batch_queries", "for_", "leaves"} <= set(settings)
    for row in _native.settings():
        assert row[3] in BurnRanker.__doc__, row[0]
    with pytest.raises(TypeError, match="leafs"):
        BurnRanker(leafs=3)


def test_stubs_have_all_settings():
    folder = os.path.dirname(burnrank.__file__)
    assert os.path.exists(os.path.join(folder, "py.typed"))
    stub = open(os.path.join(folder, "_ranker.pyi")).read()
    assert all(f"        {row[0]}: " in stub for row in _native.settings())


@pytest.mark.parametrize("model", ["linear", "mlp", "trees", "ranksvm:c=0.1", "adarank"])
def test_every_kind_of_model_learns(data, model):
    X, y, qid = data
    ranker = BurnRanker(model=model, progress=False).fit(X, y, qid=qid)
    random = burnrank.evaluate(y, np.zeros(len(y)), qid, "ndcg@10")["ndcg@10"].mean
    assert ranker.score(X, y, qid) > random + 0.1
    # The scaling of some baselines depends on the query.
    scores = ranker.predict(X, qid)
    assert scores.dtype == np.float32 and scores.shape == (len(X),)
    assert ranker.feature_importances_.shape == (6,)
    if model != "adarank":
        assert ranker.feature_importances_.argmax() == 0
    assert ranker.n_features_in_ == 6 and not hasattr(ranker, "feature_names_in_")


def test_model_selection(data):
    X, y, qid = data
    ranker = BurnRanker(trials=4, progress=False).fit(X, y, qid=qid)
    assert ranker.selection_["runs"] == 4
    assert ranker.info_["metrics"] and ranker.score(X, y, qid) > 0.7


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"lr": -1}, "lr -1: expected a number above 0"),
        ({"lr": "fast"}, "lr fast: expected a number above 0"),
        ({"batch_queries": 0}, "batch_queries 0: expected a whole number of 1 or more"),
        ({"batch_queries": 1.5}, "batch_queries 1.5: expected"),
        ({"leaves": 3}, "`leaves` is for trees, not for linear: leave it out, or choose `model` trees"),
        ({"objective": "lamdarank:ndcg"}, "did you mean 'lambdarank:ndcg'?"),
        ({"model": "liner"}, "unknown model 'liner': did you mean 'linear'?"),
        ({"model": 3}, "model 3: expected a name"),
        ({"model": "auto", "lr": 0.1}, "`lr` is for nets, not for auto"),
        ({"model": "auto", "ensemble": 2, "epochs": None}, "`ensemble` is for nets and trees, not for auto"),
        ({"seconds": 3}, "`seconds` needs `model` auto"),
        ({"restart": 30, "patience": 20}, "restart 30: expected a value below `patience` 20"),
        ({"for_": "solr", "scale": "quantile"}, "with `for_` solr"),
        ({"lr": True}, "lr True: expected a number or text"),
        ({"ensemble": 0}, "ensemble 0"),
        ({"device": "gpu9"}, "device"),
    ],
)
def test_wrong_arguments_are_errors_with_the_text_of_the_tool(data, params, text):
    X, y, qid = data
    with pytest.raises(ValueError) as error:
        small(**params).fit(X, y, qid=qid)
    assert text in str(error.value), str(error.value)


def test_layouts_and_types_give_the_same_scores(data):
    X, y, qid = data
    expected = small().fit(X, y, qid=qid).predict(X)
    wide = np.zeros((len(X), 12), np.float32)
    wide[:, ::2] = X
    for same in [X.astype(np.float64), np.asfortranarray(X), wide[:, ::2], X.tolist(), X[::-1][::-1]]:
        assert (small().fit(same, y, qid=qid).predict(same) == expected).all()


def test_frames_give_the_same_scores(data):
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ["pandas", "polars", "pyarrow"])
    X, y, qid = data
    names = [f"feature{place}" for place in range(6)]
    expected = small().fit(X, y, qid=qid).predict(X)
    columns = dict(zip(names, X.T))
    frames = [pandas.DataFrame(X, columns=names), polars.DataFrame(columns), pyarrow.table(columns)]
    for frame in frames:
        ranker = small().fit(frame, y, qid=qid)
        assert list(ranker.feature_names_in_) == names
        assert (ranker.predict(frame) == expected).all()
        # Columns are matched by name.
        order = names[::-1]
        assert (ranker.predict(frame[order] if not hasattr(frame, "select") else frame.select(order)) == expected).all()
        assert (ranker.predict(X) == expected).all()
    # Chunks, nullable types and offsets.
    chunked = pyarrow.concat_tables([frames[2].slice(0, 100), frames[2].slice(100)])
    assert (small().fit(chunked, y, qid=qid).predict(frames[2].slice(17)) == expected[17:]).all()
    nullable = frames[0].astype("Float32")
    assert (small().fit(nullable, y, qid=qid).predict(nullable) == expected).all()
    mixed = frames[0].assign(feature5=frames[0]["feature5"].astype("float64"))
    assert (small().fit(mixed, y, qid=qid).predict(mixed) == expected).all()
    with pytest.raises(ValueError, match="feature0"):
        ranker.predict(frames[1].rename({"feature0": "other"}))
    with pytest.raises(ValueError, match="column 'feature0'"):
        small().fit(frames[0].assign(feature0="text"), y, qid=qid)
    with pytest.raises(ValueError, match="column 'feature0' is not numeric"):
        small().fit(frames[1].with_columns(feature0=polars.lit("text")), y, qid=qid)


def test_sparse_matrices(data):
    sparse = pytest.importorskip("scipy.sparse")
    X, y, qid = data
    X = np.where(np.abs(X) > 0.5, X, 0)
    expected = small().fit(X, y, qid=qid).predict(X)
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array):
        ranker = small().fit(kind(X), y, qid=qid)
        assert (ranker.predict(kind(X)) == expected).all()


def test_a_column_of_query_ids(data):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y, qid = data
    expected = small().fit(X, y, qid=qid).predict(X)
    frame = pandas.DataFrame(X, columns=list("abcdef")).assign(qid=qid)
    for table in (frame, polars.from_pandas(frame)):
        ranker = small().fit(table, y)
        assert list(ranker.feature_names_in_) == list("abcdef")
        assert (ranker.predict(table) == expected).all()
        assert ranker.score(table, y) == ranker.score(X, y, qid)
    table = np.column_stack([qid, X])
    ranker = small(qid_column=0).fit(table, y)
    assert (ranker.predict(table) == expected).all() and ranker.n_features_in_ == 6


def test_scaling_within_queries_needs_the_queries(data):
    X, y, qid = data
    ranker = small(scale="query-minmax").fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="pass the query of each document"):
        ranker.predict(X)
    assert ranker.predict(X[:24], qid[:24]).shape == (24,)
    assert (ranker.predict(X, qid)[:24] == ranker.predict(X[:24], qid[:24])).all()


def test_eval_set_and_callbacks(data):
    X, y, qid = data
    valid = make(seed=2)
    epochs = []
    ranker = small(epochs=9).fit(X, y, qid=qid, eval_set=valid[:2], eval_qid=valid[2], callbacks=[epochs.append])
    assert [epoch.epoch for epoch in epochs] == list(range(1, 10)) == [epoch.epoch for epoch in ranker.history_]
    best = burnrank.evaluate(valid[1], ranker.predict(valid[0]), valid[2], "ndcg@10")["ndcg@10"].mean
    assert abs(best - ranker.best_score_) < 1e-12 and ranker.best_score_ == max(epoch.valid for epoch in epochs)
    same = small(epochs=9).fit(X, y, qid=qid, eval_set=[valid[:2]], eval_qid=[valid[2]])
    assert (same.predict(X) == ranker.predict(X)).all()
    ranker = small(epochs=9).fit(X, y, qid=qid, callbacks=[lambda epoch: epoch.epoch == 3])
    assert len(ranker.history_) == 3 and ranker.info_["run"]["finish"] == "stopped"
    with pytest.raises(ZeroDivisionError):
        small().fit(X, y, qid=qid, callbacks=[lambda epoch: 1 / 0])


def test_the_log(data, caplog):
    X, y, qid = data
    with caplog.at_level(logging.DEBUG, "burnrank"):
        small().fit(X, y, qid=qid)
    assert sum("epoch" in record.message for record in caplog.records if record.levelno == logging.DEBUG) == 4


def test_save_load_and_pickle(data, tmp_path):
    X, y, qid = data
    for model in ("linear", "mlp", "trees", "smoothrank"):
        ranker = small(model=model).fit(X, y, qid=qid)
        folder = tmp_path / model.split(":")[0]
        ranker.save(folder)
        with pytest.raises(FileExistsError):
            ranker.save(folder)
        ranker.save(folder, force=True)
        loaded, copied = BurnRanker.load(folder), pickle.loads(pickle.dumps(ranker))
        for other in (loaded, copied):
            assert (other.predict(X, qid) == ranker.predict(X, qid)).all() and other.n_features_in_ == 6
        assert (copied.feature_importances_ == ranker.feature_importances_).all()
        assert copied.history_ == ranker.history_ and copied.get_params() == ranker.get_params()
    with pytest.raises(ValueError, match="not a model folder"):
        BurnRanker.load(tmp_path / "missing")


def test_export(data, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y, qid = data
    ranker = small(model="mlp").fit(X, y, qid=qid)
    content = ranker.to_onnx(tmp_path / "model.onnx")
    assert content == (tmp_path / "model.onnx").read_bytes()
    session = onnxruntime.InferenceSession(content)
    scores = session.run(None, {session.get_inputs()[0].name: X})[0].ravel()
    assert np.allclose(scores, ranker.predict(X), atol=1e-5)
    assert json.loads(ranker.export("json"))
    with pytest.raises(ValueError, match="unknown"):
        ranker.export("onyx")


def test_a_custom_objective(data):
    X, y, qid = data

    def squared(scores, labels, offsets):
        assert offsets.tolist() == [0, len(scores)]
        return scores - labels, None, float(np.sum((scores - labels) ** 2) / 2)

    for model in ("linear", "trees"):
        own = small(model=model, objective=squared, scale="none").fit(X, y, qid=qid)
        built_in = small(model=model, objective="squared-error", scale="none").fit(X, y, qid=qid)
        assert own.info_["objective"] == "custom:squared"
        # One query of n documents has the gradient of the mean over documents in the built-in objective.
        assert np.corrcoef(own.predict(X), built_in.predict(X))[0, 1] > 0.95

    for wrong, text in [
        (lambda s, y, o: s, "returns a tuple"),
        (lambda s, y, o: (s[1:], None), "numbers of the gradient"),
        (lambda s, y, o: (s * np.nan, None), "NaN in the gradient"),
        (lambda s, y, o: 1 / 0, "division"),
    ]:
        with pytest.raises((ValueError, RuntimeError, ZeroDivisionError), match=text):
            small(objective=wrong).fit(X, y, qid=qid)


def test_a_custom_metric(data):
    X, y, qid = data

    def best_label(scores, labels, offsets):
        return [labels[a:b][np.argmax(scores[a:b])] for a, b in zip(offsets, offsets[1:])]

    ranker = small(metric=best_label).fit(X, y, qid=qid)
    scores = ranker.predict(X)
    expected = np.mean([y[qid == query][np.argmax(scores[qid == query])] for query in np.unique(qid)])
    assert abs(ranker.score(X, y, qid) - expected) < 1e-9
    assert ranker.best_score_ == max(epoch.valid for epoch in ranker.history_) > 1
    with pytest.raises(ValueError, match="function as `metric`"):
        small(model="auto", epochs=None, metric=best_label).fit(X, y, qid=qid)


def test_a_command_is_the_tool(files, tmp_path):
    run = lambda *words: subprocess.run([sys.executable, "-m", "burnrank", *words], capture_output=True, text=True)
    assert run("--version").stdout.startswith("burnrank ")
    assert "trees" in run("train", "--help").stdout and "serve" in run("--help").stdout
    result = run("train", "--train", str(files), "--model", "linear", "--epochs", "3", "--out", str(tmp_path / "model"))
    assert result.returncode == 0, result.stderr
    assert BurnRanker.load(tmp_path / "model").n_features_in_ == 6
    assert run("train", "--lr", "x").returncode == 2
    assert run("evaluate", "--data", "missing", "--scores", "missing").returncode == 1


def test_interrupts_stop_training():
    X, y, qid = make(400, 50, 20)
    started = threading.Event()

    def interrupt():
        started.wait()
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        small(model="mlp", epochs=1_000_000, patience=0).fit(X, y, qid=qid, callbacks=[lambda epoch: started.set()])
    thread.join()
    assert time.monotonic() - began < 10


def test_other_threads_run_meanwhile(data):
    X, y, qid = make(200, 50, 20)
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    small(model="mlp", epochs=60, patience=0).fit(X, y, qid=qid)
    ended = time.monotonic()
    done.set()
    thread.join()
    during = [tick for tick in ticks if began < tick < ended]
    assert len(during) > 10 * (ended - began)


def test_letor_files(data, files):
    X, y, qid = data
    letor = burnrank.read_letor(files)
    same_X, same_y, same_qid = letor
    assert (same_X == X).all() and (same_y == y).all() and (same_qid == qid).all()
    with pytest.raises(FileNotFoundError, match="missing.txt: cannot read"):
        burnrank.read_letor("missing.txt")


def test_missing_values(data):
    X, y, qid = data
    holes = X.copy()
    holes[::7, 0] = np.nan
    for model in ("linear", "mlp", "trees"):
        ranker = small(model=model).fit(holes, y, qid=qid)
        assert np.isfinite(ranker.predict(holes)).all() and ranker.feature_importances_.shape == (6,)
        assert ranker.n_features_in_ == pickle.loads(pickle.dumps(ranker)).n_features_in_ == 6
    complete = small().fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="missing"):
        complete.predict(holes)
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({str(place): pyarrow.array(column, from_pandas=True) for place, column in enumerate(holes.T)})
    ranker = small().fit(holes, y, qid=qid)
    assert (small().fit(table, y, qid=qid).predict(table) == ranker.predict(holes)).all()


def test_categorical_features(data):
    X, y, qid = data
    levels = np.floor(np.abs(X[:, :1]) * 2)
    X = np.hstack([X, levels])
    for model in ("linear", "trees"):
        ranker = small(model=model, categorical=[7]).fit(X, y, qid=qid)
        assert ranker.feature_importances_.shape == (7,) and ranker.n_features_in_ == 7
        assert ranker.info_["settings"]["categorical"] == ["7"]


def test_weights_are_refused(data):
    X, y, qid = data
    with pytest.raises(ValueError, match="sample_weight"):
        small().fit(X, y, qid=qid, sample_weight=np.ones(len(y)))
