# %% [markdown]
# # A ranker in a notebook
#
# Train models, compare them with LightGBM's `LGBMRanker` on the same folds, explain one, and export it. Needs `pip install burnrank
# lightgbm scikit-learn pandas matplotlib`. The cells run in Jupyter (with jupytext), VS Code, or as a script.

# %% Data: 200 queries of 20 documents; labels depend on three of ten features, one of them in a curve
import numpy as np
import pandas as pd
from lightgbm import LGBMRanker
from matplotlib import pyplot
from sklearn.model_selection import GroupKFold

import burnrank
from burnrank import BurnRanker

random = np.random.default_rng(1)
names = ["bm25", "clicks", "age"] + [f"noise{place}" for place in range(7)]
X = random.normal(size=(4000, 10)).astype(np.float32)
qid = np.repeat(np.arange(200), 20)
utility = 1.5 * X[:, 0] + 0.8 * X[:, 1] - 0.7 * X[:, 2] ** 2 + random.normal(size=4000)
y = np.digitize(utility, [0.5, 1.5, 2.5])
frame = pd.DataFrame(X, columns=names)

# %% The same folds for all models
models = {
    "linear net": BurnRanker(model="linear", progress=False),
    "net": BurnRanker(model="mlp", hidden=16, progress=False),
    "trees": BurnRanker(model="trees", trees=100, progress=False),
    "LGBMRanker": LGBMRanker(n_estimators=100, verbose=-1),
}
scores = {name: np.zeros(len(y)) for name in models}
for train, test in GroupKFold(5).split(X, y, qid):
    for name, model in models.items():
        if isinstance(model, BurnRanker):
            model.fit(frame.iloc[train], y[train], qid=qid[train])
        else:
            model.fit(frame.iloc[train], y[train], group=np.bincount(qid[train])[np.unique(qid[train])])
        scores[name][test] = model.predict(frame.iloc[test])

# %% Which is best, and are the differences significant?
comparison = burnrank.compare(y, scores, qid, "ndcg@10")
print(pd.DataFrame(comparison.rows)[["rank", "name", "mean", "letters"]])
comparison.to_pandas()

# %% Explain the net on documents of the last fold
explanation = burnrank.explain(models["net"], frame.iloc[test], y[test], qid[test])
table = explanation.to_pandas()
error = [table["decrease"] - table["low"], table["high"] - table["decrease"]]
pyplot.figure(figsize=(6, 3.5))
pyplot.barh(table["feature"][::-1], table["decrease"][::-1], xerr=[side[::-1] for side in error])
pyplot.xlabel("decrease of ndcg@10 when the feature is permuted")
pyplot.tight_layout()
pyplot.savefig("importance.svg")

# %% Partial dependence of the feature with a curve
age = next(row for row in explanation.dependences if row["name"] == "age")
pyplot.figure(figsize=(4, 3))
pyplot.plot(age["values"], age["scores"], marker="o")
pyplot.xlabel("age")
pyplot.ylabel("mean score")
pyplot.tight_layout()
pyplot.savefig("age.svg")

# %% Export
models["net"].to_onnx("model.onnx")
models["net"].save("model", force=True)
