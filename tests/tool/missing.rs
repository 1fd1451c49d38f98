//! Missing values and categorical features, from data to exports.

use super::Place;

/// Feature 1 is missing in every third document, 2 has levels, and 3 is left out in every second one.
fn lines(queries: usize, shift: usize) -> String {
    let line = |i: usize| {
        let place = i + shift;
        let first = if place.is_multiple_of(3) { "NA".to_owned() } else { format!("{}", place * 7 % 11) };
        let third = if place.is_multiple_of(2) { format!(" 3:{}", place % 5) } else { String::new() };
        let label = usize::from(place * 7 % 11 > 5) + usize::from(place % 4 == 3);
        format!("{label} qid:{} 1:{first} 2:{}{third}\n", i / 8, place % 4 * 3)
    };
    (0..8 * queries).map(line).collect()
}

#[test]
fn a_net_learns_from_missing_values_and_categories() {
    let place =
        Place::new(&[("train.txt", &lines(30, 0)), ("vali.txt", &lines(12, 5)), ("new.txt", "0 qid:1 1:? 2:5 3:\n")]);
    let shown = place.run("data train.txt").good();
    assert!(shown.contains("missing        80  missing values, of 1 feature\n"), "{shown}");
    assert!(shown.contains("Missing values\nfeature  documents  share\n1               80  33.3%\n"), "{shown}");
    let json = place.run("data train.txt --sparse-missing --json").json();
    assert_eq!(json["files"][0]["missing_values"][1]["documents"], 120);
    let options = "--train train.txt --valid vali.txt --model mlp --epochs 8 --categorical 2 --quiet";
    place.run(&format!("train {options} --scale zscore --out net")).done();
    let card = place.read("net/README.md");
    assert!(card.contains("| categorical features | 1 with 4 levels |") && card.contains("--categorical 2"), "{card}");
    // A level and a missing value that the training data lacks.
    assert_eq!(place.run("predict --model net --data new.txt").good().lines().count(), 1);
    let explained = place.run("explain --model net --data vali.txt").good();
    assert!(explained.contains("  missing\n"), "{explained}");
    for format in ["onnx", "c", "rust", "json", "safetensors", "vespa", "solr"] {
        place.run(&format!("export --model net --format {format} --out file.{format}.out")).good();
    }
    // An index of a file whose indices start at 0.
    let zero = lines(30, 0).replace(" 1:", " 0:").replace(" 2:", " 1:").replace(" 3:", " 2:");
    std::fs::write(place.path().join("zero.txt"), zero).unwrap();
    let options = "--train zero.txt --valid zero.txt --first-index 0 --model linear --epochs 2 --categorical 1 --quiet";
    place.run(&format!("train {options} --out zero")).done();
    assert!(place.read("zero/README.md").contains("| categorical features | 1 with 4 levels |"));
    let error = place.run("train --train train.txt --categorical 9 --model linear --out bad").bad(2);
    assert!(error.contains("--categorical 9: expected the number of a feature, from 1 to 3, or its name"), "{error}");
}

#[test]
fn a_model_remembers_how_it_reads_features_that_are_left_out() {
    let place = Place::new(&[("train.txt", &lines(30, 0)), ("vali.txt", &lines(12, 5))]);
    place
        .run("train --train train.txt --valid vali.txt --model linear --epochs 3 --sparse-missing --quiet --out m")
        .done();
    place.run("train --train train.txt --valid vali.txt --model linear --epochs 3 --quiet --out zeros").done();
    for command in
        ["predict --model m --data vali.txt", "evaluate --model m --data vali.txt", "explain --model m --data vali.txt"]
    {
        place.run(command).good();
    }
    let error = place.run("compare m zeros --data vali.txt").bad(1);
    assert!(error.contains("read this data with --sparse-missing"), "{error}");
    let error = place.run("predict --model zeros --data vali.txt --sparse-missing").bad(1);
    assert!(error.contains("read this data without --sparse-missing"), "{error}");
    place.run("convert train.txt --to cache --sparse-missing --out train.cache --quiet").good();
    place.run("train --train train.cache --valid train.cache --model linear --epochs 3 --quiet --out cached").done();
    assert!(place.read("cached/model.json").contains("\"sparse_missing\": true"));
    // Zeros in place of all missing values, for a model that was trained without.
    place.run("predict --model m --data vali.txt --null 0").good();
}
