//! Differences of two systems, query by query.

use super::{Area, FONT, HEIGHT, LETTERS, clipped, decimal, draw, failed, legend_of, palette, room, svg, whole};
use crate::cli::prose::signed;
use burnrank::Comparison;
use burnrank::analysis::significance::Better;
use plotters::chart::SeriesLabelPosition;
use plotters::prelude::*;
use std::path::Path;

/// The differences of each comparison, sorted, one panel each.
pub fn differences(path: &Path, comparisons: &[Comparison]) -> anyhow::Result<()> {
    draw(path, comparisons.len(), HEIGHT, |index, area| panel(area, &comparisons[index], [16, 13]))
}

/// The same for one comparison, as a picture of a size.
pub fn difference(found: &Comparison, size: (u32, u32)) -> anyhow::Result<String> {
    svg(size, |sheet| panel(sheet, found, LETTERS))
}

/// The height of the names of three series, in letters.
const NAMES: u32 = 5;
/// Where the names begin, as a share of the width.
const BEGIN: f64 = 0.4;

/// How high an axis that starts at `start` must reach, for names in the upper share of it to hide neither bars nor the mean.
fn clear_of(sorted: &[f64], mean: f64, start: f64, share: f64) -> f64 {
    let first = sorted.get((BEGIN * sorted.len() as f64) as usize).copied().unwrap_or(0.0);
    let highest = first.max(mean).max(0.0);
    start + (highest - start) / (1.0 - share)
}

fn panel(area: &Area, found: &Comparison, [title_size, size]: [u32; 2]) -> anyhow::Result<()> {
    let mut sorted = found.differences.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    // The measure is the name of the axis.
    let title = format!("{} less {}", found.system, found.baseline);
    let (width, height) = area.dim_in_pixel();
    let mut y = room(sorted.iter().copied().chain([0.0]));
    let names = f64::from(NAMES * size) / f64::from(height.saturating_sub(3 * size + 2 * title_size + 24).max(1));
    y.end = y.end.max(clear_of(&sorted, found.difference, y.start, names.min(0.6)));
    let name_value = decimal(&y);
    let end = sorted.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .caption(clipped(&title, (1.7 * f64::from(width / title_size)) as usize), (FONT, title_size))
        .margin(12)
        .x_label_area_size(3 * size)
        .y_label_area_size(5 * size)
        .build_cartesian_2d(0.0..end, y)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(palette::GRID)
        .label_style((FONT, size))
        .x_labels(6)
        .x_label_formatter(&whole)
        .y_label_formatter(&name_value)
        .x_desc("queries, sorted")
        .y_desc(format!("difference of {}", found.measure))
        .draw()
        .map_err(failed)?;
    let is_better = |value: f64| (value > 0.0) == (found.options.better == Better::Higher);
    for (better, colour, name) in [
        (true, palette::BLUE, format!("{} better", found.wins)),
        (false, palette::VERMILION, format!("{} worse, {} equal", found.losses, found.ties)),
    ] {
        let bars = sorted.iter().enumerate().filter(|(_, value)| **value != 0.0 && is_better(**value) == better);
        let bar = |(place, &value): (usize, &f64)| {
            Rectangle::new([(place as f64, 0.0), (place as f64 + 1.0, value)], colour.filled())
        };
        chart
            .draw_series(bars.map(bar))
            .map_err(failed)?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 20, y + 5)], colour.filled()));
    }
    chart.draw_series(LineSeries::new([(0.0, 0.0), (end, 0.0)], BLACK.stroke_width(1))).map_err(failed)?;
    let mean = [(0.0, found.difference), (end, found.difference)];
    chart
        .draw_series(DashedLineSeries::new(mean, 6, 4, BLACK.stroke_width(2)))
        .map_err(failed)?
        .label(format!("mean {}", signed(found.difference, 4)))
        .legend(|(x, y)| {
            EmptyElement::at((x, y))
                + PathElement::new([(0, 0), (8, 0)], BLACK.stroke_width(2))
                + PathElement::new([(12, 0), (20, 0)], BLACK.stroke_width(2))
        });
    // Sorted bars leave the upper right free, and there is room above them.
    legend_of(&mut chart, SeriesLabelPosition::UpperRight, size)
}

#[cfg(test)]
mod tests {
    use super::clear_of;

    #[test]
    fn names_hide_nothing() {
        let sorted: Vec<f64> = (0..10).rev().map(f64::from).collect();
        // Bars from the fifth on are 5 high at most: half of an axis of 10 stays free above them.
        assert_eq!(clear_of(&sorted, 4.5, 0.0, 0.5), 10.0);
        assert_eq!(clear_of(&sorted, 8.0, 0.0, 0.5), 16.0, "the mean");
        assert_eq!(clear_of(&[-1.0, -2.0], -1.5, -2.0, 0.5), 2.0, "all worse");
    }
}
