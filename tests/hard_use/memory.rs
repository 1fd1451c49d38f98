//! Input that needs too much memory is refused before memory runs out.

use super::support::{Place, Ran};
use burnrank::ReadOptions;
use burnrank::data::Chunks;
use rayon::prelude::*;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Trains a model with `features` features on tiny data.
fn train(place: &Place, features: usize) {
    let last = if features > 2 { format!(" {features}:1") } else { String::new() };
    let train: String = (0..12).map(|i| format!("{} qid:{} 1:{} 2:{}{last}\n", i % 2, i / 4, i % 7, i % 3)).collect();
    std::fs::write(place.0.path().join("train.txt"), train).unwrap();
    let ran = place
        .run("train --train train.txt --valid train.txt --out model --epochs 1 --model linear --scale none --quiet");
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn decompression_bombs_are_refused() {
    let place = Place::new(&[]);
    train(&place, 2);
    let zeros = vec![0_u8; 4 << 20];
    for (name, packed) in [
        ("zeros.gz", gzip(&zeros)),
        ("zeros.zst", zstd::encode_all(&zeros[..], 1).unwrap()),
        ("comments.gz", gzip(&b"# nothing\n".repeat(400 << 10))),
    ] {
        // Compressed files may be concatenated.
        std::fs::write(place.0.path().join(name), packed.repeat(75)).unwrap();
        let message = place.run(&format!("data {name} --max-memory 200MB --quiet")).bad(1);
        assert!(message.contains(&format!("the text of {name} would take ")), "{message}");
        assert!(message.contains("--max-memory"), "{message}");
    }
    // A stream keeps no more than it needs.
    let message = place.run("predict --model model --data comments.gz --max-memory 200MB --quiet").bad(1);
    assert!(message.contains("the file is empty"), "{message}");
    let message = place.run("predict --model model --data zeros.gz --max-memory 200MB --quiet").bad(1);
    assert!(message.contains("would take") || message.contains("a line of more than"), "{message}");
}

#[test]
fn an_endless_query_is_refused_and_blank_lines_take_no_memory() {
    let place = Place::new(&[]);
    train(&place, 2);
    let blanks = [b"1 qid:1 1:1 2:1\n".to_vec(), vec![b'\n'; 150 << 20], b"0 qid:1 1:2 2:1\n".to_vec()].concat();
    let scores = place.run_with("predict --model model --data - --max-memory 200MB --quiet", &blanks).good();
    assert_eq!(scores.lines().count(), 2);
    std::fs::write(place.0.path().join("one.gz"), gzip(&b"1 qid:1 1:1 2:2\n".repeat(8 << 20))).unwrap();
    let message = place.run("predict --model model --data one.gz --max-memory 200MB --quiet").bad(1);
    assert!(message.contains("documents of query '1', which starts on line 1 of one.gz, would take "), "{message}");
}

/// A few hundred bytes that decompress to gigabytes.
#[test]
fn imported_trees_of_many_features_or_categories_are_refused() {
    let model = |features: usize, trees: &str| {
        format!(
            r#"{{"learner": {{"gradient_booster": {{"name": "gbtree", "model": {{"trees": [{trees}]}}}}, "learner_model_param": {{"base_score": "5E-1", "num_feature": "{features}"}}}}}}"#
        )
    };
    let tree = r#"{"left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [0, 0, 0],
        "split_conditions": [0, 1, 2], "default_left": [0, 0, 0], "split_type": [1, 0, 0], "categories": [16777215],
        "categories_nodes": [0], "categories_segments": [0], "categories_sizes": [1]}"#;
    let sets = vec![tree; 100].join(",");
    let place = Place::new(&[("wide.json", &model(20_000_000, "")), ("sets.json", &model(2, &sets))]);
    for (file, what) in
        [("wide.json", "the 20000000 features of wide.json"), ("sets.json", "the categories of sets.json")]
    {
        let message = place.run(&format!("convert {file} --to model --out model --max-memory 1GB")).bad(1);
        assert!(message.contains(&format!("{what} would take ")) && message.contains("--max-memory"), "{message}");
    }
}

