"""scikit-learn on joblib's backend."""

import pytest

joblib, sklearn = pytest.importorskip("joblib"), pytest.importorskip("sklearn")


def test_grid_search():
    """A grid search on berth finds what it finds in one process, with all scores, also if its estimator is parallel itself."""
    import berth.joblib  # noqa: F401
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    x, y = load_iris(return_X_y=True)
    for estimator, grid in ((SVC(), {"C": [0.01, 1], "kernel": ["linear", "rbf"]}),
                            (RandomForestClassifier(random_state=0, n_jobs=2), {"n_estimators": [2, 5]})):
        alone = GridSearchCV(estimator, grid, cv=2, n_jobs=1).fit(x, y)
        with joblib.parallel_config("berth", n_jobs=2):
            search = GridSearchCV(estimator, grid, cv=2).fit(x, y)
        assert search.best_params_ == alone.best_params_
        assert list(search.cv_results_["mean_test_score"]) == list(alone.cv_results_["mean_test_score"])
        assert list(search.predict(x)) == list(alone.predict(x))


def test_error_of_a_fit():
    """What a fit raises comes out of the search."""
    import berth.joblib  # noqa: F401
    from sklearn.model_selection import cross_val_score
    from sklearn.svm import SVC

    with joblib.parallel_config("berth", n_jobs=2), pytest.raises(ValueError, match="C.*must be"):
        cross_val_score(SVC(C=-1.0), [[0.0], [1.0]] * 10, [0, 1] * 10, error_score="raise")
