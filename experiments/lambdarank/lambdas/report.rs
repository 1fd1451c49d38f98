//! Report: tables and figure.

use super::{
    ANCHORED, DOCUMENTS, EQ9, FieldResult, LENGTHS, LOCAL, Linear, Point, RANGES, ROUNDING, SHOWN, WINNERS, errors,
    examine,
};
use crate::harness::figure::{self, Figure, Legend, Panel, Series};
use crate::harness::{Evidence, Report};
use burnrank::internal::text::{Table, three_digits};

pub fn report(seed: u64, all: &[(&str, &FieldResult)], points: &[Point]) -> anyhow::Result<Report> {
    let mut evidence: Vec<(String, Evidence)> = vec![];
    let mut add = |id: &str, holds: bool, ours: String| evidence.push((id.into(), Evidence::fact(holds, ours)));
    let mut example = Table::titled(
        "Two relevant documents among n:",
        &["n", "errors, ranks 1 and n", "errors, ranks 2 and 3", "difference", "WTA cost"],
    );
    let (mut first, mut then) = (true, true);
    let mut fewer = f64::NAN;
    for n in WINNERS {
        let ((before, top), (after, lost)) = (errors(n, [1, n])?, errors(n, [2, 3])?);
        first &= (before - (n - 2) as f64).abs() < 1e-6 && top == 0.0;
        then &= (before - after - (n - 4) as f64).abs() < 1e-6 && lost == 1.0;
        fewer = before - after;
        example.row([
            n.to_string(),
            format!("{before:.0}"),
            format!("{after:.0}"),
            format!("{fewer:.0}"),
            format!("{top}, then {lost}"),
        ]);
    }
    let lengths = format!("for n of {WINNERS:?}");
    add("wta first", first, if first { format!("n - 2, {lengths}") } else { format!("another number, {lengths}") });
    add("wta then", then, if then { format!("n - 4, {lengths}") } else { format!("another number, {lengths}") });
    add("wta 1000", (fewer - 996.0).abs() < 1e-6, format!("{fewer:.0}"));

    let of = |name: &str| all.iter().find(|(known, _)| *known == name).map(|(_, result)| *result);
    let (Some(ranknet), Some(eq9), Some(local)) = (of("ranknet"), of(EQ9), of(LOCAL)) else {
        anyhow::bail!("an objective has no runs")
    };
    let flat = |result: &FieldResult| {
        result.ratios.iter().flatten().map(|ratio| ratio.unwrap_or(f64::NAN)).collect::<Vec<f64>>()
    };
    let span = |ratios: &[f64]| {
        let ends =
            ratios.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &ratio| (low.min(ratio), high.max(ratio)));
        format!("ratio {} to {}", three_digits(ends.0), three_digits(ends.1))
    };
    add("eq 2 ranknet", flat(ranknet).iter().all(|&ratio| ratio < 1.0), span(&flat(ranknet)));
    let times: Vec<f64> = flat(eq9).iter().zip(flat(ranknet)).map(|(lambda, ranknet)| lambda / ranknet).collect();
    add(
        "eq 2 lambda",
        times.iter().all(|&times| times > 1.0),
        format!("{} of RankNet's", span(&times).replace("ratio ", "times ")),
    );
    let large: Vec<f64> =
        local.ratios.iter().flat_map(|ratios| &ratios[2..]).map(|ratio| ratio.unwrap_or(f64::NAN)).collect();
    add("eq 2 local", large.iter().all(|&ratio| ratio > 10.0), span(&large));
    let over = flat(eq9).iter().filter(|&&ratio| ratio > 1.0).count();
    add(
        "eq 2 itself",
        over == times.len(),
        format!("at {over} of {} lengths and ranges; {}", times.len(), span(&flat(eq9))),
    );

    let n = points.len();
    add("eq 5 ranknet", ranknet.convex == n, format!("at {} of {n} points", ranknet.convex));
    add(
        "eq 5 lambda",
        eq9.symmetric == n && eq9.conservative < n,
        format!("symmetric at {} of {n} points, of one cost over ties at {}", eq9.symmetric, eq9.conservative),
    );
    let known: Vec<f64> = all.iter().filter_map(|(_, result)| result.gradient_error).collect();
    let worst = known.iter().copied().fold(0.0, f64::max);
    add("eq 3", worst < ROUNDING, format!("{} objectives, largest difference {worst:.0e}", known.len()));
    let failed = |bad: &dyn Fn(&FieldResult) -> bool| {
        let all = all.iter().filter(|(name, result)| !ANCHORED.contains(name) && bad(result));
        all.map(|(name, _)| *name).collect::<Vec<&str>>()
    };
    let list = |names: &[&str], good: &str| {
        if names.is_empty() { good.to_owned() } else { format!("not: {}", names.join(", ")) }
    };
    let stiff = failed(&|result| result.regularised < result.symmetric);
    add("diagonal", stiff.is_empty(), list(&stiff, &format!("all {} objectives", all.len() - ANCHORED.len())));
    let moving = failed(&|result| result.balanced < n);
    add(
        "sum",
        moving.is_empty(),
        list(&moving, &format!("all {} objectives, at {n} points each", all.len() - ANCHORED.len())),
    );

    let still = examine(
        &Linear { stiffness: vec![0.0; DOCUMENTS * DOCUMENTS], ..Linear::random("constant", seed, |k| k) },
        points,
        false,
    )?;
    add("constant", still.convex == n, format!("at {} of {n} points", still.convex));
    let springs = examine(&Linear::random("springs", seed, f64::abs), points, false)?;
    add("springs", springs.convex == n, format!("at {} of {n} points", springs.convex));
    let any = examine(&Linear::random("springs of any sign", seed, |k| k), points, false)?;
    add(
        "any springs",
        any.conservative == n && any.convex < n,
        format!("conservative at {} of {n} points, convex at {}", any.conservative, any.convex),
    );

    let ours: Vec<(&str, &FieldResult)> =
        [("constant", &still), ("springs", &springs), ("springs of any sign", &any)].into();
    let shown: Vec<(&str, &FieldResult)> = all.iter().copied().chain(ours).collect();
    Ok(Report {
        evidence,
        main: format!(
            "n = 1000: lambda at rank 2 over lambda at rank n is {} for RankNet, {} for Eq. 9",
            three_digits(ranknet.ratios[SHOWN][4].unwrap_or(f64::NAN)),
            three_digits(eq9.ratios[SHOWN][4].unwrap_or(f64::NAN))
        ),
        tables: vec![table(&shown, n), example],
        notes: vec![
            "The paper calls the Jacobian of the lambdas the Hessian of the cost and requires it to be positive \
             semidefinite. By its own Eq. 3, lambda = -dC/ds, the Hessian is minus that Jacobian: -J must be \
             semidefinite, and the diagonal terms are lambda_j - alpha_j s_j."
                .into(),
            "Whether Eq. 9 itself satisfies Eq. 2 depends on the range of scores: each of the many pairs in the wrong \
             order adds to the lambda of a low-ranked document. Its ratio is larger than RankNet's at every length and \
             range."
                .into(),
            "A dash means that both lambdas in the example of Eq. 2 are 0; a ratio of 1e12 means that the lambda at rank \
             n is 0."
                .into(),
        ],
        protocol: vec![
            format!(
                "Fields: {} objectives by their shortest names, with LambdaRank for every metric. {n} random points of \
                 {DOCUMENTS} documents: normal scores, labels 0 to 4. J by central differences in double precision; ties: \
                 all neighbours are swapped.",
                all.len()
            ),
            "Eq. 2: n documents, relevant ones at ranks 2 and n, evenly spaced scores from 0 to minus the range.".into(),
        ],
        deviations: vec![
            "The paper gives proofs and arguments; computations at random points can refute statements but not prove \
             them."
                .into(),
        ],
        figure: draw(all)?,
        ..Report::default()
    })
}

