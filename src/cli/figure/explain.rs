//! Small figures that explain a model: feature importance, partial dependence, contributions to scores.

use super::{
    Chart, Curve, FONT, FONT_SIZES, Output, clipped, decimal, difference, failed, figure, lines, palette, svg, whole,
};
use burnrank::analysis::explain::{Axis, Change, Dependence, Explanation};
use burnrank::internal::text::shorten;
use plotters::prelude::*;
use std::ops::Range;
use std::path::Path;

/// Width of small figures, for several per row and one on a phone.
pub const NARROW: u32 = 440;
/// Height of small charts.
pub const LOW: u32 = 300;
/// Height of small charts with two rows of names below.
pub const HIGH: u32 = LOW + 57;
/// Maximum number of characters of a name.
const NAME_WIDTH: usize = 17;

/// Whether [`explanation`] may write a file with this name.
pub fn is_explanation_file(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".svg") else { return false };
    let kind = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    ["importance", "queries"].contains(&stem) || (kind != stem && ["dependence-", "won-", "lost-"].contains(&kind))
}

/// Writes all figures of an explanation into a folder.
pub fn explanation((folder, force): (&Path, bool), explanation: &Explanation, top: usize) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| burnrank::Error::io(folder, "create", error))?;
    let write = |name: String, text: String| Output::new(&folder.join(name), "--figures", force)?.write_text(&text);
    write("importance.svg".into(), importance(explanation, top)?)?;
    for (place, dependence) in explanation.dependences.iter().enumerate() {
        write(format!("dependence-{}.svg", place + 1), self::dependence(explanation, dependence)?)?;
    }
    write("queries.svg".into(), difference(&explanation.comparison, (NARROW, HIGH))?)?;
    for (word, changes) in [("won", &explanation.changes.won), ("lost", &explanation.changes.lost)] {
        for (place, change) in changes.iter().enumerate() {
            if let Some(pair) = &change.change {
                write(format!("{word}-{}.svg", place + 1), contributions(explanation, &change.query, pair)?)?;
            }
        }
    }
    Ok(())
}

/// The change of the metric when each of the `top` features is permuted: a filled dot if significant, else a ring.
pub fn importance(explanation: &Explanation, top: usize) -> anyhow::Result<String> {
    let shown: Vec<_> = explanation.importances.iter().take(top.clamp(1, 40)).collect();
    let names: Vec<String> = shown.iter().map(|one| explanation.feature_names[one.feature].clone()).collect();
    let ends = |importance: &&burnrank::analysis::explain::Importance| {
        let (low, high) = importance.interval.unwrap_or((importance.decrease, importance.decrease));
        [-low, -high]
    };
    let range = figure::room(shown.iter().flat_map(ends).chain([0.0]), 0.06);
    let title = format!("Change of {} by permutation", explanation.metric);
    rows(&title, &names, range, |chart| {
        let zero = PathElement::new([(0.0, -0.5), (0.0, shown.len() as f64 - 0.5)], palette::GREY.stroke_width(1));
        chart.draw_series([zero]).map_err(failed)?;
        for (place, importance) in shown.iter().enumerate() {
            let y = (shown.len() - 1 - place) as f64;
            let [high, low] = ends(importance);
            let line = PathElement::new([(low, y), (high, y)], palette::BLUE.stroke_width(2));
            chart.draw_series([line]).map_err(failed)?;
            let dot = (-importance.decrease, y);
            // The inside of a ring has the background colour.
            let inside = if importance.helps() { palette::BLUE } else { RGBColor(255, 255, 255) };
            chart.draw_series([Circle::new(dot, 5, inside.filled())]).map_err(failed)?;
            chart.draw_series([Circle::new(dot, 5, palette::BLUE.stroke_width(2))]).map_err(failed)?;
        }
        Ok(())
    })
}

/// The mean score as a function of one feature.
pub fn dependence(explanation: &Explanation, dependence: &Dependence) -> anyhow::Result<String> {
    let name = &explanation.feature_names[dependence.feature];
    let axis = if dependence.axis == Axis::Scaled { "scaled within the query" } else { "value" };
    let points = dependence.values.iter().copied().zip(dependence.scores.iter().copied()).collect();
    let curve = Curve { name: name.clone(), points, marks: 1, dashed: false, best: None };
    lines(name, (axis, "mean score"), &[curve], false)
}

/// The contributions of features to the difference of two scores; positive: in favour of the more relevant document.
pub fn contributions(explanation: &Explanation, query: &str, change: &Change) -> anyhow::Result<String> {
    let mut names: Vec<String> =
        change.contributions.iter().map(|part| explanation.feature_names[part.feature].clone()).collect();
    names.extend(["all others".to_owned(), "sum".to_owned()]);
    let sum = change.contributions.iter().map(|part| part.contribution).sum::<f64>() + change.other_contributions;
    let values: Vec<f64> =
        change.contributions.iter().map(|part| part.contribution).chain([change.other_contributions, sum]).collect();
    let range = figure::room(values.iter().copied().chain([0.0]), 0.06);
    let title = format!("Query {query}: {}", change.better.document);
    rows(&clipped(&title, 40), &names, range, |chart| {
        for (place, &value) in values.iter().enumerate() {
            let y = (values.len() - 1 - place) as f64;
            let colour = if value >= 0.0 { palette::BLUE } else { palette::VERMILION };
            let bar = Rectangle::new([(0.0, y - 0.32), (value, y + 0.32)], colour.filled());
            chart.draw_series([bar]).map_err(failed)?;
        }
        let zero = PathElement::new([(0.0, -0.5), (0.0, values.len() as f64 - 0.5)], palette::GREY.stroke_width(1));
        chart.draw_series([zero]).map_err(failed)?;
        Ok(())
    })
}

/// A chart of rows with names at the left, from top to bottom.
fn rows(
    title: &str,
    names: &[String],
    range: Range<f64>,
    paint: impl FnOnce(&mut Chart<'_, '_>) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    let names = shorten(names, NAME_WIDTH);
    let count = names.len();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as u32;
    let room = 26 + 8 * longest;
    let name_value = decimal(&range);
    let name_row = |at: &f64| match whole(at).parse::<usize>() {
        // No-break spaces keep the name off the axis.
        Ok(row) if row < count => format!("{}\u{a0}\u{a0}", names[count - 1 - row]),
        _ => String::new(),
    };
    svg((NARROW, 100 + 25 * count as u32), |sheet| {
        let mut chart = ChartBuilder::on(sheet)
            .caption(title, (FONT, FONT_SIZES[0]))
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(room)
            .build_cartesian_2d(range, -0.5..count as f64 - 0.5)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(palette::GRID)
            .disable_y_mesh()
            // No ticks between rows.
            .set_tick_mark_size(LabelAreaPosition::Left, 0)
            .label_style((FONT, FONT_SIZES[1]))
            .x_labels(5)
            .y_labels(2 * count + 1)
            .x_label_formatter(&name_value)
            .y_label_formatter(&name_row)
            .draw()
            .map_err(failed)?;
        paint(&mut chart)
    })
}
