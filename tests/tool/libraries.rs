//! Trees of LightGBM and XGBoost against the libraries themselves. BURNRANK_PYTHON names a Python that has numpy, pandas,
//! lightgbm and xgboost; without it, these tests are skipped.

use super::support::{Place, python};
use burnrank::model::Forest;
use std::path::Path;

/// Trains small models and saves each with its library's raw scores of documents with missing values, and with categories that are
/// unknown, negative or not integers.
///
/// Columns: three numbers, 40 categories, 4 categories, and a number that is mostly 0.
const TRAIN: &str = "
import lightgbm, numpy, xgboost
random = numpy.random.default_rng(1)
def documents(count):
    x = random.normal(size=(count, 6)).astype(numpy.float32)
    x[:, 3], x[:, 4] = random.integers(0, 40, count), random.integers(0, 4, count)
    x[random.random(count) < 0.7, 5] = 0
    return x
def missing(x, share):
    x = x.copy()
    x[random.random(x.shape) < share] = numpy.nan
    return x
full, rows = documents(2000), documents(10000)
rows[:60, 3], rows[:60, 4] = numpy.arange(60), 7
odd = numpy.float32([-1, -0.5, -0.0, 0.5, 1.5, 2.9999, 39.5, 40, 63, 64, 1e6, -3, -1e6])
rows[100:2100, 3], rows[100:2100, 4] = random.choice(odd, 2000), random.choice(odd, 2000)
rows[2000:, :] = missing(rows[2000:, :], 0.3)
rows.tofile('rows')
labels = numpy.clip((full[:, 0] + full[:, 3] % 3 + full[:, 5] + (full[:, 4] == 2)).round(), 0, 4)
names = []
def save(name, end, model, scores):
    model.save_model(name + end)
    scores.astype(numpy.float64).tofile(name + end + '.scores')
    names.append(name + end)

common = dict(objective='lambdarank', verbosity=-1, num_threads=1, min_data_in_leaf=5, min_data_per_group=5, cat_smooth=1)
FOREST = {'boosting': 'rf', 'bagging_freq': 1, 'bagging_fraction': 0.6}
for name, data, own in [('none', full, {}), ('nan', missing(full, 0.2), {}), ('zero', missing(full, 0.2), {'zero_as_missing': True}),
                        ('unused', missing(full, 0.2), {'use_missing': False}), ('forest', missing(full, 0.2), FOREST)]:
    for kind, categories in [('numbers', []), ('categories', [3, 4])]:
        data_set = lightgbm.Dataset(data, labels, group=[20] * 100, categorical_feature=categories)
        model = lightgbm.train({**common, **own}, data_set, 15)
        save(f'lightgbm-{name}-{kind}', '.txt', model, model.predict(rows))

def matrix(x, types, **other):
    return xgboost.DMatrix(x, feature_types=types, enable_categorical=True, **other)
