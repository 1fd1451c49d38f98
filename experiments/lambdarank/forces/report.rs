//! What was found about all objectives.

use super::{
    ANCHORED, DOCUMENTS, EQ9, Found, LENGTHS, LOCAL, Linear, Point, RANGES, ROUNDING, SHOWN, WINNERS, errors, examine,
};
use crate::harness::figure::{self, Figure, Legend, Panel, Series, Whose};
use crate::harness::{Evidence, Report};
use burnrank::internal::text::{Table, three_digits};

pub fn report(seed: u64, all: &[(&str, &Found)], points: &[Point]) -> anyhow::Result<Report> {
    let mut evidence: Vec<(String, Evidence)> = vec![];
    let mut given = |id: &str, holds: bool, ours: String| evidence.push((id.into(), Evidence::fact(holds, ours)));
    let mut example = Table::titled(
        "Two relevant documents among n:",
        &["n", "errors at 1 and n", "errors at 2 and 3", "fewer by", "cost of winner takes all"],
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
            format!("{top} and then {lost}"),
        ]);
    }
    let lengths = format!("for n of {WINNERS:?}");
    given("wta first", first, if first { format!("n - 2, {lengths}") } else { format!("another number, {lengths}") });
    given("wta then", then, if then { format!("n - 4, {lengths}") } else { format!("another number, {lengths}") });
    given("wta 1000", (fewer - 996.0).abs() < 1e-6, format!("{fewer:.0}"));

    let of = |name: &str| all.iter().find(|(known, _)| *known == name).map(|(_, found)| *found);
    let (Some(ranknet), Some(eq9), Some(local)) = (of("ranknet"), of(EQ9), of(LOCAL)) else {
        anyhow::bail!("an objective has no runs")
    };
    let flat =
        |found: &Found| found.ratios.iter().flatten().map(|ratio| ratio.unwrap_or(f64::NAN)).collect::<Vec<f64>>();
    let span = |ratios: &[f64]| {
        let ends =
            ratios.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &ratio| (low.min(ratio), high.max(ratio)));
        format!("ratio {} to {}", three_digits(ends.0), three_digits(ends.1))
    };
    given("eq 2 ranknet", flat(ranknet).iter().all(|&ratio| ratio < 1.0), span(&flat(ranknet)));
    let times: Vec<f64> = flat(eq9).iter().zip(flat(ranknet)).map(|(lambda, ranknet)| lambda / ranknet).collect();
    given(
        "eq 2 lambda",
        times.iter().all(|&times| times > 1.0),
        format!("{} of RankNet's", span(&times).replace("ratio ", "times ")),
    );
    let large: Vec<f64> =
        local.ratios.iter().flat_map(|ratios| &ratios[2..]).map(|ratio| ratio.unwrap_or(f64::NAN)).collect();
    given("eq 2 local", large.iter().all(|&ratio| ratio > 10.0), span(&large));
    let over = flat(eq9).iter().filter(|&&ratio| ratio > 1.0).count();
    given(
        "eq 2 itself",
        over == times.len(),
        format!("at {over} of {} lengths and ranges; {}", times.len(), span(&flat(eq9))),
    );

    let n = points.len();
    given("eq 5 ranknet", ranknet.convex == n, format!("at {} of {n} points", ranknet.convex));
    given(
        "eq 5 lambda",
        eq9.symmetric == n && eq9.conservative < n,
        format!("symmetric at {} of {n} points, of one cost over ties at {}", eq9.symmetric, eq9.conservative),
    );
    let known: Vec<f64> = all.iter().filter_map(|(_, found)| found.gradient_error).collect();
    let worst = known.iter().copied().fold(0.0, f64::max);
    given("eq 3", worst < ROUNDING, format!("{} objectives, largest difference {worst:.0e}", known.len()));
    let failed = |bad: &dyn Fn(&Found) -> bool| {
        let all = all.iter().filter(|(name, found)| !ANCHORED.contains(name) && bad(found));
        all.map(|(name, _)| *name).collect::<Vec<&str>>()
    };
    let list = |names: &[&str], good: &str| {
        if names.is_empty() { good.to_owned() } else { format!("not: {}", names.join(", ")) }
    };
    let stiff = failed(&|found| found.regularised < found.symmetric);
    given("diagonal", stiff.is_empty(), list(&stiff, &format!("all {} objectives", all.len() - ANCHORED.len())));
    let moving = failed(&|found| found.balanced < n);
    given(
        "sum",
        moving.is_empty(),
        list(&moving, &format!("all {} objectives, at {n} points each", all.len() - ANCHORED.len())),
    );

    let still = examine(
        &Linear { stiffness: vec![0.0; DOCUMENTS * DOCUMENTS], ..Linear::random("constant", seed, |k| k) },
        points,
        false,
    )?;
    given("constant", still.convex == n, format!("at {} of {n} points", still.convex));
    let springs = examine(&Linear::random("springs", seed, f64::abs), points, false)?;
    given("springs", springs.convex == n, format!("at {} of {n} points", springs.convex));
    let any = examine(&Linear::random("springs of any sign", seed, |k| k), points, false)?;
    given(
        "any springs",
        any.conservative == n && any.convex < n,
        format!("conservative at {} of {n} points, convex at {}", any.conservative, any.convex),
    );

    let ours: Vec<(&str, &Found)> = [("constant", &still), ("springs", &springs), ("springs of any sign", &any)].into();
    let shown: Vec<(&str, &Found)> = all.iter().copied().chain(ours).collect();
    Ok(Report {
        evidence,
        main: format!(
            "n = 1000: force at rank 2 over force at rank n is {} for RankNet, {} for Eq. 9",
            three_digits(ranknet.ratios[SHOWN][4].unwrap_or(f64::NAN)),
            three_digits(eq9.ratios[SHOWN][4].unwrap_or(f64::NAN))
        ),
        tables: vec![table(&shown, n), example],
        notes: vec![
            "The paper calls the Jacobian of the lambdas the Hessian of the cost and asks for it to be positive \
             semidefinite. With its own Eq. 3, lambda = -dC/ds, the Hessian is minus that Jacobian: -J must be \
             semidefinite, and the diagonal terms are lambda_j - alpha_j s_j."
                .into(),
            "Whether Eq. 9 itself has the property of Eq. 2 depends on how far scores are apart: every pair that is in \
             the wrong order adds to the force on a document far down, and there are many of them. It comes nearer to \
             it than RankNet at every length and range."
                .into(),
            "Where a document has no force in the example of Eq. 2 at either place, the table has a dash; a ratio of \
             1e12 stands for no force at rank n."
                .into(),
        ],
        protocol: vec![
            format!(
                "Fields: every objective of this program by its shortest name ({} of them), LambdaRank for every \
                 measure. {n} random points of {DOCUMENTS} documents: normal scores, labels 0 to 4. J by central \
                 differences in double precision; ties: every two neighbours are moved across each other.",
                all.len()
            ),
            "Eq. 2: n documents, relevant ones at ranks 2 and n, scores evenly from 0 down to minus the range.".into(),
        ],
        deviations: vec![
            "The paper proves and argues; here its statements are computed at random points, which can \
                          refute but not prove."
                .into(),
        ],
        figure: draw(all)?,
        ..Report::default()
    })
}

