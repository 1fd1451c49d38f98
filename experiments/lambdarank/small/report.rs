//! Report: tables and figure.

use super::{Cell, CellResult, DEEP, DEPTHS, Data, FOLDS, MARGIN, Pool, Sizes, Split};
use crate::harness::figure::{self, Panel};
use crate::harness::real::WHERE;
use crate::harness::trainings::{self, Went};
use crate::harness::units::{less, mean};
use crate::harness::{Evidence, NetShape, Report, Spread};
use crate::lambdarank::schedule::{FROZEN, METHODS, Method, NETS, STALLED, method_series};
use burnrank::internal::text::{Table, signed};
use burnrank::metric::Summary;

/// All cells with their results.
pub struct Runs(pub Vec<(Cell, CellResult)>);

impl Runs {
    /// Values of the test queries, by fold.
    fn folds(&self, data: Data, method: Method, net: NetShape, depth: usize) -> Vec<&[f64]> {
        let chosen = self.0.iter().filter(|(cell, _)| cell.data == data && cell.method == method && cell.net == net);
        chosen.map(|(_, result)| result.test[depth - 1].values()).collect()
    }

    /// Mean of each fold.
    fn by_fold(&self, data: Data, method: Method, net: NetShape, depth: usize) -> Vec<f64> {
        self.folds(data, method, net, depth).into_iter().map(mean).collect()
    }

    /// Mean over all test queries, and half of its 95% interval over queries.
    fn over_queries(&self, data: Data, method: Method, net: NetShape, depth: usize) -> (f64, f64) {
        let all: Vec<Option<f64>> = self.folds(data, method, net, depth).concat().into_iter().map(Some).collect();
        let summary = Summary::of(&all);
        (summary.mean, 1.96 * summary.standard_error)
    }

    /// LambdaRank minus RankNet in one sample, mean over folds and depths.
    fn gap(&self, data: Data, net: NetShape) -> f64 {
        let of = |method| mean(&DEPTHS.map(|depth| mean(&self.by_fold(data, method, net, depth))).collect::<Vec<_>>());
        of(Method::LambdaRank) - of(Method::RankNet)
    }

    /// Returns whether the 95% intervals of both methods overlap at all depths.
    fn intervals_overlap(&self, data: Data, net: NetShape) -> bool {
        DEPTHS.into_iter().all(|depth| {
            let [first, second] = METHODS.map(|method| self.over_queries(data, method, net, depth));
            (first.0 - second.0).abs() <= first.1 + second.1
        })
    }

    /// Standard deviation of NDCG@10 over folds, mean of both methods, linear nets.
    fn spread(&self, data: Data) -> f64 {
        let of =
            |method| Spread::of(&self.by_fold(data, method, NetShape::Linear, 10)).map_or(f64::NAN, |spread| spread.sd);
        mean(&METHODS.map(of))
    }
}

