//! `burnrank explain`: output, figures, errors, and Shapley values compared with LightGBM's.

use super::support::{Place, python};
use burnrank::analysis::explain::{Counts, Explainer};
use burnrank::model::Forest;
use burnrank::{Dataset, Scorer};
use std::sync::Arc;

/// Thirty queries with three features: one follows the label, one is noise, one is constant within a query.
fn data() -> String {
    let mut text = String::new();
    for query in 0..30 {
        for document in 0..8 {
            let label = (query * 7 + document * 3) % 4;
            let noise = (query * 13 + document * 29) % 17;
            text += &format!(
                "{label} qid:{query} 1:{} 2:{noise} 3:{} # docid = q{query}d{document}\n",
                label * 2 + 1,
                query % 5
            );
        }
    }
    text
}

/// Returns a folder with the data, a linear net, and a model whose only feature is noise.
pub fn place() -> Place {
    let place = Place::new(&[("data.txt", &data()), ("names.txt", "1 relevance\n2 noise\n3 query<b>\n")]);
    place
        .run("train --train data.txt --model linear --scale zscore --epochs 5 --out model --feature-names names.txt")
        .done();
    place.run("train --train data.txt --model feature:index=2 --out single").done();
    place
}

#[test]
fn the_most_important_feature_is_first() {
    let place = place();
    let text = place.run("explain --model model --data data.txt").good();
    // Joins the lines, which are wrapped at 80 columns.
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        joined.starts_with("ndcg@10 is 1.0000 on 30 queries. 1 of 3 features helps significantly: relevance"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for words in ["change of ndcg@10", "95% interval", "weight", "noise", "query<b>", "permuted within each query"] {
        assert!(joined.contains(words), "{words}: {text}");
    }
    // The output does not depend on the number of threads.
    assert_eq!(place.run("explain --model model --data data.txt --threads 1").good(), text);
    assert_ne!(place.run("explain --model model --data data.txt --seed 2 --permute file").good(), text);
}

#[test]
fn a_baseline_is_a_model_scores_or_a_run() {
    let place = place();
    place.run("predict --model single --data data.txt --out single.txt").good();
    place.run("predict --model single --data data.txt --format trec --out single.run").good();
    let of = |baseline: &str| {
        let arguments = format!("explain --model model --data data.txt --json --baseline {baseline}");
        let mut json = place.run(&arguments).json()["explanation"].take();
        json["comparison"]["baseline"].take();
        json
    };
    let model = of("single");
    assert!(model["comparison"]["wins"].as_u64() > Some(20) && model["comparison"]["losses"] == 0, "{model}");
    assert_eq!(model["method"], "linear");
    assert_eq!(model["importances"][0]["name"], "relevance");
    assert!(model["importances"][0]["interval"][0].as_f64() > Some(0.0), "{model}");
    assert_eq!(model["importances"].as_array().unwrap().len(), 3);
    assert!(model["model_importance"]["values"]["relevance"].as_f64() > Some(0.0));
    let change = &model["changes"]["won"][0]["change"];
    assert_eq!(
        (&change["contributions"][0]["name"], model["changes"]["lost"].as_array().unwrap().len()),
        (&"relevance".into(), 0)
    );
    assert!(change["better"]["document"].as_str().unwrap().starts_with('q'), "{change}");
    let parts: f64 =
        change["contributions"].as_array().unwrap().iter().map(|part| part["contribution"].as_f64().unwrap()).sum();
    let sum = parts + change["other_contributions"].as_f64().unwrap();
    assert!((sum - change["score_difference"].as_f64().unwrap()).abs() < 1e-5, "{change}");
    assert_eq!(of("single.txt"), model);
    assert_eq!(of("single.run"), model);
    let text = place.run("explain --model single --data data.txt --baseline model").good();
    assert!(text.contains("worse than") && text.contains("lost: ndcg@10 from 1.0000 to"), "{text}");
}

#[test]
fn parts_of_nets_add_up_to_the_difference_of_scores() {
    let place = place();
    for (activation, hidden) in [("relu", "8"), ("tanh", "6,4"), ("sigmoid", "5")] {
        let net =
            format!("--model mlp --hidden {hidden} --activation {activation} --epochs 60 --lr 0.05 --scale zscore");
        place.run(&format!("train --train data.txt {net} --out net --force")).done();
        let json = place.run("explain --model net --data data.txt --baseline single --queries 30 --json").json();
        let changes = &json["explanation"]["changes"];
        let all = changes["won"].as_array().unwrap().iter().chain(changes["lost"].as_array().unwrap());
        let mut seen = 0;
        for change in all.map(|change| &change["change"]).filter(|change| change.is_object()) {
            let parts = change["contributions"].as_array().unwrap();
            let sum: f64 = parts.iter().map(|part| part["contribution"].as_f64().unwrap()).sum();
            let (sum, whole) =
                (sum + change["other_contributions"].as_f64().unwrap(), change["score_difference"].as_f64().unwrap());
            // Scores are f32.
            assert!((sum - whole).abs() <= 1e-3 * whole.abs() + 1e-5, "{activation}: {sum}, not {whole}: {change}");
            assert_eq!(change["contributions_add_up"], true);
            // The third feature is constant within queries.
            assert!(parts.iter().all(|part| part["better"] != part["worse"]), "{activation}: {change}");
            seen += 1;
        }
        assert!(seen > 10, "{json}");
        assert_eq!(json["explanation"]["method"], "integrated-gradients");
    }
}

#[test]
fn figures_are_svg() {
    let place = place();
    place.run("explain --model model --data data.txt --baseline single --figures drawn/here").good();
    let drawn: Vec<String> = place.list().into_iter().filter(|name| name.ends_with(".svg")).collect();
    for name in ["importance", "queries", "dependence-1", "dependence-2", "won-1"] {
        assert!(drawn.contains(&format!("drawn/here/{name}.svg")), "{drawn:?}");
    }
    for name in drawn {
        let text = place.read(&name);
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{name}");
    }
    assert!(place.read("drawn/here/importance.svg").contains("query&lt;b&gt;"), "names are escaped");
}

#[test]
fn unsupported_explanations_are_refused() {
    let place = place();
    std::fs::write(place.path().join("short.txt"), "1\n2\n").unwrap();
    std::fs::write(place.path().join("other.run"), "0 Q0 nobody 1 1.5 tag\n").unwrap();
    for (arguments, code, words) in [
        ("explain --model model --data data.txt --permute sideways", 2, "expected query or file"),
        ("explain --model model --data data.txt --metric ncdg@10", 2, "ndcg"),
        ("explain --model model --data data.txt --repeats 0", 2, "whole number from 1"),
        ("explain --model model --data - --baseline -", 2, "standard input"),
        ("explain --model model --data data.txt --baseline short.txt", 1, "short.txt"),
        ("explain --model model --data data.txt --baseline other.run", 1, "no document in common"),
        ("explain --model nothing --data data.txt", 1, "nothing"),
    ] {
        let error = place.run(arguments).bad(code);
        assert!(error.contains(words), "{arguments}: {error}");
    }
}

#[test]
fn contributions_of_trees_equal_those_of_lightgbm() {
    let folder = tempfile::tempdir().unwrap();
    let script = "
import lightgbm, numpy
random = numpy.random.default_rng(5)
rows = random.normal(size=(3000, 6)).astype(numpy.float32)
rows[random.random(rows.shape) < 0.1] = numpy.nan
rows[:, 4] = random.integers(0, 12, 3000)
rows[random.random(3000) < 0.3, 5] = 0
label = numpy.clip(numpy.round(1 + numpy.nan_to_num(rows[:, 0] * rows[:, 1]) + (rows[:, 4] % 3 == 0) + numpy.nan_to_num(rows[:, 5])), 0, 4)
data = lightgbm.Dataset(rows, label, group=[100] * 30, categorical_feature=[4])
settings = {'objective': 'lambdarank', 'num_leaves': 24, 'min_data_in_leaf': 5, 'verbose': -1, 'seed': 3, 'bagging_fraction': 0.7, 'bagging_freq': 1}
model = lightgbm.train(settings, data, 40)
model.save_model('model.txt')
rows[:200].tofile('rows')
model.predict(rows[:200], pred_contrib=True).astype(numpy.float64).tofile('parts')
";
    if python(script, &["numpy", "lightgbm"], folder.path()).is_none() {
        return;
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let rows: Vec<f32> = read("rows").chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    let parts: Vec<f64> = read("parts").chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!((rows.len(), parts.len()), (200 * 6, 200 * 7));
    let forest = Arc::new(Forest::read(&folder.path().join("model.txt")).unwrap());
    let data = Dataset::new(6, rows.clone(), vec![0.0; 200], vec![("a".into(), 200)]).unwrap();
    let explainer = Explainer::new(&Scorer::Trees(forest), &data).unwrap();
    assert_eq!(explainer.counts(), Some(Counts::Training));
    let mut largest: f64 = 0.0;
    for (row, theirs) in rows.chunks(6).zip(parts.chunks(7)) {
        let own = explainer.parts(row).into_iter().chain([explainer.expected()]);
        own.zip(theirs).for_each(|(own, theirs)| largest = largest.max((own - theirs).abs()));
    }
    println!("largest distance from LightGBM's contributions: {largest:e}");
    assert!(largest < 1e-9, "{largest}");
}
