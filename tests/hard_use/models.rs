//! Model folders: no other file is deleted, nothing is written in part, damaged models do not load.

use crate::support::Place;
use std::fs;
use std::path::PathBuf;

#[path = "models/stress.rs"]
mod stress;

/// A few queries ordered by the first feature, as LETOR text.
pub fn data() -> String {
    let mut text = String::new();
    for query in 0..12 {
        for document in 0..5 {
            let noise = (query * 7 + document * 3) % 11;
            text += &format!("{} qid:{query} 1:{}.5 2:{noise} 3:{}\n", document % 3, document % 3, noise * document);
        }
    }
    text
}

/// A folder with data and a trained model.
pub fn trained() -> Place {
    let place = Place::new(&[("train.txt", &data())]);
    place.run(&format!("{TRAIN} --out model")).good();
    place
}

pub const TRAIN: &str = "train --train train.txt --epochs 2 --hidden 3 --scale zscore";

fn path(place: &Place, name: &str) -> PathBuf {
    place.0.path().join(name)
}

/// Returns the weights and the description of a model.
fn bytes(place: &Place, model: &str) -> (Vec<u8>, Vec<u8>) {
    let file = |name: &str| fs::read(path(place, model).join(name)).expect(name);
    (file("model.bpk"), file("model.json"))
}

/// Replaces text in a file of the model.
fn edit(place: &Place, from: &str, to: &str) {
    let text = place.read("model/model.json");
    assert!(text.contains(from), "{from} is not in {text}");
    fs::write(path(place, "model/model.json"), text.replacen(from, to, 1)).expect("model.json");
}

/// Returns the files that `ls -A` shows, except the data.
fn names(place: &Place) -> Vec<String> {
    place.list().into_iter().filter(|name| !name.contains('/') && name != "train.txt").collect()
}

