//! Completions for shells, and manual pages.

use super::support::Place;

#[test]
fn shells_complete_commands_and_options() {
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
fn there_is_a_manual_page_for_each_command() {
    let place = Place::new(&[]);
    let page = place.run("man").good();
    assert!(page.contains(".TH burnrank 1") && page.contains("train"), "{page}");
    let printed = place.run("man --out man1").good();
    let names = std::fs::read_dir(place.path().join("man1")).expect("a folder").count();
    assert!(printed.contains(&format!("{names} pages")) && names >= 14, "{printed}");
    let page = place.read("man1/burnrank-train.1");
    assert!(page.contains("objective") && page.contains("burnrank\\-train"), "{page}");
}
