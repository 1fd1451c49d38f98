use super::*;
use crate::data::synthetic::WEB_MIX;

fn small(seed: u64) -> Web {
    Web { queries: 30, documents: 30, seed, ..Web::default() }
}

fn values(data: &Dataset, feature: usize) -> Vec<f32> {
    data.features().iter().skip(feature).step_by(data.n_features()).copied().collect()
}

fn fraction(values: &[f32], of: impl Fn(f32) -> bool) -> f64 {
    values.iter().filter(|&&value| of(value)).count() as f64 / values.len() as f64
}

#[test]
fn labels_have_the_given_distribution() {
    let rows = small(9).generator().unwrap().dataset().unwrap();
    for teacher in 0..3 {
        let web = Web { queries: 1500, documents: 20, teacher, ..Web::default() };
        for generator in [web.generator().unwrap(), web.generator_like(rows.clone()).unwrap()] {
            let data = generator.dataset().unwrap();
            for (label, share) in WEB_MIX.into_iter().enumerate() {
                let actual = fraction(data.labels(), |other| other == label as f32);
                // Documents of a query are correlated, which gives about three times the variance of independent ones.
                let error =
                    (3.0 * share * (1.0 - share) * (1.0 / SAMPLE as f64 + 1.0 / data.n_documents() as f64)).sqrt();
                assert!((actual - share).abs() < 5.0 * error, "teacher {teacher}: label {label} has {actual}");
            }
        }
    }
}

#[test]
fn the_number_of_documents_has_the_given_mean() {
    let generator = Web { queries: 2000, documents: 40, ..Web::default() }.generator().unwrap();
    let lengths: Vec<usize> = (0..2000).map(|index| generator.start(index).1).collect();
    let mean = lengths.iter().sum::<usize>() as f64 / 2000.0;
    // Five standard errors; the standard deviation is 0.66 of the mean.
    assert!((mean - 40.0).abs() < 5.0 * 0.66 * 40.0 / 2000_f64.sqrt(), "{mean}");
    assert!(lengths.iter().all(|&length| (1..=320).contains(&length)));
    assert!(lengths.iter().any(|&length| length < 15) && lengths.iter().any(|&length| length > 120));
}

#[test]
fn features_look_like_those_of_web_pages() {
    let data = Web { queries: 100, ..Web::default() }.generator().unwrap().dataset().unwrap();
    assert!(data.features().iter().all(|value| value.is_finite()));
    let all: Vec<Vec<f32>> = (0..data.n_features()).map(|feature| values(&data, feature)).collect();
    let count = |of: &dyn Fn(&[f32]) -> bool| all.iter().filter(|values| of(values)).count();
    // Of 136 features, many are mostly zeros, many are integers, and many have long tails.
    let zeros = count(&|values| fraction(values, |value| value == 0.0) > 0.5);
    let whole = count(&|values| fraction(values, |value| value.fract() == 0.0) == 1.0);
    let tails = count(&|values| {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f32::total_cmp);
        sorted[sorted.len() - 1] > 8.0 * sorted[sorted.len() * 9 / 10].max(1e-6)
    });
    assert!(zeros > 20 && whole > 30 && tails > 20, "{zeros} zeros, {whole} integers, {tails} tails");
    assert!(all.iter().all(|values| fraction(values, |value| value != values[0]) > 0.0), "a feature is constant");
    // Five are constant within each query, but differ between queries.
    let constant = |feature: usize| {
        data.queries().all(|query| {
            query
                .features
                .iter()
                .skip(feature)
                .step_by(data.n_features())
                .all(|value| *value == query.features[feature])
        })
    };
    assert!((0..data.n_features()).filter(|&feature| constant(feature)).eq(15..20));
    // Occurrences in the whole document are the sum of those in its streams.
    for row in data.features().chunks_exact(136).take(100) {
        assert_eq!(row[20..24].iter().sum::<f32>(), row[24]);
    }
}

