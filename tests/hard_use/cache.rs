//! Caches: complete or absent, refused if stale or damaged, and larger than the memory limit.

use super::support::Place;
use std::io::Write;
use std::process::Stdio;

fn lines(queries: std::ops::Range<usize>) -> String {
    let line = |row: usize| format!("{} qid:{} 1:{} 2:{} 3:0.5\n", row % 3, row / 10, row % 7, row % 11);
    (10 * queries.start..10 * queries.end).map(line).collect()
}

#[cfg(unix)]
#[test]
fn a_killed_conversion_leaves_nothing() {
    let place = Place::new(&[]);
    for name in ["INT", "TERM", "KILL"] {
        for (part, megabytes) in [("start", 0), ("middle", 20)] {
            let mut command = place.command("convert - --to cache --out a.cache --quiet");
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let mut pipe = child.stdin.take().unwrap();
            let mut query = 0;
            let mut written = 0;
            while written < megabytes << 20 {
                let text = lines(query..query + 1000);
                pipe.write_all(text.as_bytes()).unwrap();
                (query, written) = (query + 1000, written + text.len());
            }
            std::thread::sleep(std::time::Duration::from_millis(300));
            super::support::signal(&child, name);
            let _ = child.wait();
            assert_eq!(place.list(), Vec::<String>::new(), "{name} at the {part}");
        }
    }
}

#[test]
fn stale_and_damaged_caches_are_refused_by_name_with_the_remedy() {
    let place = Place::new(&[("a.txt", &lines(0..20))]);
    place.run("convert a.txt --to cache --out a.cache").good();
    place.run("train --train a.cache --model linear --epochs 1 --quiet --out model").done();
    let commands = [
        "data a.cache",
        "train --train a.cache --model linear --epochs 1 --quiet --out other",
        "train --train a.txt --valid a.cache --model linear --epochs 1 --quiet --out other",
        "evaluate --data a.cache --model model",
        "predict --data a.cache --model model",
        "convert a.cache --out b.txt",
    ];
    let whole = std::fs::read(place.path().join("a.cache")).unwrap();
    let mut other = whole.clone();
    other[8] = 9;
    let mut first = whole.clone();
    first[0] = b'1';
    let mut label = whole.clone();
    *label.last_mut().unwrap() ^= 1;
    for (bytes, expected) in [
        (&whole[..whole.len() / 2], "the cache has the wrong size"),
        (&whole[..100], "the cache has the wrong size"),
        (other.as_slice(), "the cache has version 9, but this program reads version 1"),
        (first.as_slice(), "not a cache, or its first bytes are damaged"),
        (label.as_slice(), "the cache is damaged"),
        (&[], "the file is empty"),
    ] {
        std::fs::write(place.path().join("a.cache"), bytes).unwrap();
        for command in commands {
            let message = place.run(command).bad(1);
            assert!(message.contains("a.cache: ") && message.contains(expected), "{command}: {message}");
            assert!(message.contains("rebuild it"), "{message}");
        }
    }
    std::fs::write(place.path().join("a.cache"), &whole).unwrap();
    std::fs::write(place.path().join("a.txt"), lines(0..21)).unwrap();
    for command in commands {
        let message = place.run(command).bad(1);
        assert!(message.contains("has changed since this cache was built from it"), "{command}: {message}");
        assert!(message.contains("--stale-cache"), "{message}");
    }
    place.run("data a.cache --stale-cache").good();
    // Only the full check detects a changed feature.
    let mut feature = whole.clone();
    feature[4096] ^= 1;
    std::fs::write(place.path().join("a.cache"), &feature).unwrap();
    place.run("data a.cache --stale-cache").good();
    let message = place.run("data a.cache --stale-cache --check").bad(1);
    assert!(message.contains("the features of documents 0 to 199 do not match their checksum"), "{message}");
}

