//! Text of files and models is printed without escapes and without changes of writing direction.

use crate::support::Place;

const BAD: [char; 6] = ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\u{2066}', '\r'];

fn harmless(text: &str) {
    let found: Vec<char> = BAD.into_iter().filter(|bad| text.contains(*bad)).collect();
    assert!(found.is_empty(), "{found:?} in {text:?}");
}

/// A model and data whose texts all contain terminal escapes.
fn place() -> Place {
    let bad = "x\\u001b[2J\\u0007\\u009b\\u202e\\u2066\\r";
    let mut data = String::new();
    for row in 0..60 {
        let (label, query) = (row % 3, row / 6);
        data += &format!("{label} qid:q\u{202e}{query} 1:{label} 2:{} # docid = d\u{1b}[31m\u{202e}{row}\n", row % 7);
    }
    let place = Place::new(&[("data.txt", &data)]);
    place.run("train --train data.txt --model linear --epochs 2 --out model").done();
    let file = place.path().join("model/model.json");
    let mut model: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let bad: String = serde_json::from_str(&format!("\"{bad}\"")).unwrap();
    model["objective"] = bad.clone().into();
    model["burnrank"] = bad.clone().into();
    model["burn"] = bad.clone().into();
    model["conventions"] = bad.clone().into();
    model["feature_names"] = vec!["f\u{202e}1", "f\u{2066}2"].into();
    for (_, split) in model["data"].as_object_mut().unwrap() {
        split["source"] = bad.clone().into();
        split["fingerprint"] = bad.clone().into();
    }
    model["data"][&bad] = model["data"]["train"].clone();
    model["metrics"][&bad] = serde_json::json!({ &bad: 0.5 });
    if model["run"].is_object() {
        model["run"]["identity"] = bad.clone().into();
    }
    std::fs::write(file, serde_json::to_string(&model).unwrap()).unwrap();
    place
}

#[test]
fn commands_print_no_terminal_escapes() {
    let place = place();
    for command in [
        "info model",
        "info model --json",
        "explain --model model --data data.txt",
        "explain --model model --data data.txt --json",
        "evaluate --data data.txt --model model --per-query",
        "evaluate --data data.txt --model model --per-query --json",
        "data data.txt",
        "lambda --objective ranknet --data data.txt",
        "report model --data data.txt -o -",
        "report model -o -",
    ] {
        let ran = place.run(command);
        assert_eq!(ran.code, Some(0), "{command}: {ran:?}");
        harmless(&ran.out);
        harmless(&ran.err);
    }
    place.run("explain --model model --data data.txt --figures drawn").done();
    for file in place.list().iter().filter(|file| file.ends_with(".svg")) {
        harmless(&place.read(file));
    }
}

#[test]
fn json_keeps_its_values() {
    let place = place();
    let found = place.run("info model --json").json();
    assert_eq!(found["objective"], "x\u{1b}[2J\u{7}\u{9b}\u{202e}\u{2066}\r");
}
