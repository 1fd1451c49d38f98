//! Messages recommend what works, and suggest equivalents for names of other tools.

use crate::support::Place;

const DATA: &str = "\
2 qid:1 1:0.5 2:1\n0 qid:1 1:0.25 2:3\n1 qid:1 1:0.1 2:2\n4 qid:2 1:0.75 2:0\n1 qid:2 1:0.5 2:1\n0 qid:2 1:0.2 2:4\n";

/// Other queries than those of [`DATA`].
fn others(data: &str) -> String {
    data.replace("1:0.", "1:0.9")
}

fn place() -> Place {
    Place::new(&[("train.txt", DATA), ("vali.txt", &others(DATA))])
}

#[cfg(unix)]
#[test]
fn a_run_with_other_settings_cannot_be_resumed_and_the_error_says_what_to_do() {
    use crate::support::{signal, wait_for_checkpoint};
    use std::process::Stdio;
    let place = place();
    let train = "train --train train.txt --valid vali.txt --model linear --epochs 1000000 --patience 0 --out model";
    let mut child = place.command(&format!("{train} --checkpoint-every 0 --quiet"));
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_checkpoint(&mut child, &place.path().join("model.checkpoint"));
    wait_for_checkpoint(&mut child, &place.path().join("model.checkpoint"));
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // Model and checkpoint are those of the interrupted run.
    let other = train.replace("--epochs 1000000", "--epochs 3 --seed 9");
    let message = place.run(&format!("{other} --resume")).bad(1);
    assert!(message.contains("model: the existing model was trained with other settings or data"), "{message}");
    assert!(message.contains("model.checkpoint") && !message.contains("--resume --force"), "{message}");
    assert!(message.contains("discard both and train again with --force without --resume"), "{message}");
    place.run(&format!("{other} --resume --force")).bad(1);
    place.run(&format!("{other} --force --quiet")).done();
}

#[test]
fn a_table_under_another_name_is_recognised() {
    let csv = "label,qid,f1,f2\n2,1,0.5,1\n0,1,0.25,3\n";
    let place = Place::new(&[("train.txt", csv)]);
    for line in
        ["data train.txt", "train --train train.txt --model linear --out model", "convert train.txt --out x.txt"]
    {
        let message = place.run(line).bad(1);
        assert!(message.contains("train.txt:1:1: bad label 'label,qid,f1,f2': this looks like CSV"), "{message}");
        assert!(message.contains("rename the file to .csv"), "{message}");
    }
}

#[test]
fn names_of_other_tools_suggest_equivalents() {
    let place = place();
    for (options, expected) in [
        ("--model lambdamart", "LambdaMART is --model trees --objective lambdarank:ndcg"),
        ("--model forest", "expected auto, linear, mlp, trees"),
        ("--model linear --metric ndcg10", "unknown metric 'ndcg10': did you mean 'ndcg@10'?"),
        ("--num-leaves 31", "unknown option '--num-leaves': did you mean '--leaves'?"),
        ("-ranker 6 -metric2t NDCG@10", "unknown option '-ranker': did you mean '--model'?"),
        ("-metric2t NDCG@10", "unknown option '-metric2t': did you mean '--metric'?"),
        ("--model adarank --metric mrr", "adarank: supports MAP and NDCG, not mrr: set --metric to one of them"),
        ("--model adarank --metric p@5", "adarank: supports MAP and NDCG, not p@5"),
    ] {
        let message = place.run(&format!("train --train train.txt --valid vali.txt --out model {options}")).bad(2);
        assert!(message.contains(expected), "{options}: {message}");
        assert!(!place.path().join("model").exists(), "{options}");
    }
    for metric in ["map", "ndcg", "ndcg@5", "ndcg:linear", "map:rel=2"] {
        let train = format!("train --train train.txt --valid vali.txt --model adarank --metric {metric} --quiet");
        place.run(&format!("{train} --out model --force")).done();
    }
}

#[test]
fn pairs_that_springsmooth_leaves_out_are_reported() {
    let place = place();
    let train = "train --train train.txt --valid vali.txt --model linear --epochs 2 --quiet --force --out model";
    let warns = |objective: &str| place.run(&format!("{train} --objective {objective}")).err.contains("have no lambda");
    // Labels 0, 1, 2 and 4: at a threshold of 1, labels 1, 2 and 4 are one class.
    assert!(warns("lambdarank:map:springsmooth") && warns("lambdarank:p:rel=2@5:springsmooth:sigma=2"));
    assert!(!warns("lambdarank:ndcg:springsmooth") && !warns("lambdarank:map") && !warns("lambdarank:map:localcost"));
    let binary = DATA.replace("2 qid:1 1:0.5", "1 qid:1 1:0.5").replace("4 qid", "1 qid");
    std::fs::write(place.path().join("train.txt"), &binary).unwrap();
    std::fs::write(place.path().join("vali.txt"), others(&binary)).unwrap();
    assert!(!warns("lambdarank:map:springsmooth"));
}

#[test]
fn errors_name_options_as_given() {
    let place = place();
    for (options, expected) in [
        ("--model trees --trees 0", "--trees 0: expected a whole number of 1 or more"),
        ("--model trees --shrinkage 0", "--shrinkage 0: expected a number above 0"),
        ("--model trees --shrinkage nan", "--shrinkage nan: expected a number above 0"),
        ("--trials 0", "--trials 0: expected a whole number of 1 or more"),
        ("--seed 99999999999999999999999", "expected a whole number of 0 or more, up to 18446744073709551615"),
    ] {
        let message = place.run(&format!("train --train train.txt --out model {options}")).bad(2);
        assert!(message.contains(expected) && !message.contains("--lr"), "{options}: {message}");
    }
}

/// PRank has no learning rate.
#[test]
fn errors_of_diverging_baselines_do_not_name_a_learning_rate() {
    let huge = DATA.replace(" 1:0.", " 1:3e38 3:0.");
    let place = Place::new(&[("train.txt", &huge), ("vali.txt", &huge.replace(" 3:0.", " 3:0.9"))]);
    let message =
        place.run("train --train train.txt --valid vali.txt --model prank --scale none --out model --quiet").bad(1);
    assert!(message.contains("scale the features with --scale") && !message.contains("--lr"), "{message}");
}
