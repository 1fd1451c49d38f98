//! Differences of two systems per query.

use super::key::{self, Symbol};
use super::{Area, FONT, FONT_SIZES, HEIGHT, Output, clipped, decimal, draw, failed, palette, room, svg, whole};
use crate::cli::prose::signed;
use burnrank::analysis::significance::Better;
use burnrank::analysis::significance::Comparison;
use plotters::prelude::*;

/// Draws the sorted differences, one panel per comparison.
pub fn differences(out: &Output, comparisons: &[Comparison]) -> anyhow::Result<()> {
    draw(out, comparisons.len(), HEIGHT, |index, area| panel(area, &comparisons[index], [16, 13]))
}

/// The sorted differences of one comparison, as SVG of `size` pixels.
pub fn difference(comparison: &Comparison, size: (u32, u32)) -> anyhow::Result<String> {
    svg(size, |sheet| panel(sheet, comparison, FONT_SIZES))
}

fn panel(area: &Area, comparison: &Comparison, [title_size, size]: [u32; 2]) -> anyhow::Result<()> {
    let mut sorted = comparison.differences.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let title = format!("{} minus {}", comparison.system, comparison.baseline);
    let Comparison { wins, losses, ties, difference: mean, .. } = comparison;
    let names = [
        (format!("{wins} better"), Symbol::Box(palette::BLUE)),
        (format!("{losses} worse, {ties} equal"), Symbol::Box(palette::VERMILION)),
        (format!("mean {}", signed(*mean, 4)), Symbol::Line { colour: BLACK, dashed: true, mark: None }),
    ];
    let (width, height) = area.dim_in_pixel();
    let (area, below) = area.split_vertically(height.saturating_sub(key::height(names.len(), width, size)));
    let y = room(sorted.iter().copied().chain([0.0]));
    let name_value = decimal(&y);
    let end = sorted.len() as f64;
    let mut chart = ChartBuilder::on(&area)
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
        .y_desc(format!("difference of {}", comparison.metric))
        .draw()
        .map_err(failed)?;
    let is_better = |value: f64| (value > 0.0) == (comparison.options.better == Better::Higher);
    for (better, colour) in [(true, palette::BLUE), (false, palette::VERMILION)] {
        let bars = sorted.iter().enumerate().filter(|(_, value)| **value != 0.0 && is_better(**value) == better);
        let bar = |(place, &value): (usize, &f64)| {
            Rectangle::new([(place as f64, 0.0), (place as f64 + 1.0, value)], colour.filled())
        };
        chart.draw_series(bars.map(bar)).map_err(failed)?;
    }
    chart.draw_series(LineSeries::new([(0.0, 0.0), (end, 0.0)], BLACK.stroke_width(1))).map_err(failed)?;
    let mean = [(0.0, *mean), (end, *mean)];
    chart.draw_series(DashedLineSeries::new(mean, 6, 4, BLACK.stroke_width(2))).map_err(failed)?;
    key::draw(&below, &names, size)
}
