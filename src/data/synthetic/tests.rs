use super::*;

fn small(base: Synthetic, seed: u64) -> Synthetic {
    Synthetic { queries: 40, seed, ..base }
}

/// Returns the number of pairs with different labels.
fn pairs(data: &Dataset) -> usize {
    let of = |labels: &[f32]| {
        let n = labels.len();
        (0..n).map(|i| (i + 1..n).filter(|&j| labels[i] != labels[j]).count()).sum::<usize>()
    };
    data.queries().map(|query| of(query.labels)).sum()
}

/// Returns the pair accuracy of the best linear model: features are independent with variance 1/3, so its weights are
/// 3 E[x f(x)].
fn linear_accuracy(settings: &Synthetic) -> f64 {
    let generator = Synthetic { queries: 1200, ..settings.clone() }.generator().unwrap();
    let (train, targets) = generator.part(0..1000).unwrap();
    let mean = targets.iter().sum::<f64>() / targets.len() as f64;
    let mut weights = vec![0.0; train.n_features()];
    for (row, target) in train.features().chunks_exact(train.n_features()).zip(&targets) {
        weights.iter_mut().zip(row).for_each(|(w, &x)| *w += f64::from(x) * (target - mean));
    }
    let (mut right, mut all) = (0.0, 0.0);
    for query in (1000..1200).map(|index| generator.query(index)) {
        let scores: Vec<f64> = query.features.chunks_exact(weights.len()).map(|x| net::dot(&weights, x)).collect();
        for i in 0..scores.len() {
            for j in 0..i {
                all += 1.0;
                right += f64::from((scores[i] > scores[j]) == (query.targets[i] > query.targets[j]));
            }
        }
    }
    right / all
}

fn mean_of_seeds(seeds: u32, value: impl Fn(u64) -> f64) -> f64 {
    (0..seeds).map(|seed| value(seed.into())).sum::<f64>() / f64::from(seeds)
}

#[test]
fn six_equal_bins_give_the_number_of_pairs_of_the_paper() {
    // Two documents are in the same bin with probability 1/6, so 20 lists have 20 * 50 * 49 / 2 * 5/6 pairs. The paper has
    // 20,382 for the net and 20,452 for the polynomial.
    let expected = 20.0 * 1225.0 * 5.0 / 6.0;
    for base in [Synthetic::net(), Synthetic::polynomial()] {
        let per_thousand = mean_of_seeds(4, |seed| {
            let settings = Synthetic { queries: 200, seed, ..base.clone() };
            pairs(&settings.generator().unwrap().dataset().unwrap()) as f64 / 10.0
        });
        assert!((per_thousand - expected).abs() < 60.0, "{per_thousand} pairs, expected about {expected}");
    }
}

#[test]
fn labels_have_the_given_distribution() {
    for mix in [LabelMix::default(), LabelMix::web(), "0.5,0.2,0.15,0.1,0.05".parse().unwrap()] {
        for base in [Synthetic::net(), Synthetic::polynomial()] {
            let settings = Synthetic { mix: mix.clone(), seed: 5, ..base };
            let data = settings.generator().unwrap().dataset().unwrap();
            for (level, share) in mix.shares().iter().enumerate() {
                let count = data.labels().iter().filter(|&&label| label == level as f32).count();
                let fraction = count as f64 / data.n_documents() as f64;
                // Four standard errors of the sample that places the bins plus the data.
                let error = (share * (1.0 - share) * (1.0 / 65_536.0 + 1.0 / 50_000.0)).sqrt();
                assert!((fraction - share).abs() < 4.0 * error, "{mix}: label {level} has {fraction}");
            }
        }
    }
}

#[test]
fn labels_are_monotonic_in_the_target() {
    let (data, targets) = small(Synthetic::polynomial(), 3).generator().unwrap().part(0..40).unwrap();
    let mut both: Vec<(f64, f32)> = targets.into_iter().zip(data.labels().iter().copied()).collect();
    both.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(both.is_sorted_by(|a, b| a.1 <= b.1));
}