for name, data, zero in [('none', full, numpy.nan), ('nan', missing(full, 0.2), numpy.nan), ('zero', full, 0.0)]:
    for kind, types in [('numbers', None), ('categories', ['q', 'q', 'q', 'c', 'c', 'q'])]:
        for booster in ['gbtree', 'dart']:
            data_set = matrix(data, types, label=labels, qid=numpy.arange(2000) // 20, missing=zero)
            settings = dict(objective='rank:ndcg', nthread=1, booster=booster, max_cat_to_onehot=5)
            if booster == 'dart':
                settings['rate_drop'] = 0.2
            model = xgboost.train(settings, data_set, 10)
            save(f'xgboost-{name}-{kind}-{booster}', '.json', model, model.predict(matrix(rows, types), output_margin=True))

odd = numpy.arange(2000) % 40 < 20
for booster in ['gbtree', 'dart']:
    ranker = xgboost.XGBRanker(n_estimators=40, max_depth=6, learning_rate=1.0, early_stopping_rounds=8, n_jobs=1, num_parallel_tree=2,
                               subsample=0.7, booster=booster)
    qid = numpy.arange(1000) // 20
    ranker.fit(full[odd], labels[odd], qid=qid, eval_set=[(full[~odd], labels[~odd])], eval_qid=[qid], verbose=False)
    assert ranker.best_iteration + 1 < ranker.get_booster().num_boosted_rounds()
    save(f'xgboost-best-{booster}', '.json', ranker, ranker.predict(rows))
print(*names)
";

fn numbers<const N: usize, T>(path: &Path, of: impl Fn([u8; N]) -> T) -> Vec<T> {
    std::fs::read(path).unwrap().chunks(N).map(|bytes| of(bytes.try_into().unwrap())).collect()
}

#[test]
fn every_kind_of_split_scores_as_in_its_library() {
    let folder = tempfile::tempdir().unwrap();
    let Some(names) = python(TRAIN, &["numpy", "lightgbm", "xgboost"], folder.path()) else { return };
    let rows = numbers(&folder.path().join("rows"), f32::from_le_bytes);
    assert_eq!(rows.len(), 10_000 * 6);
    let names: Vec<&str> = names.split_whitespace().collect();
    assert_eq!(names.len(), 10 + 12 + 2);
    for name in names {
        let forest = Forest::read(&folder.path().join(name)).unwrap();
        let expected = numbers(&folder.path().join(format!("{name}.scores")), f64::from_le_bytes);
        // The model folder contains the text.
        for forest in [Forest::parse(&forest.to_text()).unwrap(), forest] {
            let mut scores = vec![0.0; 10_000];
            forest.score_rows(&rows, 6, &mut scores).unwrap();
            let by_row = |row: &[f32]| forest.trees().iter().map(|tree| tree.value(row)).sum::<f64>();
            let far = scores.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            println!(
                "{name}: largest difference {far:e}; missing and 0 differ for columns {:?}",
                forest.missing_features()
            );
            assert_eq!(scores, expected, "{name}: {far:e}");
            let count = if forest.is_average() { forest.n_trees() as f64 } else { 1.0 };
            for (row, score) in rows.chunks(6).zip(&scores).take(3000) {
                assert!((by_row(row) / count - score).abs() < 1e-5, "{name}: {row:?}");
            }
        }
    }
}

/// Trains models on pandas tables, whose categories have names.
const TABLES: &str = "
import lightgbm, numpy, pandas, xgboost
random = numpy.random.default_rng(1)
table = pandas.DataFrame({'size': random.normal(size=400), 'colour': pandas.Categorical(random.choice(['blue', 'green', 'red'], 400)),
                          'year': pandas.Categorical(random.choice([1999, 2005, 2010], 400))})
labels = (table.colour == 'red') * 1 + (table.year.astype(int) > 2000)
common = dict(objective='lambdarank', verbosity=-1, num_threads=1, min_data_in_leaf=5, min_data_per_group=5)
model = lightgbm.train(common, lightgbm.Dataset(table, labels, group=[10] * 40), 5)
model.save_model('m.txt')
ranker = xgboost.XGBRanker(n_estimators=5, enable_categorical=True, n_jobs=1)
ranker.fit(table, labels, qid=numpy.arange(400) // 10)
ranker.save_model('m.json')
codes = pandas.DataFrame({'size': table['size'], 'colour': table.colour.cat.codes, 'year': table.year.cat.codes}).to_numpy()
with open('data.txt', 'w') as file:
    for row, label, number in zip(codes, labels, range(400)):
        print(label, f'qid:{number // 10}', *(f'{i + 1}:{v!r}' for i, v in enumerate(row.astype(numpy.float32).tolist())), file=file)
for name, scores in [('m.txt', model.predict(table)), ('m.json', ranker.predict(table))]:
    numpy.savetxt(name + '.scores', scores)
";

#[test]
fn categories_are_numbers_in_the_data() {
    let place = Place::new(&[]);
    if python(TABLES, &["numpy", "pandas", "lightgbm", "xgboost"], place.path()).is_none() {
        return;
    }
    for name in ["m.txt", "m.json"] {
        let ran = place.run(&format!("convert {name} --to model --out model-{name}"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let expected = "features colour, year: categories must be numbers in the data, counted from 0";
        assert!(ran.err.contains(expected) && ran.err.contains("0 for \"blue\""), "{ran:?}");
        let ran = place.run(&format!("predict --model model-{name} --data data.txt"));
        assert!(ran.code == Some(0) && ran.err.contains("0 for \"blue\""), "{ran:?}");
        let expected = place.read(&format!("{name}.scores"));
        let scores = ran.out.lines().zip(expected.lines()).map(|(a, b)| [a, b].map(|x| x.parse::<f64>().unwrap()));
        assert_eq!(scores.clone().count(), 400);
        scores
            .for_each(|[found, expected]| assert!((found - expected).abs() < 1e-5, "{name}: {found}, not {expected}"));
    }
}
