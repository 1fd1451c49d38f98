//! Caches built from tables have the same documents and feature names.

use super::support::Place;
use super::write::{parquet, properties, small};
use super::{assert_same, expected, file, read_all_ways, refusal, with};
use burnrank::data::cache::{CacheOptions, CacheWriter, build, check, info};
use burnrank::data::{Columns, FeatureNames};
use burnrank::{Dataset, ReadOptions, read};
use std::path::Path;

const TABLE: &str = "bm25,label,qid,clicks,docid\n0.5,2,a,-1,d7\n3,0,a,4e-3,d8\n1e3,1,7,0,d9\n";

fn build_and_read(from: &Path, to: &Path, options: CacheOptions, reading: &ReadOptions) -> Dataset {
    build(from, to, options, reading, |_| ()).unwrap();
    check(to).unwrap();
    read_all_ways(to, &ReadOptions::default()).data
}

fn named(words: &str) -> Vec<String> {
    words.split(' ').map(str::to_owned).collect()
}

#[test]
fn a_cache_has_the_documents_and_feature_names_of_its_table() {
    let (folder, csv) = file("a.csv", TABLE);
    let binary = folder.path().join("a.parquet");
    parquet(&binary, &small(), 2, properties());
    let (cache, again) = (folder.path().join("a.cache"), folder.path().join("b.cache"));
    for table in [&csv, &binary] {
        for regroup in [false, true] {
            let reading = ReadOptions { regroup, ..ReadOptions::default() };
            for from in [table, &cache] {
                let to = if from == table { &cache } else { &again };
                let data = build_and_read(from, to, CacheOptions::default(), &reading);
                assert_same(&data, &expected());
                assert!(data.is_mapped() && !data.is_sparse());
                assert_eq!(data.feature_names(), Some(&named("bm25 clicks")[..]), "{from:?}");
                assert_eq!(info(to).unwrap().unwrap().feature_names, named("bm25 clicks"));
                assert_eq!(read(to, &ReadOptions::default()).unwrap().highest_label.0, 2.0);
            }
        }
    }
    // Names given by the user, dropped columns, and a different width.
    let names = Some(FeatureNames::parse("names", b"2 age\n", 1).unwrap());
    let options = CacheOptions { feature_names: names, ..CacheOptions::default() };
    let data = build_and_read(&csv, &cache, options, &ReadOptions::default());
    assert_eq!(data.feature_names(), Some(&named("f1 age")[..]));
    let reading = with(Columns { drop: named("bm25"), ..Columns::default() });
    let data = build_and_read(&csv, &cache, CacheOptions::default(), &reading);
    assert_eq!((data.feature_names(), data.features()), (Some(&named("clicks")[..]), &[-1.0, 4e-3, 0.0][..]));
    assert_eq!(data.with_width(2).feature_names(), None);
    // Options about columns apply to tables only.
    let error = refusal(&cache, &ReadOptions { null: Some(0.0), ..ReadOptions::default() });
    assert_eq!(error, "`null` applies to LETOR, Parquet, CSV and TSV files, but a.cache is read as cache: remove it");
}

#[test]
fn mapped_columns_are_matched_by_name() {
    let (folder, csv) = file("a.csv", TABLE);
    let reordered =
        expected().with_feature_names(named("bm25 clicks")).unwrap().arranged(&named("clicks bm25")).unwrap();
    for half in [false, true] {
        let options = CacheOptions { half, ..CacheOptions::default() };
        let data = build_and_read(&csv, &folder.path().join("a.cache"), options, &ReadOptions::default());
        let same = data.clone().arranged(&named("bm25 clicks")).unwrap();
        assert!(same.is_mapped(), "names in the same order");
        let other = data.clone().arranged(&named("clicks bm25")).unwrap();
        assert_eq!(other.document_id(1), Some("d8"));
        assert_eq!(other.feature_names(), reordered.feature_names());
        let near = |a: &f32, b: &f32| (a - b).abs() <= if half { 1e-3 * b.abs() } else { 0.0 };
        assert!(other.features().iter().zip(reordered.features()).all(|(a, b)| near(a, b)), "{:?}", other.features());
        assert!(data.arranged(&named("clicks age")).unwrap_err().to_string().contains("a feature 'age'"));
    }
}

#[test]
fn parts_with_different_names_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let part = |id: &str, names: &str| {
        let data = Dataset::new(2, vec![1.0, 2.0], vec![1.0], vec![(id.into(), 1)]).unwrap();
        data.with_feature_names(named(names)).unwrap()
    };
    let mut writer = CacheWriter::create(folder.path().join("a.cache"), CacheOptions::default()).unwrap();
    writer.push(&part("a", "x y")).unwrap();
    writer.push(&part("b", "x y")).unwrap();
    assert!(writer.push(&part("c", "y x")).unwrap_err().to_string().contains("different feature names"));
}

#[test]
fn a_model_trained_on_a_cache_stores_its_feature_names() {
    let mut table = "a,b,label,qid\n".to_owned();
    for row in 0..60 {
        table += &format!("{},{},{},q{}\n", row % 7, (row * 5) % 11, row % 3, row / 6);
    }
    let reordered: String = table
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{},{},{}\n", cells[1], cells[0], cells[2], cells[3])
        })
        .collect();
    let place = Place::new(&[("a.csv", &table), ("b.csv", &reordered), ("names.txt", "1 x\n")]);
    for name in ["a", "b"] {
        place.run(&format!("convert {name}.csv --to cache --out {name}.cache --quiet")).done();
    }
    place.run("train --train a.cache --model linear --epochs 3 --out model --quiet").done();
    let info = place.run("info model --json").json();
    assert_eq!(info["feature_names"], serde_json::json!(["a", "b"]), "{info}");
    let scores = place.run("predict --model model --data a.csv").good();
    for data in ["b.csv", "a.cache", "b.cache"] {
        assert_eq!(place.run(&format!("predict --model model --data {data}")).good(), scores, "{data}");
    }
    let metrics = |data: &str| {
        place.run(&format!("evaluate --model model --data {data} --metric ndcg@10 --json")).json()["metrics"].take()
    };
    assert_eq!(metrics("b.cache"), metrics("a.csv"));
    place.run("train --train a.csv --valid b.cache --model linear --epochs 3 --out mixed --quiet").done();
    place.run("explain --model model --data b.cache --quiet").done();
    let error = place.run("train --train a.cache --feature-names names.txt --model linear --out x").bad(2);
    assert!(error.contains("this cache already has feature names"), "{error}");
    let error = place.run("train --train a.cache --features 9 --model linear --out x").bad(1);
    assert!(error.contains("a.cache: the cache has names for its 2 columns of features"), "{error}");
    let error = place.run("data a.cache --label grade").bad(2);
    assert!(
        error.contains("--label applies to Parquet, CSV and TSV files, but a.cache is read as cache: remove it"),
        "{error}"
    );
}
