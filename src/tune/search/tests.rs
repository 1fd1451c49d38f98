use super::super::journal::ExistingJournal;
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

fn run(search: &Search, data: &TuneData<'_>, journal: Option<&Journal>) -> SearchResult {
    let device = device::open("auto").unwrap();
    search
        .run(
            data,
            &SearchContext { device: &device, stop: Stop::new(), journal, progress: &|_| (), member: Member::alone() },
        )
        .unwrap()
}

/// The result as text, without times.
fn text(result: &SearchResult) -> String {
    let of = |trial: &Trial| format!("{} {} {:?} {:?}\n", trial.number, trial.rung, trial.evaluation, trial.failure);
    result.trials.iter().map(of).collect::<String>() + &format!("{:?} {:?}", result.ended, result.gain())
}

#[test]
fn rungs_have_one_ninth_one_third_and_all_of_the_epochs() {
    let epochs = |epochs| {
        let config = TrainConfig { epochs, ..TrainConfig::default() };
        [1, 2, 3].map(|rung| epochs_after(rung, &config))
    };
    assert_eq!([epochs(100), epochs(9), epochs(1)], [[12, 34, 100], [1, 3, 9], [1, 1, 1]]);
}

#[test]
fn the_best_third_and_the_default_are_promoted() {
    let [train, valid] = sets();
    let data = TuneData::new(vec![[&train, &valid]], 4).unwrap();
    let search = search(10);
    let result = run(&search, &data, None);
    assert_eq!((result.ended, result.trials.len(), result.requested), (SearchEnd::Completed, 10, 10));
    let on = |rung| result.trials.iter().filter(|trial| trial.rung >= rung).count();
    assert!([4, 5].contains(&on(2)) && [2, 3].contains(&on(3)), "{} {}", on(2), on(3));
    let default = result.default_trial().unwrap();
    assert_eq!((default.rung, default.config.learning_rate), (3, ModelChoice::mlp().config().learning_rate));
    for trial in &result.trials {
        let evaluation = trial.evaluation.as_ref().unwrap();
        assert!(evaluation.exhausted || evaluation.epochs == [1, 3, 9][trial.rung - 1], "{trial:?}");
        assert_eq!(evaluation.values.len(), 30);
        // A trial does not depend on the trials before it.
        assert_eq!(format!("{:?}", search.config(trial.number, 30).unwrap()), format!("{:?}", trial.config));
    }
    assert!(result.ranked()[0].1.summary().mean > 0.6, "{:?}", result.ranked()[0].1.summary());
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
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
fn a_search_resumes_from_any_line_of_its_journal() {
    let [train, valid] = sets();
    let data = TuneData::new(vec![[&train, &valid]], 4).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let search = search(6);
    let identity = search.identity(&data, "flex");
    let journal = Journal::open(&path, &identity, ExistingJournal::Refuse).unwrap();
    let expected = text(&run(&search, &data, Some(&journal)));
    drop(journal);
    assert_eq!(text(&run(&search, &data, None)), expected, "the journal does not change the result");
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    assert!(lines.len() > 8, "{}", lines.len());
    for kept in [1, 4, lines.len() - 1, lines.len()] {
        std::fs::write(&path, lines[..kept].concat() + "{\"trial\": 1, \"ru").unwrap();
        let journal = Journal::open(&path, &identity, ExistingJournal::Resume).unwrap();
        assert_eq!(journal.n_outcomes(), kept - 1);
        assert_eq!(text(&run(&search, &data, Some(&journal))), expected, "after {kept} lines");
    }
    // More trials may be requested; completed ones do not change.
    let more = Search { trials: 8, ..search };
    let journal = Journal::open(&path, &more.identity(&data, "flex"), ExistingJournal::Resume).unwrap();
    let result = run(&more, &data, Some(&journal));
    drop(journal);
    assert_eq!(text(&result), text(&run(&more, &data, None)));
}

#[test]
fn failed_trials_are_recorded_and_the_time_limit_holds() {
    let [train, valid] = sets();
    let data = TuneData::new(vec![[&train, &valid]], 4).unwrap();
    let mut search = search(4);
    search.space.set(Part::Nets, "lr", Choices::List(vec!["1e38".into()])).unwrap();
    let result = run(&search, &data, None);
    let failures = result.trials.iter().filter_map(|trial| trial.failure.as_ref());
    assert!(failures.clone().count() >= 1 && failures.clone().all(|why| why.contains("diverged")), "{result:?}");
    assert_eq!(result.ranked()[0].0.number, 0);
    let late = Search { until: Some(Instant::now()), ..search };
    let result = run(&late, &data, None);
    assert_eq!((result.ended, result.trials.len()), (SearchEnd::TimedOut, 0));
    assert!(result.gain().is_none() && result.held_out_gain(&data).is_none());
}

#[test]
fn a_stopped_search_keeps_its_results() {
    let [train, valid] = sets();
    let data = TuneData::new(vec![[&train, &valid]], 4).unwrap();
    let (device, stop) = (device::open("auto").unwrap(), Stop::new());
    let progress = |progress: Progress| {
        if progress.done == 3 {
            stop.ask();
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let context = SearchContext {
        device: &device,
        stop: stop.clone(),
        journal: None,
        progress: &progress,
        member: Member::alone(),
    };
    let result = pool.install(|| search(9).run(&data, &context)).unwrap();
    assert_eq!((result.ended, result.trials.len()), (SearchEnd::Stopped, 3));
    assert_eq!(result.requested, 9);
}

#[test]
#[cfg(feature = "trees")]
fn trees_are_retrained_on_each_rung_with_the_same_values() {
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
fn several_processes_have_the_same_result_and_share_a_journal() {
    use crate::distributed::threads::each;
    let [train, valid] = sets();
    let data = TuneData::new(vec![[&train, &valid]], 4).unwrap();
    let search = search(7);
    let expected = text(&run(&search, &data, None));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let identity = search.identity(&data, "test");
    for size in [3, 2] {
        // The second time, all outcomes come from the journal of the first.
        let results = each(size, |member| {
            let device = device::open("auto").unwrap();
            let journal = member.leads().then(|| Journal::open(&path, &identity, ExistingJournal::Resume).unwrap());
            let member = member.clone();
            let context = SearchContext {
                device: &device,
                stop: Stop::new(),
                journal: journal.as_ref(),
                progress: &|_| (),
                member,
            };
            text(&search.run(&data, &context).unwrap())
        });
        assert!(results.iter().all(|result| *result == expected), "{size} processes");
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines > 7, "{lines} lines in the journal");
    }
    let journal = Journal::open(&path, &identity, ExistingJournal::Resume).unwrap();
    assert_eq!(text(&run(&search, &data, Some(&journal))), expected);
}