fn table(all: &[(&str, &FieldResult)], points: usize) -> Table {
    let title = format!(
        "Number of points with each property, of {points} random points, and lambda at rank 2 over lambda at rank 100 \
         (range 4):"
    );
    let columns = [
        "lambdas of",
        "J symmetric",
        "one cost across ties",
        "-J semidefinite",
        "convex",
        "smallest eigenvalue, relative",
        "sum is 0",
        "made convex by diagonal",
        "rank 2 over rank n",
    ];
    let mut table = Table::titled(title, &columns);
    for (name, result) in all {
        let ratio = result.ratios.get(SHOWN).and_then(|ratios| ratios[2]);
        table.row([
            (*name).to_owned(),
            result.symmetric.to_string(),
            result.conservative.to_string(),
            result.semidefinite.to_string(),
            result.convex.to_string(),
            format!("{:.1e}", result.smallest),
            result.balanced.to_string(),
            format!("{} of {}", result.regularised, result.symmetric),
            ratio.map_or("-".into(), three_digits),
        ]);
    }
    table
}

fn draw(all: &[(&str, &FieldResult)]) -> anyhow::Result<Figure> {
    let panel = |place: usize| {
        let chosen = ["ranknet", EQ9, "lambdarank:map", LOCAL];
        let series = chosen.iter().enumerate().filter_map(|(colour, name)| {
            let (_, result) = all.iter().find(|(known, _)| known == name)?;
            let ratios = LENGTHS.iter().zip(&result.ratios[place]);
            let points =
                ratios.filter_map(|(n, ratio)| Some(((*n as f64).log10(), (*ratio)?.max(1e-12).log10(), None)));
            Some(Series::ours(*name, colour, points))
        });
        Panel {
            title: format!("Eq. 2: range of scores {}", RANGES[place]),
            x_label: "documents".into(),
            y_label: "lambda at rank 2 over lambda at rank n".into(),
            ticks: LENGTHS.iter().map(|&n| ((n as f64).log10(), n.to_string())).collect(),
            y_ticks: (-4..8).map(|power| (f64::from(power), format!("{}", 10_f64.powi(power)))).collect(),
            series: series.collect(),
            zero: Some(0.0),
            legend: Legend::LowerRight,
            ..Panel::default()
        }
    };
    figure::draw(&[panel(0), panel(1), panel(2)])
}
