//! The printed command of a configuration trains this configuration.

use super::Settings;
use crate::cli::tune::command::{config_arguments, line};
use burnrank::TrainConfig;
use burnrank::name::ParameterValue;
use burnrank::setting::{Bounds, ModelChoice, ModelKind, SETTINGS, Setting, Value, models};
use clap::{Args, Command, FromArgMatches};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const OBJECTIVES: [&str; 6] =
    ["lambdarank:ndcg", "ranknet", "lambdarank:map:rel=2", "ndcg-loss2++@5:mu=2.5", "listnet", "ranknet:sigma=0.3"];

fn number(random: &mut impl Rng, low: f64, high: f64) -> String {
    (low + (high - low) * random.random::<f64>()).to_string()
}

/// A random value of a setting, sometimes an extreme one.
fn value(row: &Setting, random: &mut impl Rng) -> String {
    match &row.value {
        Value::Whole(low, high) => {
            let near = random.random_range(*low..=(*high).min(low + 300));
            if random.random_bool(0.1) { (*high).min(usize::MAX as u64) } else { near }.to_string()
        }
        Value::Number(Bounds::Decay) => number(random, 0.0, 0.999),
        Value::Number(_) if random.random_bool(0.1) => "1".into(),
        Value::Number(_) if random.random_bool(0.1) => "0.000000012345".into(),
        Value::Number(_) => number(random, 1e-9, 1.0),
        Value::Units => {
            let layers = 0..random.random_range(1..4);
            layers.map(|_| random.random_range(1..100).to_string()).collect::<Vec<_>>().join(",")
        }
        Value::Features => ["", "5", "5,9", "color,price"].choose(random).expect("a list").to_string(),
        Value::Words(_) | Value::Name(..) => {
            let words = match row.key {
                "objective" => OBJECTIVES.to_vec(),
                "metric" => vec!["ndcg@10", "map", "err:max=4", "pair-error"],
                _ => row.value.words(),
            };
            words.choose(random).expect("a word").to_string()
        }
    }
}

fn configuration(kind: &ModelKind, random: &mut impl Rng) -> TrainConfig {
    let numbers = kind.parameters.iter().map(|parameter| {
        let ParameterValue::Number { valid, .. } = &parameter.value else { panic!("{parameter:?}") };
        format!(":{}={}", parameter.key, number(random, *valid.start(), *valid.end()))
    });
    let name = std::iter::once(kind.name.to_owned()).chain(numbers.collect::<Vec<_>>()).collect::<String>();
    let model: ModelChoice = name.parse().expect("a model");
    let mut config = model.config();
    for row in SETTINGS.iter().filter(|row| row.is_of(kind)) {
        if random.random_bool(0.5) {
            let value = value(row, random);
            row.set(&mut config, &value).expect("a value");
        }
    }
    config
}

/// Splits a line like a shell.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            letter => word.push(letter),
        }
    }
    words.push(word);
    words
}

fn parse(words: &[String]) -> Settings {
    let command = Settings::augment_args(Command::new("train"));
    let matches = command.try_get_matches_from(words).expect("options");
    Settings::from_arg_matches(&matches).expect("settings")
}

#[test]
fn a_printed_command_parses_as_the_configuration() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut valid = 0;
    for kind in models() {
        for _ in 0..200 {
            let config = configuration(kind, &mut random);
            if config.check().is_err() {
                continue;
            }
            valid += 1;
            let line = line(&config_arguments(&config, None).expect("a command"));
            let settings = parse(&words(&line)[1..]);
            let before = settings.config().expect("a configuration");
            let after = settings.suited(before.clone(), random.random_range(1..100_000)).expect("the same");
            let json = |config: &TrainConfig| serde_json::to_string(config).expect("JSON");
            assert_eq!([json(&before), json(&after)], [json(&config), json(&config)], "{line}");
        }
    }
    assert!(valid > 150 * models().count(), "{valid}");
}

#[test]
fn a_default_needs_no_options() {
    for kind in models() {
        let model: ModelChoice = kind.name.parse().expect("a model");
        let settings = parse(&["train".into(), "--model".into(), kind.name.into()]);
        let config = settings.suited(settings.config().expect("settings"), 77).expect("settings");
        let arguments = config_arguments(&config, Some(77)).expect("a command");
        assert_eq!(arguments, [["--model".to_owned(), model.to_string()]]);
    }
}
