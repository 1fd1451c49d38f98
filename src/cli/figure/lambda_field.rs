//! The lambdas of the documents of one query.

use super::{Area, Chart, FONT, Output, decimal, draw, failed, legend, palette, room, whole};
use burnrank::analysis::lambda_field::FieldReport;
use plotters::chart::SeriesLabelPosition;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Maximum number of labels for which the legend lists all.
const MAX_LABELS: usize = 6;

/// Draws one query: a row per document by rank, a dot at its score in the shade of its label, an arrow for its lambda.
pub fn lambda_field(out: &Output, report: &FieldReport) -> anyhow::Result<()> {
    let row = row_height(report.scores.len());
    let height = (row * report.scores.len() as f64) as u32 + 160;
    draw(out, 1, height, |_, area| panel(area, report, row))
}

/// Height of a row in pixels: smaller for many documents, but still distinguishable.
fn row_height(documents: usize) -> f64 {
    (900.0 / documents.max(1) as f64).clamp(6.0, 22.0)
}

fn panel(area: &Area, report: &FieldReport, row: f64) -> anyhow::Result<()> {
    let largest = report.lambdas.iter().fold(0.0, |largest: f64, lambda| largest.max(lambda.abs()));
    let x = room(report.scores.iter().copied());
    // The longest arrow spans a fifth of the figure: lengths of arrows are not in units of the score.
    let scale = if largest > 0.0 { (x.end - x.start) / 5.0 / largest } else { 0.0 };
    let tips = report.scores.iter().zip(&report.lambdas).map(|(score, lambda)| score + scale * lambda);
    let x = room(report.scores.iter().copied().chain(tips));
    let n = report.scores.len() as f64;
    // Rank 1 is at the top.
    let rank = |value: &f64| if (1.0..=n).contains(&-value) { whole(&-value) } else { String::new() };
    let name_score = decimal(&x);
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{}: lambdas of {} documents", report.field, report.scores.len()), (FONT, 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d(x, -n - 1.0..0.0)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(palette::GRID)
        .x_label_formatter(&name_score)
        .y_label_formatter(&rank)
        .y_labels(20)
        .x_desc("score (arrow to the right: the lambda moves the document up)")
        .y_desc("rank")
        .draw()
        .map_err(failed)?;
    let top = report.labels.iter().copied().fold(1.0, f32::max);
    let shade = |label: f32| palette::shade(f64::from(label / top));
    let order = burnrank::metric::order(&report.scores);
    for (place, &document) in order.iter().enumerate() {
        let arrow = Arrow {
            score: report.scores[document],
            reach: scale * report.lambdas[document],
            height: -(place as f64) - 1.0,
            head: scale * largest * 0.06,
        };
        arrow.draw(&mut chart, shade(report.labels[document]), row)?;
        if row >= 12.0 {
            arrow.name(&mut chart, report.labels[document])?;
        }
    }
    for label in named(&report.labels) {
        let colour = shade(label);
        // An empty series adds only a legend entry.
        let none: [Circle<(f64, f64), i32>; 0] = [];
        chart
            .draw_series(none)
            .map_err(failed)?
            .label(format!("label {label}"))
            .legend(move |(x, y)| Circle::new((x + 10, y), 5, colour.filled()));
    }
    // The highest scores are at the top right, so the lower right is empty.
    legend(&mut chart, SeriesLabelPosition::LowerRight)
}

/// The labels of the legend, highest first: all, or the highest, the middle and the lowest.
fn named(labels: &[f32]) -> Vec<f32> {
    let mut all = labels.to_vec();
    all.sort_by(|a, b| b.total_cmp(a));
    all.dedup();
    match all.as_slice() {
        [first, .., last] if all.len() > MAX_LABELS => vec![*first, all[all.len() / 2], *last],
        _ => all,
    }
}

struct Arrow {
    score: f64,
    reach: f64,
    height: f64,
    head: f64,
}

impl Arrow {
    fn draw(&self, chart: &mut Chart<'_, '_>, colour: RGBColor, row: f64) -> anyhow::Result<()> {
        let (tip, width) = (self.score + self.reach, if row >= 12.0 { 2 } else { 1 });
        if self.reach != 0.0 {
            let back = self.reach.signum() * self.head.min(self.reach.abs());
            let shaft = vec![(self.score, self.height), (tip, self.height)];
            let barbs = vec![(tip - back, self.height + 0.3), (tip, self.height), (tip - back, self.height - 0.3)];
            let lines = [shaft, barbs].map(|line| PathElement::new(line, colour.stroke_width(width)));
            chart.draw_series(lines).map_err(failed)?;
        }
        let dot = Circle::new((self.score, self.height), (row / 4.0) as i32 + 1, colour.filled());
        chart.draw_series([dot]).map_err(failed)?;
        Ok(())
    }

    /// Writes the label on the side without the arrow.
    fn name(&self, chart: &mut Chart<'_, '_>, label: f32) -> anyhow::Result<()> {
        let (side, away) = if self.reach > 0.0 { (HPos::Right, -9) } else { (HPos::Left, 9) };
        let style = TextStyle::from((FONT, 12)).pos(Pos::new(side, VPos::Center));
        let text = EmptyElement::at((self.score, self.height)) + Text::new(label.to_string(), (away, 0), style);
        chart.draw_series([text]).map_err(failed)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hundred_documents_have_distinguishable_rows() {
        assert!(row_height(200) >= 6.0 && row_height(10) == 22.0 && row_height(0) == 22.0);
    }

    #[test]
    fn the_legend_is_short() {
        assert_eq!(named(&[0.0, 2.0, 0.0, 1.0]), [2.0, 1.0, 0.0]);
        assert_eq!(named(&(0..50).map(|label| label as f32).collect::<Vec<_>>()), [49.0, 24.0, 0.0]);
        assert!(named(&[]).is_empty());
    }
}