pub fn report(sizes: &Sizes, pool: &Pool, runs: &Runs) -> anyhow::Result<Report> {
    let samples: Vec<Data> =
        (0..pool.samples.len()).map(|sample| Data::Sample(sample, Split::LargeValidation)).collect();
    let small = |number: usize| Data::Sample(number, Split::SmallValidation);
    let gaps = |net| samples.iter().map(|&sample| runs.gap(sample, net)).collect::<Vec<f64>>();
    let whole = |method, net, depth| runs.by_fold(Data::Whole, method, net, depth);
    let gap = |net, depth| less(&whole(Method::LambdaRank, net, depth), &whole(Method::RankNet, net, depth));
    let overlapping = |net| {
        let count = samples.iter().filter(|&&sample| runs.intervals_overlap(sample, net)).count();
        Evidence::fact(2 * count > samples.len(), format!("in {count} of {} samples", samples.len()))
    };
    let closer = gaps(NetShape::Linear)
        .iter()
        .zip(gaps(NetShape::TwoLayer))
        .map(|(linear, deep)| linear.abs() - deep.abs())
        .collect::<Vec<_>>();
    let variance: Vec<f64> =
        samples.iter().enumerate().map(|(number, &sample)| runs.spread(small(number)) - runs.spread(sample)).collect();
    let deep = |method, net| {
        let depths: Vec<Vec<f64>> = DEEP.map(|depth| whole(method, net, depth)).collect();
        (0..pool.folds.len())
            .map(|fold| mean(&depths.iter().map(|values| values[fold]).collect::<Vec<_>>()))
            .collect::<Vec<f64>>()
    };
    let alike = less(&deep(Method::LambdaRank, NetShape::Linear), &deep(Method::RankNet, NetShape::TwoLayer));
    let mut evidence: Vec<(String, Evidence)> = vec![
        ("linear above".into(), Evidence::units(gaps(NetShape::Linear))),
        ("linear overlap".into(), overlapping(NetShape::Linear)),
        ("closer".into(), Evidence::units(closer)),
        ("variance".into(), Evidence::units(variance)),
        ("large linear".into(), Evidence::units(gap(NetShape::Linear, 10))),
        ("large two-layer".into(), Evidence::units(gap(NetShape::TwoLayer, 10))),
        ("alike".into(), Evidence::units(alike.clone())),
        ("two-layer overlap".into(), overlapping(NetShape::TwoLayer)),
        ("large top".into(), Evidence::units(gap(NetShape::Linear, 1))),
    ];
    let mut notes = vec![];
    if !pool.is_real {
        evidence.iter_mut().for_each(|(_, evidence)| *evidence = Evidence::missing("needs MQ2007 (--data)"));
        notes.push(
            "Without real data nothing is tested; the numbers are of a few artificial queries that check the program."
                .into(),
        );
    }
    Ok(Report {
        evidence,
        main: if !pool.is_real {
            "nothing is tested without real data".into()
        } else {
            format!(
                "400 queries, LambdaRank minus RankNet: linear {}, two-layer {}; {}: linear LambdaRank minus two-layer \
                 RankNet {}",
                signed(mean(&gaps(NetShape::Linear)), 4),
                signed(mean(&gaps(NetShape::TwoLayer)), 4),
                pool.name,
                signed(mean(&alike), 4)
            )
        },
        tables: [sample_table(runs, &samples), spread_table(runs, &samples), whole_table(pool, runs)]
            .into_iter()
            .chain(limits_table(sizes, runs))
            .collect(),
        notes,
        protocol: protocol_text(sizes, pool),
        deviations: deviations(pool),
        figure: figure::draw(&panels(pool, runs, &samples))?,
        bring: Some(WHERE.into()),
        other_data: true,
        ..Report::default()
    })
}

fn columns(first: &str) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(DEPTHS.map(|depth| format!("@{depth}"))).collect()
}

fn sample_table(runs: &Runs, samples: &[Data]) -> Table {
    let title =
        "Samples, split 2+2+1: mean NDCG of all test queries ± half of the 95% interval over queries, as in the paper:";
    let mut table = Table::titled(title, &columns("sample, net, method"));
    for (number, &sample) in samples.iter().enumerate() {
        for net in NETS {
            for method in METHODS {
                let cells = DEPTHS.map(|depth| {
                    let (mean, half) = runs.over_queries(sample, method, net, depth);
                    format!("{mean:.3} ± {half:.3}")
                });
                table.row(std::iter::once(format!("{}, {}, {method:?}", number + 1, net.name())).chain(cells));
            }
        }
    }
    table
}

fn spread_table(runs: &Runs, samples: &[Data]) -> Table {
    let title = "Linear nets: standard deviation over folds of test NDCG@10, mean of both methods:";
    let mut table = Table::titled(title, &["sample", "2+2+1", "3+1+1"]);
    for (number, &sample) in samples.iter().enumerate() {
        let other = runs.spread(Data::Sample(number, Split::SmallValidation));
        table.row([(number + 1).to_string(), format!("{:.4}", runs.spread(sample)), format!("{other:.4}")]);
    }
    table
}

fn whole_table(pool: &Pool, runs: &Runs) -> Table {
    let title = format!("{}: mean NDCG over folds ± standard deviation over folds:", pool.name);
    let mut table = Table::titled(title, &columns("net, method"));
    for net in NETS {
        for method in METHODS {
            let cells = DEPTHS.map(|depth| {
                let folds = runs.by_fold(Data::Whole, method, net, depth);
                format!("{:.4} ± {:.4}", mean(&folds), Spread::of(&folds).map_or(0.0, |spread| spread.sd))
            });
            table.row(std::iter::once(format!("{}, {method:?}", net.name())).chain(cells));
        }
    }
    table
}

