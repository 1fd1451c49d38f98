use super::super::journal::Before;
use super::super::{Choices, Part};
use super::*;
use crate::data::Dataset;
use crate::setting::ModelChoice;
use crate::{Synthetic, device};

fn sets() -> [Dataset; 2] {
    let generator = Synthetic { queries: 60, documents: 12, features: 6, ..Synthetic::net() }.generator().unwrap();
    [generator.part(0..30).unwrap().0, generator.part(30..60).unwrap().0]
}

fn search(trials: usize) -> Search {
    let mut space = Space::new();
    let list = |values: &[&str]| Choices::List(values.iter().map(|&value| value.to_owned()).collect());
    space.set(Part::Objective, "objective", list(&["ranknet", "lambdarank:ndcg", "arp-loss2"])).unwrap();
    space.set(Part::Nets, "hidden", list(&["", "4", "4,3"])).unwrap();
    space.set(Part::Nets, "lr", list(&["0.001", "0.01", "0.1"])).unwrap();
    space.set(Part::Nets, "scale", list(&["none", "zscore"])).unwrap();
    Search { space, trials, metric: "ndcg@5".into(), seed: 4, epochs: Some(9), patience: Some(2), until: None }
}

fn run(search: &Search, data: &TuneData<'_>, journal: Option<&Journal>) -> Found {
    let device = device::open("auto").unwrap();
    search
        .run(
            data,
            &Surroundings { device: &device, stop: Stop::new(), journal, progress: &|_| (), member: Member::alone() },
        )
        .unwrap()
}

/// All that was found, but times.
fn text(found: &Found) -> String {
    let of = |trial: &Trial| format!("{} {} {:?} {:?}\n", trial.number, trial.rung, trial.evaluation, trial.failure);
    found.trials.iter().map(of).collect::<String>() + &format!("{:?} {:?}", found.ended, found.gain())
}

#[test]
fn rungs_have_a_ninth_a_third_and_all_of_the_epochs() {
    let epochs = |epochs| {
        let config = TrainConfig { epochs, ..TrainConfig::default() };
        [1, 2, 3].map(|rung| epochs_after(rung, &config))
    };
    assert_eq!([epochs(100), epochs(9), epochs(1)], [[12, 34, 100], [1, 3, 9], [1, 1, 1]]);
}