#[test]
fn the_target_is_teacher_plus_noise() {
    // The correlation of target and teacher is sqrt(1 - noise).
    for noise in [0.0, 0.4, 1.0] {
        let generator = Web { queries: 300, documents: 20, noise, ..Web::default() }.generator().unwrap();
        let (data, targets) = generator.part(0..300).unwrap();
        let teacher: Vec<f64> = data.features().chunks_exact(136).map(|row| generator.teacher.value(row)).collect();
        let moment = |f: &dyn Fn(usize) -> f64| (0..targets.len()).map(f).sum::<f64>() / targets.len() as f64;
        let (a, b) = (moment(&|i| teacher[i]), moment(&|i| targets[i]));
        let spread = |values: &[f64], mean: f64| moment(&|i| (values[i] - mean).powi(2)).sqrt();
        let correlation = moment(&|i| (teacher[i] - a) * (targets[i] - b)) / spread(&teacher, a) / spread(&targets, b);
        assert!((correlation - (1.0 - noise).sqrt()).abs() < 0.08, "{noise}: {correlation}");
        let explained = generator.explained();
        assert!((0.4..0.95).contains(&explained), "{explained}");
    }
}

#[test]
fn parts_equal_the_whole() {
    let rows = small(9).generator().unwrap().dataset().unwrap();
    for generator in [small(8).generator().unwrap(), small(8).generator_like(rows).unwrap()] {
        let (all, targets) = generator.part(0..30).unwrap();
        let (part, part_targets) = generator.part(10..13).unwrap();
        assert_eq!(part, all.select(&[10, 11, 12]));
        assert_eq!(part_targets, targets[all.offsets()[10]..all.offsets()[13]]);
        let (query, view) = (generator.query(29), all.query(29));
        assert_eq!((view.id, &*view.features, view.labels), (&*query.id, &*query.features, &*query.labels));
        assert_ne!(generator.query(0).features, generator.query(1).features);
    }
}

#[test]
fn data_depends_on_seed_and_teacher_and_not_on_the_threads() {
    let run = |teacher, seed, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Web { teacher, ..small(seed) }.generator().unwrap().dataset().unwrap())
    };
    let first = run(1, 4, 1);
    assert_eq!(first, run(1, 4, 3));
    assert_ne!(first.features(), run(1, 5, 1).features());
    let other = run(2, 4, 1);
    assert_eq!(first.features(), other.features());
    assert_ne!(first.labels(), other.labels());
}

#[test]
fn invalid_settings_are_rejected() {
    let assert_error = |web: Web, text: &str| {
        let message = web.generator().map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
    };
    assert_error(Web { queries: 0, ..Web::default() }, "at least one query");
    assert_error(Web { documents: 0, ..Web::default() }, "at least one document");
    assert_error(Web { documents: usize::MAX, ..Web::default() }, "at most");
    assert_error(Web { noise: 1.5, ..Web::default() }, "from 0 to 1");
    assert_error(Web { noise: f64::NAN, ..Web::default() }, "from 0 to 1");
    let endless = Web { queries: usize::MAX, ..Web::default() }.generator().unwrap();
    assert!(endless.dataset().unwrap_err().to_string().contains("generate fewer documents"));
    assert!(!endless.query(usize::MAX).labels.is_empty());
    let rows = |labels: Vec<f32>| Dataset::new(1, vec![1.0, 2.0], labels, vec![("a".into(), 2)]).unwrap();
    assert!(small(1).generator_like(rows(vec![3.0, 3.0])).unwrap_err().to_string().contains("nothing can be learned"));
    assert!(small(1).generator_like(rows(vec![0.0, 1.0])).is_ok());
    let none = Dataset::new(1, vec![], vec![], vec![]).unwrap();
    assert!(small(1).generator_like(none).unwrap_err().to_string().contains("no rows"));
}

#[test]
fn settings_round_trip() {
    let text = serde_json::to_string(&Web::default()).unwrap();
    assert_eq!(serde_json::from_str::<Web>(&text).unwrap(), Web::default());
}
