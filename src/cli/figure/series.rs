//! Several series in one small figure, told apart by colour, mark and dashes.

use super::{FONT, LETTERS, LOW, NARROW, clipped, decimal, failed, figure, legend_of, palette, svg, whole};
use plotters::chart::SeriesLabelPosition;
use plotters::prelude::*;

/// One series.
pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// Of how many points one is marked; 0 marks none.
    pub marks: usize,
    /// Whether the line is broken.
    pub dashed: bool,
    /// A point that stands out.
    pub best: Option<(f64, f64)>,
}

/// Where the names of series stand, at the lower right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Legend {
    /// Below all series, in room of its own.
    Below,
    /// Where series leave room.
    Inside,
}

/// Draws series and their names.
pub fn lines(
    title: &str,
    (x_name, y_name): (&str, &str),
    curves: &[Curve],
    place_of_names: Legend,
    x_is_whole: bool,
) -> anyhow::Result<String> {
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let x = figure::room(all().map(|point| point.0), 0.04);
    let mut y = figure::room(all().map(|point| point.1), 0.08);
    if place_of_names == Legend::Below {
        y.start -= (0.18 + 0.14 * curves.len() as f64).min(0.8) * (y.end - y.start);
    }
    let decimals = decimal(&x);
    let name_x = |value: &f64| if x_is_whole { whole(value) } else { decimals(value) };
    let name_y = decimal(&y);
    svg((NARROW, LOW), |sheet| {
        let mut chart = ChartBuilder::on(sheet)
            .caption(clipped(title, 36), (FONT, LETTERS[0]))
            .margin(10)
            .x_label_area_size(52)
            .y_label_area_size(80)
            .build_cartesian_2d(x, y)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(palette::GRID)
            .label_style((FONT, LETTERS[1]))
            .x_labels(6)
            .y_labels(5)
            .x_label_formatter(&name_x)
            .y_label_formatter(&name_y)
            .x_desc(x_name)
            .y_desc(y_name)
            .draw()
            .map_err(failed)?;
        for (place, curve) in curves.iter().enumerate() {
            let colour = palette::SERIES[place % palette::SERIES.len()];
            let dashed = curve.dashed;
            let drawn = match dashed {
                true => chart.draw_series(DashedLineSeries::new(curve.points.clone(), 6, 4, colour.stroke_width(2))),
                false => chart.draw_series(LineSeries::new(curve.points.clone(), colour.stroke_width(2))),
            };
            let marked = curve.marks > 0;
            drawn.map_err(failed)?.label(clipped(&curve.name, 20)).legend(move |(x, y)| {
                let ends = if dashed { [8, 12] } else { [10, 10] };
                EmptyElement::at((x, y))
                    + PathElement::new([(0, 0), (ends[0], 0)], colour.stroke_width(2))
                    + PathElement::new([(ends[1], 0), (20, 0)], colour.stroke_width(2))
                    + Polygon::new(mark(place, 10, marked), colour)
            });
            let marks = curve.points.iter().step_by(curve.marks.max(1)).filter(|_| marked);
            let marks = marks.map(|&at| EmptyElement::at(at) + Polygon::new(mark(place, 0, true), colour));
            chart.draw_series(marks).map_err(failed)?;
            if let Some(at) = curve.best {
                let ring = Circle::new(at, 7, palette::VERMILION.stroke_width(2));
                chart.draw_series([ring]).map_err(failed)?;
            }
        }
        if curves.len() > 1 {
            legend_of(&mut chart, SeriesLabelPosition::LowerRight, LETTERS[1])?;
        }
        Ok(())
    })
}

/// The outline of a mark around a point, which is so far to the right; another one for each series.
fn mark(place: usize, right: i32, shown: bool) -> Vec<(i32, i32)> {
    let outline: &[(i32, i32)] = match place % palette::SERIES.len() {
        _ if !shown => &[(0, 0), (0, 0), (0, 0)],
        // A circle, as far as pixels go.
        0 => &[(-4, -2), (-2, -4), (2, -4), (4, -2), (4, 2), (2, 4), (-2, 4), (-4, 2)],
        1 => &[(0, -5), (5, 4), (-5, 4)],
        2 => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
        3 => &[(0, -6), (5, 0), (0, 6), (-5, 0)],
        4 => &[(0, 5), (5, -4), (-5, -4)],
        _ => &[
            (-5, -2),
            (-2, -2),
            (-2, -5),
            (2, -5),
            (2, -2),
            (5, -2),
            (5, 2),
            (2, 2),
            (2, 5),
            (-2, 5),
            (-2, 2),
            (-5, 2),
        ],
    };
    outline.iter().map(|(x, y)| (x + right, *y)).collect()
}