fn limits_table(sizes: &Sizes, runs: &Runs) -> Option<Table> {
    let mut went = vec![];
    for (cell, result) in &runs.0 {
        let (what, allowed) = match cell.data {
            Data::Sample(..) => ("samples", sizes.epochs),
            Data::Whole => ("largest set", sizes.whole_epochs),
        };
        let name = format!("{what}, {:?}, {}", cell.method, cell.net.name());
        let seeds = result.best_epochs.iter().enumerate();
        went.extend(seeds.map(|(seed, &best)| {
            Went::new(&name, best, allowed).tuned(result.learning_rate, &result.trials, seed == 0)
        }));
    }
    (!went.is_empty()).then(|| trainings::table(&went))
}

fn panels(pool: &Pool, runs: &Runs, samples: &[Data]) -> [Panel; 2] {
    let ticks: Vec<(f64, String)> = DEPTHS.map(|depth| (depth as f64, depth.to_string())).collect();
    let panel = |title: String, value: &dyn Fn(Method, NetShape, usize) -> f64| Panel {
        title,
        x_label: "NDCG truncation level".into(),
        y_label: "mean NDCG of test queries".into(),
        ticks: ticks.clone(),
        series: method_series(DEPTHS, value),
        ..Panel::default()
    };
    let sampled = |method, net, depth| {
        mean(&samples.iter().map(|&sample| runs.over_queries(sample, method, net, depth).0).collect::<Vec<_>>())
    };
    let whole = |method, net, depth| mean(&runs.by_fold(Data::Whole, method, net, depth));
    let size = pool.samples.first().map_or(0, Vec::len);
    [
        panel(format!("{} samples of {size} queries, 2+2+1", samples.len()), &sampled),
        panel(format!("{}, {} folds", pool.name, pool.folds.len()), &whole),
    ]
}

fn protocol_text(sizes: &Sizes, pool: &Pool) -> Vec<String> {
    let whole: usize = pool.folds.first().map_or(0, |fold| fold.iter().map(burnrank::Dataset::n_queries).sum());
    vec![
        format!(
            "Small: {} samples of {} queries of {} ({whole} queries), drawn at random, without overlap. Each sample is \
             split at random into five parts; each part is the test part once. 2+2+1: two parts for training, two for \
             validation. 3+1+1: three for training, one for validation. {} seeds.",
            pool.samples.len(),
            sizes.queries,
            pool.name,
            sizes.seeds[0]
        ),
        format!("Large: {} in its {} published folds, {} seeds.", pool.name, pool.folds.len(), sizes.seeds[1]),
        format!(
            "Training: RankNet and LambdaRank (NDCG over the whole list), linear nets and two-layer nets of ten tanh \
             units; features scaled to 0 to 1 within each query; plain gradient descent, one update per query; the \
             learning rate is multiplied by 0.8 when the training cost rises; {} epochs ({} on the large set), with \
             restarts from new random weights after {STALLED} epochs without a lower training cost or once the learning \
             rate is below {FROZEN} of the initial one. The epoch with the best validation NDCG@10 is evaluated. \
             Learning rate: five values in steps of about 3, extended while the best is at an end; the best on \
             validation queries after {} epochs ({} on the large set).",
            sizes.epochs, sizes.whole_epochs, sizes.search_epochs, sizes.whole_search
        ),
        format!(
            "We interpret \"on top of\" as at most {MARGIN} NDCG below, half the distance between ticks of the paper's Figure 3. \
             The {FOLDS} test parts of a sample are disjoint but their training parts are not, so a sample is one unit."
        ),
    ]
}

fn deviations(pool: &Pool) -> Vec<String> {
    vec![
        format!(
            "The paper's intranet and web data are not available: orderings on other data ({}), with labels 0 to 2 and \
             fewer documents and features.",
            pool.name
        ),
        "Only one learning rate is trained at full length; the paper trained all.".into(),
    ]
}