/// The paths to the leaves of a tree of n levels have n (n + 1) / 2 steps.
#[test]
fn explaining_a_very_deep_tree_is_refused() {
    const LEVELS: usize = 15_000;
    let list =
        |of: &dyn Fn(usize) -> i64, count: usize| (0..count).map(|i| of(i).to_string()).collect::<Vec<_>>().join(" ");
    let text = format!(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=1\nfeature_names=a b\n\
         feature_infos=none none\n\nTree=0\nnum_leaves={}\nnum_cat=0\nsplit_feature={}\nthreshold={}\nleft_child={}\n\
         right_child={}\nleaf_value={}\n\n\nend of trees\n",
        LEVELS + 1,
        list(&|_| 0, LEVELS),
        list(&|i| i as i64, LEVELS),
        list(&|i| -(i as i64) - 1, LEVELS),
        list(&|i| if i + 1 < LEVELS { i as i64 + 1 } else { -(LEVELS as i64) - 1 }, LEVELS),
        list(&|i| i as i64 % 7, LEVELS + 1),
    );
    let place = Place::new(&[("deep.txt", &text), ("a.txt", "1 qid:1 1:5 2:1\n0 qid:1 1:7000 2:0\n")]);
    place.run("convert deep.txt --to model --out deep").good();
    place.run("predict --model deep --data a.txt --max-memory 500MB").good();
    let message = place.run("explain --model deep --data a.txt --max-memory 500MB --quiet").bad(1);
    assert!(message.contains("the paths to all leaves of the trees would take 2.7 GB"), "{message}");
    assert!(message.contains("use shallower trees, or allow more with --max-memory"), "{message}");
}

#[test]
fn reading_reports_progress_between_chunks() {
    let text = [vec![b'\n'; 100_000], b"1 qid:1 1:1\n".to_vec()].concat();
    let (progress, all) = (Arc::new(Mutex::new(Vec::new())), text.len() as u64);
    let record = progress.clone();
    let chunks = Chunks::from_reader("blank", std::io::Cursor::new(text), &ReadOptions::default()).unwrap();
    let chunks = chunks.with_chunk_bytes(1000).with_progress(move |bytes| record.lock().unwrap().push(bytes));
    assert_eq!(chunks.map(|chunk| chunk.unwrap().n_documents()).collect::<Vec<_>>(), [1]);
    let progress = progress.lock().unwrap();
    assert!(progress.len() >= 100 && progress.is_sorted() && progress.last() == Some(&all), "{progress:?}");
}

#[test]
fn a_wide_model_scores_narrow_data_in_parts() {
    let place = Place::new(&[]);
    train(&place, 1_000_000);
    let data: String = (0..300).map(|i| format!("1 qid:{} 1:1 3:2\n", i / 3)).collect();
    std::fs::write(place.0.path().join("narrow.txt"), data).unwrap();
    let ran = place.run("predict --model model --data narrow.txt --max-memory 1GB");
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 300), "{}", ran.err);
    // A single query cannot be divided.
    std::fs::write(place.0.path().join("one.txt"), "1 qid:1 1:1 3:2\n".repeat(1000)).unwrap();
    let message = place.run("predict --model model --data one.txt --max-memory 1GB").bad(1);
    assert!(message.contains("1000 documents of 1000000 features would take 4.0 GB"), "{message}");
}

#[test]
fn absurd_counts_are_refused_with_their_option() {
    let data = "1 qid:1 1:1 2:1\n0 qid:1 1:2 2:1\n1 qid:2 1:1 2:1\n0 qid:2 1:2 2:1\n";
    let place = Place::new(&[("a.txt", data), ("s.txt", "1\n2\n3\n4\n")]);
    train(&place, 2);
    std::fs::write(place.0.path().join("t.txt"), "2\n1\n3\n4\n").unwrap();
    for (command, said) in [
        ("compare s.txt t.txt --data a.txt --resamples 1000000000000000", "give fewer --resamples"),
        ("certify --model model --data a.txt --directions 1000000000000000", "give fewer --directions"),
        ("generate net --documents 20000 --features 50000 --max-memory 500MB", "generate fewer documents"),
    ] {
        let message = place.run(command).bad(1);
        assert!(message.contains("would take ") && message.contains(said), "{message}");
    }
}