#[test]
fn the_better_third_goes_on_and_so_does_the_default() {
    let [train, valid] = sets();
    let data = TuneData::new(vec![[&train, &valid]], 4).unwrap();
    let search = search(10);
    let found = run(&search, &data, None);
    assert_eq!((found.ended, found.trials.len(), found.asked), (Ended::Whole, 10, 10));
    let on = |rung| found.trials.iter().filter(|trial| trial.rung >= rung).count();
    assert!([4, 5].contains(&on(2)) && [2, 3].contains(&on(3)), "{} {}", on(2), on(3));
    let default = found.default_trial().unwrap();
    assert_eq!((default.rung, default.config.learning_rate), (3, ModelChoice::mlp().config().learning_rate));
    for trial in &found.trials {
        let evaluation = trial.evaluation.as_ref().unwrap();
        assert!(evaluation.exhausted || evaluation.epochs == [1, 3, 9][trial.rung - 1], "{trial:?}");
        assert_eq!(evaluation.values.len(), 30);
        // A trial is the same whatever ran before.
        assert_eq!(format!("{:?}", search.config(trial.number, 30).unwrap()), format!("{:?}", trial.config));
    }
    assert!(found.ranked()[0].1.summary().mean > 0.6, "{:?}", found.ranked()[0].1.summary());
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let [train, valid] = sets();
    let results = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let data = TuneData::new(vec![[&train, &valid], [&valid, &train]], 4).unwrap();
        pool.install(|| text(&run(&search(7), &data, None)))
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn a_search_goes_on_from_any_line_of_its_journal() {
    let [train, valid] = sets();
    let data = TuneData::new(vec![[&train, &valid]], 4).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let search = search(6);
    let identity = search.identity(&data, "flex");
    let journal = Journal::open(&path, &identity, Before::Refuse).unwrap();
    let expected = text(&run(&search, &data, Some(&journal)));
    drop(journal);
    assert_eq!(text(&run(&search, &data, None)), expected, "the journal changes nothing");
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    assert!(lines.len() > 8, "{}", lines.len());
    for kept in [1, 4, lines.len() - 1, lines.len()] {
        std::fs::write(&path, lines[..kept].concat() + "{\"trial\": 1, \"ru").unwrap();
        let journal = Journal::open(&path, &identity, Before::GoOn).unwrap();
        assert_eq!(journal.n_known(), kept - 1);
        assert_eq!(text(&run(&search, &data, Some(&journal))), expected, "after {kept} lines");
    }
    // More trials may be asked for: those that were done are the same.
    let more = Search { trials: 8, ..search };
    let journal = Journal::open(&path, &more.identity(&data, "flex"), Before::GoOn).unwrap();
    let found = run(&more, &data, Some(&journal));
    drop(journal);
    assert_eq!(text(&found), text(&run(&more, &data, None)));
}

#[test]
fn a_trial_that_fails_is_a_result_and_time_is_a_bound() {
    let [train, valid] = sets();
    let data = TuneData::new(vec![[&train, &valid]], 4).unwrap();
    let mut search = search(4);
    search.space.set(Part::Nets, "lr", Choices::List(vec!["1e38".into()])).unwrap();
    let found = run(&search, &data, None);
    let failures = found.trials.iter().filter_map(|trial| trial.failure.as_ref());
    assert!(failures.clone().count() >= 1 && failures.clone().all(|why| why.contains("diverged")), "{found:?}");
    assert_eq!(found.ranked()[0].0.number, 0);
    let late = Search { until: Some(Instant::now()), ..search };
    let found = run(&late, &data, None);
    assert_eq!((found.ended, found.trials.len()), (Ended::Time, 0));
    assert!(found.gain().is_none() && found.held_out_gain(&data).is_none());
}

#[test]
fn a_stop_keeps_what_was_found() {
    let [train, valid] = sets();
    let data = TuneData::new(vec![[&train, &valid]], 4).unwrap();
    let (device, stop) = (device::open("auto").unwrap(), Stop::new());
    let progress = |progress: Progress| {
        if progress.done == 3 {
            stop.ask();
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let around = Surroundings {
        device: &device,
        stop: stop.clone(),
        journal: None,
        progress: &progress,
        member: Member::alone(),
    };
    let found = pool.install(|| search(9).run(&data, &around)).unwrap();
    assert_eq!((found.ended, found.trials.len()), (Ended::Stopped, 3));
    assert_eq!(found.asked, 9);
}

#[test]
#[cfg(feature = "trees")]
fn trees_are_grown_anew_on_each_rung_to_the_same_values() {
    let [train, valid] = sets();
    let data = TuneData::new(vec![[&train, &valid]], 4).unwrap();
    let list = |values: &[&str]| Choices::List(values.iter().map(|&value| value.to_owned()).collect());
    let mut space = Space::new();
    space.set(Part::Trees, "leaves", list(&["3", "5"])).unwrap();
    space.set(Part::Trees, "min-data", list(&["2", "10"])).unwrap();
    space.set(Part::Trees, "subsample", list(&["0.5", "1"])).unwrap();
    let search = Search { space, patience: Some(0), ..search(5) };
    let results = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&search, &data, None))
    });
    assert_eq!(text(&results[0]), text(&results[1]));
    for trial in &results[0].trials {
        assert!(matches!(trial.config.architecture, crate::model::Architecture::Trees { trees: 9, .. }));
        assert_eq!(trial.evaluation.as_ref().unwrap().epochs, [1, 3, 9][trial.rung - 1]);
    }
}

#[test]
fn several_processes_find_what_one_finds_and_go_on_with_its_journal() {
    use crate::distributed::threads::each;
    let [train, valid] = sets();
    let data = TuneData::new(vec![[&train, &valid]], 4).unwrap();
    let search = search(7);
    let expected = text(&run(&search, &data, None));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let identity = search.identity(&data, "test");
    for size in [3, 2] {
        // The second time, all is known from the journal of the first.
        let found = each(size, |member| {
            let device = device::open("auto").unwrap();
            let journal = member.leads().then(|| Journal::open(&path, &identity, Before::GoOn).unwrap());
            let member = member.clone();
            let around = Surroundings {
                device: &device,
                stop: Stop::new(),
                journal: journal.as_ref(),
                progress: &|_| (),
                member,
            };
            text(&search.run(&data, &around).unwrap())
        });
        assert!(found.iter().all(|found| *found == expected), "{size} processes");
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines > 7, "{lines} lines in the journal");
    }
    let journal = Journal::open(&path, &identity, Before::GoOn).unwrap();
    assert_eq!(text(&run(&search, &data, Some(&journal))), expected);
}