#[test]
fn force_replaces_only_models() {
    let place = trained();
    fs::create_dir_all(path(&place, "work/sub")).expect("a folder");
    fs::write(path(&place, "work/model.json"), r#"{"name": "another program's"}"#).expect("a file");
    fs::write(path(&place, "work/thesis.txt"), "ten years").expect("a file");
    let before = place.list();
    for options in ["", "--force", "--resume", "--force --resume"] {
        let message = place.run(&format!("{TRAIN} --out work {options}")).bad(1);
        assert!(message.contains("work: contains '") && message.contains("nothing was overwritten"), "{message}");
    }
    fs::remove_file(path(&place, "work/thesis.txt")).expect("a file");
    fs::remove_dir(path(&place, "work/sub")).expect("a folder");
    let message = place.run(&format!("{TRAIN} --out work --force")).bad(1);
    assert!(message.contains("work: exists and is not a model"), "{message}");
    fs::write(path(&place, "model/notes.md"), "mine").expect("a file");
    let message = place.run(&format!("{TRAIN} --out model --force")).bad(1);
    assert!(message.contains("model: contains 'notes.md', which is not part of a model"), "{message}");
    fs::remove_file(path(&place, "model/notes.md")).expect("a file");
    place.run(&format!("{TRAIN} --out model --force --seed 2")).good();
    let after: Vec<String> = place.list();
    assert_eq!(
        after,
        before.into_iter().filter(|name| !name.contains("thesis") && !name.contains("sub")).collect::<Vec<_>>()
    );
}

#[test]
fn resume_never_replaces_a_finished_model() {
    let place = trained();
    let before = bytes(&place, "model");
    for other in ["--activation relu", "--lr 0.1", "--seed 2", "--objective ranknet", "--valid train.txt"] {
        let message = place.run(&format!("{TRAIN} --out model --resume {other}")).bad(1);
        assert!(message.contains("model: the existing model was trained with other settings or data"), "{message}");
    }
    // Without a checkpoint a run cannot be resumed, not even for more epochs.
    let message = place.run(&format!("{TRAIN} --out model --resume").replace("--epochs 2", "--epochs 3")).bad(1);
    assert!(message.contains("model.checkpoint is missing") && message.contains("--force"), "{message}");
    let done = place.run(&format!("{TRAIN} --out model --resume"));
    assert_eq!((done.code, done.out.as_str()), (Some(0), ""));
    assert!(done.err.contains("model: this run is already finished"), "{}", done.err);
    assert_eq!(bytes(&place, "model"), before);
    assert_eq!(names(&place), ["model"]);
    place.run(&format!("{TRAIN} --out model --resume --force --seed 2")).good();
    assert_ne!(bytes(&place, "model"), before);
}

/// The magic bytes of a checkpoint, followed by others.
const CHECKPOINT: &str = "burnrkc1 hours of work";

#[test]
fn a_checkpoint_is_only_discarded_with_force() {
    let place = Place::new(&[("train.txt", &data()), ("model.checkpoint", CHECKPOINT)]);
    let message = place.run(&format!("{TRAIN} --out model")).bad(1);
    assert!(message.contains("model.checkpoint: checkpoint of an interrupted run"), "{message}");
    assert!(message.contains("--resume") && message.contains("--force"), "{message}");
    assert_eq!(place.read("model.checkpoint"), CHECKPOINT);
    assert_eq!(names(&place), ["model.checkpoint"]);
    place.run(&format!("{TRAIN} --out model --force")).good();
    assert_eq!(names(&place), ["model"]);
}

#[test]
fn folds_and_the_demonstration_follow_the_same_rules() {
    let place = Place::new(&[]);
    for fold in ["Fold1", "Fold2"] {
        fs::create_dir_all(path(&place, "data").join(fold)).expect("a folder");
        for part in ["train.txt", "vali.txt", "test.txt"] {
            fs::write(path(&place, "data").join(fold).join(part), data()).expect("a file");
        }
    }
    let train = "train --folds data --epochs 1 --out models/all";
    fs::create_dir_all(path(&place, "models/all/Fold2")).expect("a folder");
    fs::write(path(&place, "models/all/Fold2/thesis.txt"), "ten years").expect("a file");
    let message = place.run(&format!("{train} --force")).bad(1);
    assert!(message.contains("Fold2: contains 'thesis.txt'"), "{message}");
    fs::remove_file(path(&place, "models/all/Fold2/thesis.txt")).expect("a file");
    fs::write(path(&place, "models/all/Fold1.checkpoint"), CHECKPOINT).expect("a file");
    assert!(place.run(train).bad(1).contains("Fold1.checkpoint: checkpoint of an interrupted run"));
    assert_eq!(place.run(&format!("{train} --force")).code, Some(0));
    assert!(place.run(train).bad(1).contains("already exists: choose another --out"));
    let inside = |folder: &str| {
        let names = fs::read_dir(path(&place, folder)).expect(folder);
        let mut names: Vec<_> = names.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(inside("models/all"), ["Fold1", "Fold2"]);

    fs::create_dir_all(path(&place, "demo/demo-lambdarank")).expect("a folder");
    fs::write(path(&place, "demo/demo-lambdarank/thesis.txt"), "ten years").expect("a file");
    let message = place.run("train --epochs 1 --out demo --force").bad(1);
    assert!(message.contains("demo-lambdarank: contains 'thesis.txt'"), "{message}");
    assert_eq!(inside("demo"), ["demo-lambdarank"]);
}

#[test]
fn a_refused_run_leaves_no_empty_folders() {
    let place = Place::new(&[("train.txt", "not data")]);
    place.run("train --train train.txt --out a/b/model").bad(1);
    place.run("train --folds none --out a/b").bad(1);
    assert!(names(&place).is_empty(), "{:?}", names(&place));
}

#[test]
fn damage_does_not_load() {
    let place = trained();
    let good = bytes(&place, "model");
    let restore = || {
        fs::write(path(&place, "model/model.bpk"), &good.0).expect("model.bpk");
        fs::write(path(&place, "model/model.json"), &good.1).expect("model.json");
    };
    let text = place.read("model/model.json");
    let center =
        text.split_once("\"center\": [").and_then(|(_, rest)| rest.split(',').next()).expect("a scaler").trim();
    let mut digit = center.to_owned();
    let first = if digit.starts_with('9') { "8" } else { "9" };
    digit.replace_range(0..1, first);
    for (from, to) in
        [("\"tanh\"", "\"relu\""), (center, digit.as_str()), ("\"kind\": \"zscore\"", "\"kind\": \"minmax\"")]
    {
        edit(&place, from, to);
        for command in ["info model", "predict --model model --data train.txt"] {
            let message = place.run(command).bad(1);
            assert!(message.contains("damaged") && message.contains("model"), "{from} to {to}: {message}");
        }
        restore();
    }
    let wide = "\"features\": 100000000,";
    edit(&place, "\"features\": 3,", wide);
    edit(&place, "\"width\": 3,", "\"width\": 100000000,");
    let message = place.run("info model").bad(1);
    assert!(message.contains("model.json"), "{message}");
    restore();
    #[cfg(unix)]
    for file in ["model/model.json", "model/model.bpk"] {
        // A pipe without a writer has no end.
        fs::remove_file(path(&place, file)).expect(file);
        assert!(std::process::Command::new("mkfifo").arg(path(&place, file)).status().expect("mkfifo").success());
        let message = place.run("info model").bad(1);
        assert!(message.contains(file), "{message}");
        fs::remove_file(path(&place, file)).expect(file);
        restore();
    }
    assert!(place.run("info model").good().contains("finished"));
}

#[cfg(unix)]
mod unix {
    use super::*;
    use crate::support::wait_for_checkpoint;
    use std::os::unix::fs::symlink;
    use std::process::Stdio;

    #[test]
    fn a_symbolic_link_is_followed_and_kept() {
        let place = Place::new(&[("train.txt", &data())]);
        // A dangling link, through another link, with and without a trailing slash.
        symlink("second", path(&place, "first")).expect("a link");
        symlink("far/away", path(&place, "second")).expect("a link");
        place.run(&format!("{TRAIN} --out first")).good();
        let seed = bytes(&place, "far/away");
        assert!(place.run(&format!("{TRAIN} --out first/")).bad(1).contains("already"));
        place.run(&format!("{TRAIN} --out first/ --force --seed 2")).good();
        assert_ne!(bytes(&place, "far/away"), seed);
        for link in ["first", "second"] {
            assert!(fs::symlink_metadata(path(&place, link)).expect(link).is_symlink());
        }
        assert!(!path(&place, "first.checkpoint").exists());
        let refused = |out: &str| place.run(&format!("{TRAIN} --out {out} --seed 2")).bad(1);
        fs::write(path(&place, "far/away.checkpoint"), CHECKPOINT).expect("a file");
        assert!(
            refused("first").contains("far/away.checkpoint") && refused("far/away").contains("far/away.checkpoint")
        );
    }

    #[test]
    fn a_run_behind_a_link_resumes() {
        let place = Place::new(&[("train.txt", &data())]);
        symlink("far/away", path(&place, "link")).expect("a link");
        let train = "train --train train.txt --patience 0 --checkpoint-every 0 --out link";
        let mut child =
            place.command(&format!("{train} --epochs 1000000")).stderr(Stdio::null()).spawn().expect("a run");
        (0..2).for_each(|_| wait_for_checkpoint(&mut child, &path(&place, "far/away.checkpoint")));
        // No other process can write there meanwhile.
        let message = place.run(&format!("{train} --epochs 1 --force")).bad(1);
        assert!(message.contains("another burnrank process is writing this model"), "{message}");
        child.kill().expect("a kill");
        child.wait().expect("an end");
        // At least two epochs were completed: a note says that fewer are requested.
        let resumed = place.run(&format!("{train} --epochs 1 --resume"));
        assert_eq!(resumed.code, Some(0), "{resumed:?}");
        assert!(resumed.err.contains("resuming after epoch"), "{}", resumed.err);
        assert!(resumed.err.contains("past --epochs 1: saving the best of these"), "{}", resumed.err);
        assert_eq!(names(&place), ["far", "link"]);
        assert_eq!(fs::read_dir(path(&place, "far")).expect("far").count(), 1);
    }

    #[test]
    fn a_model_hidden_by_a_kill_is_restored() {
        let place = trained();
        let before = bytes(&place, "model");
        let hide = || fs::rename(path(&place, "model"), path(&place, ".burnrank-old-Ab3dE6-model")).expect("a rename");
        for command in
            ["info model", "predict --model model --data train.txt", "evaluate --model model --data train.txt"]
        {
            hide();
            place.run(command).good();
            assert_eq!(bytes(&place, "model"), before, "{command}");
        }
        hide();
        assert!(place.run(&format!("{TRAIN} --out model")).bad(1).contains("model already exists"));
        assert_eq!(names(&place), ["model"]);
    }

    #[test]
    fn only_leftovers_are_removed() {
        let place = trained();
        for leftover in [".burnrank-new-Ab3dE6-model", ".burnrank-old-Ab3dE6-model"] {
            fs::create_dir(path(&place, leftover)).expect("a folder");
            fs::write(path(&place, leftover).join("model.bpk"), "half").expect("a file");
        }
        fs::write(path(&place, ".burnrank-new-Ab3dE6-model.checkpoint"), "half").expect("a file");
        fs::write(path(&place, ".burnrank-lock-model"), "").expect("a file");
        let foreign = [".burnrank-notes", ".burnrank-new-Ab3dE6-other", "model.txt"];
        foreign.iter().for_each(|name| fs::write(path(&place, name), "mine").expect("a file"));
        place.run(&format!("{TRAIN} --out model --force")).good();
        assert_eq!(names(&place), [".burnrank-new-Ab3dE6-other", ".burnrank-notes", "model", "model.txt"]);
    }
}
