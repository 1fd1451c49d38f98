//! Help, shell completions and manual pages.

use super::support::Place;

#[test]
fn short_help_of_the_tool_lists_commands_by_task() {
    let place = Place::new(&[]);
    let help = place.run("-h").good();
    assert!(help.lines().count() <= 40, "{} lines: {help}", help.lines().count());
    for task in ["Data", "Train", "Evaluate", "Understand", "Deploy"] {
        assert!(help.contains(&format!("\n{task}:\n  ")), "{help}");
    }
    let examples = help.split("\nExamples:\n").nth(1).expect("examples");
    assert_eq!(examples.lines().filter(|line| line.starts_with("  burnrank ")).count(), 3, "{help}");
    assert!(help.ends_with("'burnrank --help' for all options.\n"), "{help}");
    // Without a command, the same help goes to standard error.
    let ran = place.run("");
    assert_eq!((ran.code, ran.err), (Some(2), help));
}

#[test]
fn short_help_of_a_command_fits_a_screen() {
    let place = Place::new(&[]);
    let help = place.run("train -h").good();
    assert!(help.lines().count() <= 36, "{} lines: {help}", help.lines().count());
    for option in
        ["--train <FILE>", "--valid <FILE>", "--model <NAME>", "--objective <NAME>", "--leaves <N>", "--out <DIR>"]
    {
        assert!(help.contains(option), "{option}: {help}");
    }
    assert!(!help.contains("--min-hessian") && !help.contains("--checkpoint-every"), "{help}");
    assert!(help.ends_with("\nSee 'burnrank train --help' for all options.\n"), "{help}");
    for command in ["tune", "evaluate", "compare", "explain", "predict", "export"] {
        let help = place.run(&format!("{command} -h")).good();
        assert!(help.lines().count() <= 38, "{} lines: {help}", help.lines().count());
        assert!(help.ends_with(&format!("\nSee 'burnrank {command} --help' for all options.\n")), "{help}");
    }
}

#[test]
fn long_help_begins_with_examples_and_lists_all_options() {
    let place = Place::new(&[]);
    let help = place.run("train --help").good();
    assert!(help.find("\nExamples:\n") < help.find("\nOptions:\n"), "{help}");
    for section in ["Options", "Training", "Nets", "Trees", "Reading"] {
        assert!(help.lines().any(|line| line.starts_with(section) && line.ends_with(':')), "{section}: {help}");
    }
    assert!(help.contains("--min-hessian") && help.contains("--checkpoint-every"), "{help}");
    let names_feature = help.contains("(training needs a build with --features trees)");
    assert_eq!(names_feature, cfg!(not(feature = "trees")), "{help}");
}

#[test]
fn completion_scripts_contain_commands_and_options() {
    let place = Place::new(&[]);
    for (shell, mark) in [("bash", "complete -F"), ("zsh", "#compdef burnrank"), ("fish", "complete -c burnrank")] {
        let script = place.run(&format!("completions {shell}")).good();
        assert!(
            script.contains(mark) && script.contains("evaluate") && script.contains("objective"),
            "{shell}: {script}"
        );
    }
    let message = place.run("completions tcsh");
    assert_eq!(message.code, Some(2), "{message:?}");
    assert!(place.list().is_empty(), "nothing is written");
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new(&[]);
    let page = place.run("man").good();
    assert!(page.contains(".TH burnrank 1") && page.contains("train"), "{page}");
    let printed = place.run("man --out man1").good();
    let pages = std::fs::read_dir(place.path().join("man1")).expect("a folder").count();
    assert!(printed.contains(&format!("{pages} pages")) && pages >= 14, "{printed}");
    let page = place.read("man1/burnrank-train.1");
    assert!(page.contains("objective") && page.contains("burnrank\\-train"), "{page}");
}