#[test]
fn features_beyond_the_memory_limit_can_be_trained_on_and_scored() {
    let place = Place::new(&[]);
    // 100 MB of features.
    let data = "generate net --queries 500 --documents 100 --features 500 --seed 2 --quiet";
    place.run(&format!("{data} --out a.cache")).done();
    let limit = "--max-memory 80MB --quiet";
    for scaling in ["none", "query-minmax"] {
        let train = format!("train --train a.cache --model linear --scale {scaling} --epochs 1 --force --out model");
        place.run(&format!("{train} {limit}")).done();
        let limited = std::fs::read(place.path().join("model/model.bpk")).unwrap();
        place.run(&format!("{train} --quiet")).done();
        assert!(limited == std::fs::read(place.path().join("model/model.bpk")).unwrap(), "{scaling}");
    }
    for command in [
        "predict --model model --data a.cache --out s.txt",
        "evaluate --model model --data a.cache",
        "data a.cache --check",
    ] {
        place.run(&format!("{command} {limit}")).done();
    }
    // Methods that need all features at once check the limit first.
    let message = place.run(&format!("train --train a.cache --model ranksvm --out other {limit}")).bad(1);
    assert!(message.contains("would take") && message.contains("linear or mlp"), "{message}");
    // Some values may be too small for f16.
    place.run(&format!("convert a.cache --to cache --half --force --out half.cache {limit}")).done();
    place.run(&format!("train --train half.cache --model linear --epochs 1 --force --out model {limit}")).done();
}

/// A change of a file, and its name.
#[cfg(unix)]
type Change<'a> = (&'a str, &'a dyn Fn(&std::fs::File));

/// Runs a command on a cache and changes the file in the middle of it.
#[cfg(unix)]
#[test]
fn a_cache_that_is_truncated_or_overwritten_during_training_ends_the_run() {
    use std::os::unix::fs::FileExt;
    let place = Place::new(&[]);
    let at = |name: &str| place.path().join(name);
    let data = "generate net --queries 400 --documents 50 --features 50 --quiet";
    place.run(&format!("{data} --seed 2 --out whole.cache")).done();
    place.run(&format!("{data} --seed 3 --out other.cache")).done();
    let cut = |file: &std::fs::File| file.set_len(1 << 20).unwrap();
    let zeros = |file: &std::fs::File| file.write_all_at(&[0; 1 << 16], 1 << 20).unwrap();
    let other = std::fs::read(at("other.cache")).unwrap();
    let replace = |file: &std::fs::File| file.write_all_at(&other, 0).unwrap();
    let changes: [Change<'_>; 3] = [("cut", &cut), ("zeros", &zeros), ("replace", &replace)];
    for (name, change) in changes {
        std::fs::copy(at("whole.cache"), at("a.cache")).unwrap();
        let train = "train --train a.cache --model linear --lr 1e-9 --epochs 1000000 --patience 0 --checkpoint-every 0 --quiet --out m";
        let mut command = place.command(train);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        super::support::wait_for_checkpoint(&mut child, &at("m.checkpoint"));
        change(&std::fs::File::options().write(true).open(at("a.cache")).unwrap());
        let message = super::support::Ran::of(child.wait_with_output().unwrap()).bad(1);
        assert!(message.contains("a.cache: the cache was modified, truncated"), "{name}: {message}");
        assert!(!at("m").exists(), "{name}");
        std::fs::remove_file(at("m.checkpoint")).unwrap();
        let left = place.list();
        assert_eq!(left, ["a.cache", "other.cache", "whole.cache"], "{name}");
    }
}

#[test]
fn values_too_small_for_f16_need_force() {
    let place = Place::new(&[("a.txt", "1 qid:a 1:1e-9 2:1\n0 qid:a 1:2 2:-1e-8\n")]);
    let convert = "convert a.txt --to cache --half --out a.cache";
    let message = place.run(convert).bad(1);
    let expected = "a.txt: 2 nonzero values become 0 in f16, the first is 1e-9, feature 1 of document 1: omit --half";
    assert!(message.contains(expected) && message.contains("--force"), "{message}");
    assert_eq!(place.list(), ["a.txt"]);
    let printed = place.run(&format!("{convert} --force")).good();
    assert!(printed.contains("2 nonzero values became 0."), "{printed}");
    assert_eq!(place.run(&format!("{convert} --force --json")).json()["rounding"]["underflows"], 2);
}