/// Returns the peak memory of a command, in bytes, and its result.
#[cfg(target_os = "linux")]
fn peak(place: &Place, command: &str) -> (u64, Ran) {
    let child =
        place.command(command).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let most = std::thread::spawn(move || {
        let mut most = 0;
        while let Ok(text) = std::fs::read_to_string(&status) {
            let held = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let Some(held) = held.and_then(|held| held.split_whitespace().next()?.parse::<u64>().ok()) else { break };
            most = most.max(held * 1024);
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        most
    });
    let ran = Ran::of(child.wait_with_output().unwrap());
    (most.join().unwrap(), ran)
}

#[test]
#[cfg(target_os = "linux")]
fn an_endless_space_is_refused() {
    let place = Place::new(&[("a.txt", "1 qid:1 1:1\n0 qid:1 1:2\n")]);
    let (most, ran) = peak(&place, "tune --train a.txt --space /dev/zero --max-memory 200MB");
    let message = ran.bad(1);
    assert!(message.contains("/dev/zero: more than 1.0 MB of text: is this the right file?"), "{message}");
    assert!(most < 200_000_000, "{most}");
}

#[test]
#[cfg(target_os = "linux")]
fn model_selection_counts_the_memory_of_its_copies() {
    let place = Place::new(&[]);
    place.run("generate net --queries 600 --documents 100 --features 50 --out a.txt --quiet").good();
    let train = "train --train a.txt --out m --trials 17 --quiet";
    // The data has 12 MB. Model selection makes several copies, more with trees; pages of the program count, too.
    let (most, ran) = peak(&place, &format!("{train} --max-memory 50MB"));
    let message = ran.bad(1);
    assert!(message.contains("the copies of the data for model selection would take "), "{message}");
    assert!(message.contains("set a model, such as --model linear"), "{message}");
    assert!(most < 100_000_000, "{most}");
    let (most, ran) = peak(&place, "train --train a.txt --out m --model linear --epochs 1 --quiet --max-memory 50MB");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(most < 100_000_000, "{most}");
}

#[test]
fn absurd_numbers_of_threads_are_capped() {
    let place = Place::new(&[("a.txt", "1 qid:1 1:1\n0 qid:1 1:2\n")]);
    for (threads, number) in [(Some("1024"), None), (None, Some("1000000"))] {
        let mut command = place.command("data a.txt");
        threads.iter().for_each(|threads| _ = command.args(["--threads", threads]));
        number.iter().for_each(|number| _ = command.env("RAYON_NUM_THREADS", number));
        let ran = Ran::of(command.stdin(Stdio::null()).output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.err.contains("threads, the maximum on this machine"), "{}", ran.err);
    }
}

/// Files whose text or content needs a little more than four gigabytes, or seems to.
fn hostile(folder: &Path) -> Vec<String> {
    let repeat = |name: &str, part: Vec<u8>, times: usize| {
        let mut file = std::io::BufWriter::new(std::fs::File::create(folder.join(name)).unwrap());
        (0..times).for_each(|_| file.write_all(&part).unwrap());
        file.flush().unwrap();
        name.to_owned()
    };
    let zst = |text: &[u8]| zstd::encode_all(text, 1).unwrap();
    let part = 32 << 20;
    let whole = 4_100_000_000_usize.div_ceil(part);
    let mut names = vec![
        repeat("zeros.gz", gzip(&vec![0; part]), whole),
        repeat("zeros.zst", zst(&vec![0; part]), whole),
        repeat("blanks.zst", zst(&vec![b'\n'; part]), whole),
        repeat("comments.zst", zst(&b"# no\n".repeat(part / 5)), whole),
        repeat("bad.zst", zst(&b"x\n".repeat(part / 2)), 4),
        repeat("one-query.zst", zst(&b"1 qid:1 1:1\n".repeat(part / 12)), whole),
        // 63 million queries, each of which is stored.
        repeat("turns.zst", zst(&b"1 qid:1\n1 qid:2\n".repeat(part / 16)), 15),
        repeat("one-line.zst", zst(&b"1 qid:1 1:1 ".repeat(part / 12)), whole),
        // Two million documents of four megabytes each.
        repeat("wide.zst", zst(&b"1 qid:1 1000000:1\n".repeat(part / 18)), 1),
        // 520 million numbers of eight bytes, and 80 million documents of a run.
        repeat("numbers.zst", zst(&b"1\n".repeat(part / 2)), 31),
        repeat("run.zst", zst(&b"1 Q0 a 1 1 t\n".repeat(part / 13)), 31),
    ];
    let ids: Vec<u8> = (0..12_000_000).flat_map(|i: u32| format!("1 qid:{i}\n").into_bytes()).collect();
    std::fs::write(folder.join("queries.txt"), ids).unwrap();
    let sparse = std::fs::File::create(folder.join("sparse.txt")).unwrap();
    sparse.set_len(1 << 36).unwrap();
    names.extend(["queries.txt".to_owned(), "sparse.txt".to_owned()]);
    names
}

/// Seconds after which a command counts as endless.
const LONGEST: &str = "600";

/// `cargo test --release --test hard_use four_gigabytes -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes"]
fn every_command_survives_hostile_input_in_four_gigabytes() {
    let place = Place::new(&[
        ("good.txt", "1 qid:1 1:1 2:0\n0 qid:1 1:2 2:0\n1 qid:2 1:1 2:0\n0 qid:2 1:2 2:0\n"),
        ("s.txt", "1\n2\n3\n4\n"),
    ]);
    train(&place, 2);
    std::fs::rename(place.0.path().join("model"), place.0.path().join("narrow")).unwrap();
    train(&place, 1_000_000);
    std::fs::write(place.0.path().join("plain.txt"), "1 1:1\n0 1:2\n").unwrap();
    std::fs::write(place.0.path().join("t.txt"), "2\n1\n3\n4\n").unwrap();
    for (folder, file) in [("huge-description", "model.json"), ("huge-record", "model.bpk")] {
        let [from, to] = ["narrow", folder].map(|folder| place.0.path().join(folder));
        std::fs::create_dir(&to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
        std::fs::File::create(to.join(file)).unwrap().set_len(1 << 36).unwrap();
    }
    let mut commands = Vec::new();
    // Twelve million documents times a million features are many products, but not hostile input.
    let endless = |command: &str| command.contains("--model model --data queries.txt");
    for name in hostile(place.0.path()) {
        for command in [
            "data F",
            "data F --lenient",
            "convert F --lenient --regroup --out F.converted",
            "split F --out F.parts",
            "predict --model narrow --data F",
            "predict --model model --data F --lenient --format trec",
            "train --train F --out F.model --epochs 1",
            "train --train train.txt --objective ranknet --targets F --out F.model --epochs 1",
            "evaluate --data F --scores s.txt",
            "evaluate --data good.txt --scores F",
            "evaluate --run F --qrels F",
            "compare s.txt F --data good.txt",
            "certify --model narrow --data F",
            "lambda --objective ranknet --data F",
            "data plain.txt --query-file F",
        ] {
            let command = command.replace(" F", &format!(" {name}"));
            if !endless(&command) {
                commands.push(command);
            }
        }
    }
    for command in [
        "compare s.txt t.txt --data good.txt --resamples 99999999999",
        "certify --model narrow --data good.txt --directions 99999999999",
        "certify --model model --data good.txt --fill-zeros",
        "generate net --documents 1000000 --features 1000",
        "generate net --queries 2 --documents 1 --features 1000000 --hidden 1 --out wide.txt",
        "split good.txt --folds 1000 --out many",
        "data good.txt --threads 1024",
        "train --train good.txt --hidden 1000000000 --out huge --epochs 1",
        "train --train good.txt --batch-queries 9999999999999 --out batch --epochs 1",
        "info huge-description",
        "info huge-record",
        "predict --model huge-description --data good.txt",
        "predict --model huge-record --data good.txt",
        "certify --model huge-record --data good.txt",
        "compare huge-description huge-record --data good.txt",
    ] {
        commands.push(command.to_owned());
    }
    let run = |command: &String| {
        let start = Instant::now();
        let mut shell = Command::new("timeout");
        shell.args([LONGEST, "sh", "-c", "ulimit -v 4000000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_burnrank")]);
        shell.args(command.split_whitespace()).current_dir(place.0.path()).stdin(Stdio::null()).stdout(Stdio::null());
        let output = shell.stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let (code, seconds) = (output.status.code(), start.elapsed().as_secs_f64());
        // In parallel, because all of it takes minutes.
        println!("{code:?} {seconds:5.1} s  {command}\n        {}", said.lines().last().unwrap_or_default());
        (seconds, command.clone(), code, said)
    };
    let start = Instant::now();
    let mut ran: Vec<_> = commands.par_iter().map(run).collect();
    ran.sort_by(|a, b| b.0.total_cmp(&a.0));
    let number = |wanted| ran.iter().filter(|(_, _, code, _)| *code == Some(wanted)).count();
    println!(
        "{} commands in {:.0} s: {} with exit code 0, {} with 1, {} with 2; the slowest: {:?}",
        ran.len(),
        start.elapsed().as_secs_f64(),
        number(0),
        number(1),
        number(2),
        ran.iter().take(5).map(|(seconds, command, ..)| format!("{command}: {seconds:.0} s")).collect::<Vec<_>>()
    );
    // Endless commands, panics and aborts have other exit codes.
    let well = |code: Option<i32>, said: &str| {
        matches!(code, Some(0..=2)) && !said.contains("cannot allocate") && !said.contains("panicked")
    };
    let wrong: Vec<_> = ran.iter().filter(|(_, _, code, said)| !well(*code, said)).collect();
    assert!(wrong.is_empty(), "{} of {} commands: {wrong:#?}", wrong.len(), ran.len());
}