fn table(all: &[(&str, &Found)], points: usize) -> Table {
    let title = format!(
        "Of {points} random points, how many have the property; and the force at rank 2 over that at rank 100 (range \
         4):"
    );
    let columns = [
        "lambdas of",
        "J symmetric",
        "one cost, ties too",
        "-J semidefinite",
        "convex",
        "smallest eigenvalue, share",
        "sum 0",
        "made convex by diagonal",
        "rank 2 over rank n",
    ];
    let mut table = Table::titled(title, &columns);
    for (name, found) in all {
        let ratio = found.ratios.get(SHOWN).and_then(|ratios| ratios[2]);
        table.row([
            (*name).to_owned(),
            found.symmetric.to_string(),
            found.conservative.to_string(),
            found.semidefinite.to_string(),
            found.convex.to_string(),
            format!("{:.1e}", found.smallest),
            found.balanced.to_string(),
            format!("{} of {}", found.regularised, found.symmetric),
            ratio.map_or("-".into(), three_digits),
        ]);
    }
    table
}

fn draw(all: &[(&str, &Found)]) -> anyhow::Result<Figure> {
    let panel = |place: usize| {
        let chosen = ["ranknet", EQ9, "lambdarank:map", LOCAL];
        let series = chosen.iter().enumerate().filter_map(|(colour, name)| {
            let (_, found) = all.iter().find(|(known, _)| known == name)?;
            let ratios = LENGTHS.iter().zip(&found.ratios[place]);
            let points =
                ratios.filter_map(|(n, ratio)| Some(((*n as f64).log10(), (*ratio)?.max(1e-12).log10(), None)));
            Some(Series { name: (*name).into(), whose: Whose::Ours, colour, joined: true, points: points.collect() })
        });
        Panel {
            title: format!("Eq. 2: scores within {}", RANGES[place]),
            x_label: "documents".into(),
            y_label: "force at rank 2 over force at rank n".into(),
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