#[test]
fn features_are_uniform() {
    let data = Synthetic::net().generator().unwrap().dataset().unwrap();
    let x = data.features();
    assert!(x.iter().all(|x| (-1.0..=1.0).contains(x)));
    let n = x.len() as f64;
    let moment = |k: i32| x.iter().map(|&x| f64::from(x).powi(k)).sum::<f64>() / n;
    // Four standard errors: E x = 0, E x^2 = 1/3, E x^4 = 1/5, E x^8 = 1/9.
    assert!(moment(1).abs() < 4.0 * (1.0 / 3.0 / n).sqrt());
    assert!((moment(2) - 1.0 / 3.0).abs() < 4.0 * ((1.0 / 5.0 - 1.0 / 9.0) / n).sqrt());
    assert!((moment(4) - 1.0 / 5.0).abs() < 4.0 * ((1.0 / 9.0 - 1.0 / 25.0) / n).sqrt());
}

#[test]
fn a_linear_model_is_as_accurate_as_in_the_paper() {
    // The paper has 90.06 (net) and 69.00 (polynomial) at 12,500 vectors, for one function each. Functions differ by 1 to 3
    // points, so this averages six. Theory for the polynomial is 1/2 + asin(sqrt(1/3)) / pi, and up to one point more, because
    // the cubic term contains x^2 y, which is partly linear, if a permutation repeats an index.
    let of = |base: Synthetic| mean_of_seeds(6, |seed| linear_accuracy(&Synthetic { seed, ..base.clone() }));
    let net = of(Synthetic::net());
    assert!((net - 0.9006).abs() < 0.02, "{net}");
    let polynomial = of(Synthetic::polynomial());
    let theory = 0.5 + (1.0_f64 / 3.0).sqrt().asin() / std::f64::consts::PI;
    assert!((polynomial - theory).abs() < 0.015, "{polynomial}, expected about {theory}");
}

#[test]
fn queries_are_independent_of_each_other() {
    let generator = small(Synthetic::net(), 8).generator().unwrap();
    let (all, targets) = generator.part(0..40).unwrap();
    for (index, query) in generator.queries().enumerate() {
        let view = all.query(index);
        assert_eq!((view.id, &*view.features, view.labels), (&*query.id, &*query.features, &*query.labels));
        assert_eq!(targets[view.rows], query.targets);
    }
    let (part, _) = generator.part(10..13).unwrap();
    assert_eq!(part, all.select(&[10, 11, 12]));
    let more = Synthetic { queries: 100, ..generator.settings().clone() }.generator().unwrap();
    assert_eq!(more.query(39), generator.query(39));
    assert_ne!(generator.query(0).features, generator.query(1).features);
}

#[test]
fn data_depends_on_the_seed_and_not_on_the_threads() {
    for base in [Synthetic::net(), Synthetic::polynomial()] {
        let run = |seed, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| small(base.clone(), seed).generator().unwrap().dataset().unwrap())
        };
        assert_eq!(run(4, 1), run(4, 3));
        assert_ne!(run(4, 1).features(), run(5, 1).features());
        assert_ne!(run(4, 1).labels(), run(5, 1).labels());
    }
}

#[test]
fn invalid_settings_are_rejected() {
    let assert_error = |settings: Synthetic, text: &str| {
        let message = settings.generator().map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
    };
    assert_error(Synthetic { queries: 0, ..Synthetic::net() }, "at least one query");
    assert_error(Synthetic { documents: 0, ..Synthetic::net() }, "at least one document");
    assert_error(Synthetic { features: 0, ..Synthetic::polynomial() }, "at least one feature");
    assert_error(Synthetic { features: usize::MAX, ..Synthetic::polynomial() }, "at most");
    assert_error(Synthetic { documents: usize::MAX, ..Synthetic::polynomial() }, "at most");
    let hidden = |hidden| Target::Net { hidden, activation: TargetActivation::Tanh };
    assert_error(Synthetic { target: hidden(0), ..Synthetic::net() }, "at least one hidden unit");
    assert_error(Synthetic { target: hidden(usize::MAX), ..Synthetic::net() }, "at most");
    assert_error(Synthetic { target: hidden(1 << 20), ..Synthetic::net() }, "at most");
    let endless = Synthetic { queries: usize::MAX, ..Synthetic::net() }.generator().unwrap();
    assert!(endless.dataset().unwrap_err().to_string().contains("do not fit into memory"));
    assert_eq!(endless.queries().take(3).count(), 3);
}

#[test]
fn settings_round_trip() {
    for settings in [Synthetic::net(), Synthetic::lambdarank()] {
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<Synthetic>(&text).unwrap(), settings);
    }
}
