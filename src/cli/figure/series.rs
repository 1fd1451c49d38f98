//! Several series in one small figure, distinguished by colour, mark and dashes.

use super::key::{self, Symbol};
use super::{FONT, FONT_SIZES, LOW, NARROW, clipped, decimal, failed, figure, palette, svg, whole};
use plotters::prelude::*;

/// One series.
pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// Every `marks`-th point has a mark; 0: none.
    pub marks: usize,
    pub dashed: bool,
    /// A point to highlight with a ring.
    pub best: Option<(f64, f64)>,
}

/// Draws series, with the legend below.
pub fn lines(
    title: &str,
    (x_name, y_name): (&str, &str),
    curves: &[Curve],
    x_is_whole: bool,
) -> anyhow::Result<String> {
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let x = figure::room(all().map(|point| point.0), 0.04);
    let y = figure::room(all().map(|point| point.1), 0.08);
    let names: Vec<(String, Symbol)> =
        curves.iter().enumerate().map(|(place, curve)| (curve.name.clone(), symbol(place, curve))).collect();
    let below = if curves.len() > 1 { key::height(names.len(), NARROW, FONT_SIZES[1]) } else { 0 };
    let decimals = decimal(&x);
    let name_x = |value: &f64| if x_is_whole { whole(value) } else { decimals(value) };
    let name_y = decimal(&y);
    svg((NARROW, LOW + below), |sheet| {
        let (area, names_area) = sheet.split_vertically(LOW);
        let mut chart = ChartBuilder::on(&area)
            .caption(clipped(title, 36), (FONT, FONT_SIZES[0]))
            .margin(10)
            .x_label_area_size(52)
            .y_label_area_size(80)
            .build_cartesian_2d(x, y)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(palette::GRID)
            .label_style((FONT, FONT_SIZES[1]))
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
            let drawn = match curve.dashed {
                true => chart.draw_series(DashedLineSeries::new(curve.points.clone(), 6, 4, colour.stroke_width(2))),
                false => chart.draw_series(LineSeries::new(curve.points.clone(), colour.stroke_width(2))),
            };
            drawn.map_err(failed)?;
            let marked = curve.marks > 0;
            let marks = curve.points.iter().step_by(curve.marks.max(1)).filter(|_| marked);
            let marks = marks.map(|&at| EmptyElement::at(at) + Polygon::new(outline(place), colour));
            chart.draw_series(marks).map_err(failed)?;
            if let Some(at) = curve.best {
                let ring = Circle::new(at, 7, palette::VERMILION.stroke_width(2));
                chart.draw_series([ring]).map_err(failed)?;
            }
        }
        if below > 0 { key::draw(&names_area, &names, FONT_SIZES[1]) } else { Ok(()) }
    })
}

fn symbol(place: usize, curve: &Curve) -> Symbol {
    let colour = palette::SERIES[place % palette::SERIES.len()];
    Symbol::Line { colour, dashed: curve.dashed, mark: (curve.marks > 0).then_some(place) }
}

/// The outline of the mark of a series, relative to the point, in pixels.
pub(super) fn outline(place: usize) -> Vec<(i32, i32)> {
    let outline: &[(i32, i32)] = match place % palette::SERIES.len() {
        // A circle.
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
    outline.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of an attribute of all elements of a kind.
    fn values(picture: &str, element: &str, attribute: &str) -> Vec<String> {
        let start = format!(" {attribute}=\"");
        let of = |tag: &str| Some(tag.split('>').next()?.split(start.as_str()).nth(1)?.split('"').next()?.to_owned());
        picture.split(&format!("<{element}")).skip(1).filter_map(of).collect()
    }

    #[test]
    fn names_are_below_all_series() {
        for count in 2..=6 {
            let curve = |place: usize| Curve {
                name: format!("name {place}"),
                points: (0..9).map(|x| (f64::from(x), f64::from(x) * place as f64)).collect(),
                marks: 2,
                dashed: place % 2 == 1,
                best: None,
            };
            let curves: Vec<Curve> = (0..count).map(curve).collect();
            let picture = lines("title", ("x", "y"), &curves, true).unwrap();
            for place in 0..count {
                let text = picture.split("<text").find(|text| text.contains(&format!("name {place}\n"))).unwrap();
                let y: u32 = values(&format!("<text{text}"), "text", "y")[0].parse().unwrap();
                assert!(y > LOW, "{text}");
            }
            // The axes of a chart end above the names.
            let height: u32 = values(&picture, "svg", "height")[0].parse().unwrap();
            assert!(height > LOW && values(&picture, "svg", "width")[0] == NARROW.to_string());
        }
    }
}
