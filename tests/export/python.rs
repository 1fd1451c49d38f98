//! onnx in ONNX Runtime, trees in LightGBM and XGBoost, and the record in numpy. BURNRANK_PYTHON names a Python that has
//! numpy and onnxruntime, and optionally the others; without it, these tests are skipped.

use super::engines;
use super::models::{self, Case};
use super::support::python;
use burnrank::export::{Format, Request};
use burnrank::model::Forest;
use std::path::Path;

fn write_documents(case: &Case, folder: &Path) {
    let bytes: Vec<u8> = case.data.features().iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(folder.join(format!("{}.features", case.name)), bytes).unwrap();
}

fn read_scores(case: &Case, folder: &Path) -> Vec<f64> {
    let bytes = std::fs::read(folder.join(format!("{}.scores", case.name))).unwrap();
    bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn onnx_runtime_scores_as_the_models_do() {
    let (folder, cases) = (tempfile::tempdir().unwrap(), models::all());
    let mut list = String::new();
    for case in &cases {
        let exported = case.export("onnx").unwrap();
        assert_eq!(exported.note.contains("one query at a time"), case.kind().is_per_query());
        std::fs::write(folder.path().join(format!("{}.onnx", case.name)), exported.bytes).unwrap();
        write_documents(case, folder.path());
        list +=
            &format!("{} {} {}\n", case.name, case.data.n_features(), case.data.n_documents() / case.data.n_queries());
    }
    std::fs::write(folder.path().join("list"), list).unwrap();
    let script = "
import numpy, onnxruntime
for line in open('list'):
    name, width, documents = line.split()
    session = onnxruntime.InferenceSession(name + '.onnx', providers=['CPUExecutionProvider'])
    assert [i.name for i in session.get_inputs()] == ['features'] and session.get_inputs()[0].shape == ['documents', int(width)]
    assert [o.name for o in session.get_outputs()] == ['scores'] and session.get_outputs()[0].shape == ['documents']
    features = numpy.fromfile(name + '.features', numpy.float32).reshape(-1, int(documents), int(width))
    scores = [session.run(['scores'], {'features': query})[0] for query in features]
    assert all(s.shape == (int(documents),) and s.dtype == numpy.float32 for s in scores)
    numpy.concatenate(scores).astype(numpy.float64).tofile(name + '.scores')
";
    if python(script, &["numpy", "onnxruntime"], folder.path()).is_some() {
        cases.iter().for_each(|case| case.check(&read_scores(case, folder.path()), "onnx"));
        println!("ONNX Runtime scored {} models", cases.len());
    }
}

#[test]
fn onnx_runtime_sends_missing_values_where_trees_do() {
    let folder = tempfile::tempdir().unwrap();
    let forest = Forest::parse(include_str!("../../src/model/trees/tests/sample.txt")).unwrap();
    let n = f32::NAN;
    let rows = [[0.5, n, n, 1.0], [n, n, n, n], [0.5000001, n, 0.0, 3.0], [1.0, 2.0, n, 40.0], [n, 0.0, 1.0, n]];
    let mut expected = vec![0.0; rows.len()];
    forest.score_rows(rows.as_flattened(), 4, &mut expected).unwrap();
    let model = forest.into_model("imported").unwrap();
    let exported = Format::of("onnx").unwrap().export(&Request::new(&model, "sample")).unwrap();
    std::fs::write(folder.path().join("sample.onnx"), exported.bytes).unwrap();
    let script = "
import numpy, onnxruntime
n = numpy.nan
rows = numpy.array([[0.5, n, n, 1], [n, n, n, n], [0.5000001, n, 0, 3], [1, 2, n, 40], [n, 0, 1, n]], numpy.float32)
session = onnxruntime.InferenceSession('sample.onnx', providers=['CPUExecutionProvider'])
print(*[repr(float(s)) for s in session.run(None, {'features': rows})[0]])
";
    if let Some(text) = python(script, &["numpy", "onnxruntime"], folder.path()) {
        let found: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert_eq!(found.len(), expected.len());
        found.iter().zip(&expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{found:?}, not {expected:?}"));
    }
}

#[test]
fn lightgbm_reads_the_text_and_scores_as_the_models_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut cases: Vec<Case> = models::trees().into_iter().filter(|case| !case.kind().is_per_query()).collect();
    cases.extend(models::imported());
    let mut list = String::new();
    for case in &mut cases {
        let own = case.name == "lightgbm-sample";
        let text = String::from_utf8(case.export("lightgbm").unwrap().bytes).unwrap();
        if own {
            assert_eq!(
                text,
                include_str!("../../src/model/trees/tests/sample.txt"),
                "the text stays what LightGBM wrote"
            );
        } else {
            case.model.info.feature_names = (0..case.data.n_features()).map(|i| format!("name{i}")).collect();
        }
        let text = String::from_utf8(case.export("lightgbm").unwrap().bytes).unwrap();
        assert!(text.contains(if own { "feature_names=bm25 clicks" } else { "feature_names=name0 name1 " }), "{text}");
        // burnrank reads the file, too.
        let mut scores = vec![0.0; case.data.n_documents()];
        Forest::parse(&text).unwrap().score_rows(case.data.features(), case.data.n_features(), &mut scores).unwrap();
        case.check(&scores, "lightgbm, read here");
        std::fs::write(folder.path().join(format!("{}.txt", case.name)), text).unwrap();
        write_documents(case, folder.path());
        list += &format!("{} {}\n", case.name, case.data.n_features());
    }
    std::fs::write(folder.path().join("list"), list).unwrap();
    let script = "
import lightgbm, numpy
for line in open('list'):
    name, width = line.split()
    booster = lightgbm.Booster(model_file=name + '.txt')
    assert booster.feature_name()[0] in ('name0', 'bm25')
    features = numpy.fromfile(name + '.features', numpy.float32).reshape(-1, int(width))
    booster.predict(features, raw_score=True).astype(numpy.float64).tofile(name + '.scores')
";
    if python(script, &["numpy", "lightgbm"], folder.path()).is_some() {
        cases.iter().for_each(|case| case.check(&read_scores(case, folder.path()), "lightgbm"));
        println!("LightGBM scored {} models", cases.len());
    }
}

/// From XGBoost through a model folder to Elasticsearch.
#[test]
fn a_model_of_xgboost_scores_in_elasticsearch_as_in_xgboost() {
    let folder = tempfile::tempdir().unwrap();
    let script = "
import numpy, xgboost
random = numpy.random.default_rng(1)
features = random.normal(size=(1000, 5)).astype(numpy.float32)
labels = (features[:, 0] + features[:, 1] ** 2 > 1).astype(int)
data = xgboost.DMatrix(features, label=labels, qid=numpy.arange(1000) // 20)
booster = xgboost.train({'objective': 'rank:ndcg', 'max_depth': 5, 'nthread': 1}, data, 20)
booster.save_model('model.json')
features.tofile('features')
booster.predict(data, output_margin=True).astype(numpy.float64).tofile('scores')
";
    if python(script, &["numpy", "xgboost"], folder.path()).is_none() {
        return;
    }
    let model = Forest::read(&folder.path().join("model.json")).unwrap().into_model("imported").unwrap();
    let exported = Format::of("elasticsearch").unwrap().export(&Request::new(&model, "m")).unwrap();
    let body = serde_json::from_slice(&exported.bytes).unwrap();
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let features: Vec<f32> = read("features").chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    let margins: Vec<f64> = read("scores").chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(margins.len(), 1000);
    for (row, margin) in features.chunks(5).zip(margins) {
        let found = engines::elasticsearch(&body, &model.info.names_of_features(), row);
        assert!((found - margin).abs() <= 1e-5 * margin.abs().max(1.0), "{found}, not {margin}");
    }
}

/// Runs the program of docs/model-folder.md on a record.
#[test]
fn numpy_reads_a_record_as_documented() {
    let readme = include_str!("../../docs/model-folder.md");
    let (_, code) = readme.split_once("```python\n").unwrap();
    let (code, _) = code.split_once("```").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let case = models::nets().into_iter().find(|case| case.name == "net-zscore-tanh-2").unwrap();
    case.model.save(&folder.path().join("model")).unwrap();
    let bytes: Vec<u8> = case.data.features().iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(folder.path().join("features"), bytes).unwrap();
    let script = format!(
        "import numpy\nfeatures = numpy.fromfile('features', numpy.float32).reshape(-1, {})\n{code}\nscores.astype(numpy.float64).tofile('{}.scores')\n",
        models::FEATURES,
        case.name
    );
    if python(&script, &["numpy"], folder.path()).is_some() {
        case.check(&read_scores(&case, folder.path()), "numpy");
    }
}
