"""Conventions of scikit-learn."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from burnrank import BurnRanker
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

#: Checks of check_estimator that do not apply, with the reason.
SKIPPED = {
    "check_all_zero_sample_weights_error": "weights of documents are refused",
    "check_sample_weight_equivalence_on_dense_data": "weights of documents are refused",
    "check_sample_weight_equivalence_on_sparse_data": "weights of documents are refused",
    "check_sample_weights_list": "weights of documents are refused",
    "check_sample_weights_not_an_array": "weights of documents are refused",
    "check_sample_weights_not_overwritten": "weights of documents are refused",
    "check_sample_weights_pandas_series": "weights of documents are refused",
    "check_sample_weights_shape": "weights of documents are refused",
    "check_fit2d_1sample": "one query is too few to hold some out: the error says so in other words",
    "check_array_api_input": "scikit-learn skips it unless SCIPY_ARRAY_API is set",
}


def query_ids(rows):
    """Return queries of five documents, or of one if there are few."""
    return np.arange(rows) // (5 if rows >= 25 else 1)


class WithQueries(BurnRanker):
    """Divides the documents into queries, because the checks pass no query ids."""

    def fit(self, X, y, sample_weight=None):
        rows = np.shape(X)[0] if np.ndim(y) else 0
        return super().fit(X, y, qid=query_ids(rows), sample_weight=sample_weight)

    def score(self, X, y, sample_weight=None):
        return super().score(X, y, query_ids(np.shape(X)[0]), sample_weight)


def test_check_estimator():
    ranker = WithQueries(model="linear", objective="squared-error", epochs=3, progress=False, qid_column=None)
    results = check_estimator(ranker, on_fail=None, expected_failed_checks=SKIPPED)
    failed = {result["check_name"]: repr(result["exception"])[:300] for result in results if result["status"] == "failed"}
    assert not failed, failed
    passed = {result["check_name"] for result in results if result["status"] == "passed"}
    assert len(passed) >= 35, passed


def test_clone_and_parameters(data):
    ranker = BurnRanker(model="mlp", hidden="16,8", lr=0.02)
    same = clone(ranker)
    assert same.get_params() == ranker.get_params() and same is not ranker
    assert same.set_params(lr=0.1).lr == 0.1 and ranker.lr == 0.02
    with pytest.raises(ValueError, match="Invalid parameter"):
        same.set_params(leafs=3)
    assert "hidden='16,8'" in repr(ranker)
    assert BurnRanker(**ranker.get_params()).get_params() == ranker.get_params()


def test_cross_validation_by_query(data):
    pandas = pytest.importorskip("pandas")
    X, y, qid = data
    frame = pandas.DataFrame(X, columns=list("abcdef")).assign(qid=qid)
    ranker = BurnRanker(model="linear", epochs=5, progress=False)
    scores = cross_val_score(ranker, frame, y, groups=qid, cv=GroupKFold(4))
    assert scores.shape == (4,) and (scores > 0.6).all()
    array = cross_val_score(clone(ranker).set_params(qid_column=0), np.column_stack([qid, X]), y, groups=qid, cv=GroupKFold(4))
    assert (array == scores).all()


def test_a_grid_search_with_two_processes(data):
    pandas = pytest.importorskip("pandas")
    X, y, qid = data
    frame = pandas.DataFrame(X, columns=list("abcdef")).assign(qid=qid)
    grid = {"lr": [0.0001, 0.05], "objective": ["ranknet", "lambdarank:ndcg"]}
    ranker = BurnRanker(model="linear", epochs=5, progress=False)
    search = GridSearchCV(ranker, grid, cv=GroupKFold(3), n_jobs=2).fit(frame, y, groups=qid)
    assert search.best_params_["lr"] == 0.05
    assert search.best_estimator_.predict(frame).shape == (len(y),)
    one = GridSearchCV(ranker, grid, cv=GroupKFold(3)).fit(frame, y, groups=qid)
    assert (one.cv_results_["mean_test_score"] == search.cv_results_["mean_test_score"]).all()


def test_metadata_routing(data):
    import sklearn

    X, y, qid = data
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = BurnRanker(model="linear", epochs=5, progress=False).set_fit_request(qid=True).set_score_request(qid=True)
        scores = cross_val_score(make_pipeline(StandardScaler(), ranker), X, y, params={"qid": qid, "groups": qid}, cv=GroupKFold(3))
    assert (scores > 0.6).all()
