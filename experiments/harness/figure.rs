//! Figures: panels in a row; the paper's points hollow and dashed, ours filled with error bars.

use super::Spread;
use burnrank::internal::program::figure::{Area, FONT, decimal, failed, legend, room, svg};
use burnrank::internal::program::palette;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::ops::Range;

/// Source of a series' numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    Ours,
    Paper,
}

/// Position and value of a point, with the interval of the value if there is one.
pub type Point = (f64, f64, Option<(f64, f64)>);

/// A series of points.
#[derive(Debug, Clone)]
pub struct Series {
    pub name: String,
    pub whose: Whose,
    /// Colour index; series of the same colour belong together.
    pub colour: usize,
    /// Whether points are joined by a line.
    pub joined: bool,
    /// Position, value, and the ends of the interval if there is one.
    pub points: Vec<Point>,
}

/// Mean of the units with its 95% interval.
pub fn mean_point(place: f64, units: &[f64]) -> Point {
    match Spread::of(units) {
        Some(spread) => (place, spread.mean, Some((spread.mean - spread.half, spread.mean + spread.half))),
        None => (place, units.first().copied().unwrap_or(f64::NAN), None),
    }
}

/// Ticks at 0, 1, 2 and so on.
pub fn numbered<T: ToString>(names: impl IntoIterator<Item = T>) -> Vec<(f64, String)> {
    names.into_iter().enumerate().map(|(place, name)| (place as f64, name.to_string())).collect()
}

impl Series {
    /// Our points, joined.
    pub fn ours(name: impl Into<String>, colour: usize, points: impl IntoIterator<Item = Point>) -> Series {
        let points = points.into_iter().collect();
        Series { name: name.into(), whose: Whose::Ours, colour, joined: true, points }
    }

    /// The paper's points, joined.
    pub fn papers(name: impl Into<String>, colour: usize, points: impl IntoIterator<Item = Point>) -> Series {
        Series { whose: Whose::Paper, ..Series::ours(name, colour, points) }
    }

    /// The same points without a line.
    pub fn unjoined(self) -> Series {
        Series { joined: false, ..self }
    }

    /// A line through our points, without intervals.
    pub fn line(name: impl Into<String>, colour: usize, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series::ours(name, colour, points.into_iter().map(|(x, y)| (x, y, None)))
    }
}

/// Position of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Legend {
    #[default]
    LowerRight,
    MiddleRight,
}

/// One panel with its axes.
#[derive(Debug, Clone, Default)]
pub struct Panel {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    /// Tick positions of the horizontal axis and their labels.
    pub ticks: Vec<(f64, String)>,
    /// Tick positions of the vertical axis and their labels; `None` for round numbers.
    pub y_ticks: Vec<(f64, String)>,
    pub series: Vec<Series>,
    /// A horizontal reference line.
    pub zero: Option<f64>,
    /// Meaning of the error bars; `None` for 95% intervals of a mean over the units.
    pub bars: &'static str,
    pub legend: Legend,
}

/// A figure and its description.
#[derive(Debug, Clone, Default)]
pub struct Figure {
    pub svg: String,
    pub caption: String,
}

const PANEL: (u32, u32) = (560, 440);

/// All panels in a row.
pub fn draw(panels: &[Panel]) -> anyhow::Result<Figure> {
    let size = (PANEL.0 * panels.len().max(1) as u32, PANEL.1);
    let text = svg(size, |sheet| {
        let areas = sheet.split_evenly((1, panels.len().max(1)));
        areas.iter().zip(panels).try_for_each(|(area, panel)| draw_panel(area, panel))
    })?;
    Ok(Figure { svg: text + "\n", caption: caption(panels) })
}

/// Caption: title and axes of each panel, and the meaning of marks and error bars.
fn caption(panels: &[Panel]) -> String {
    let shown = |(place, panel): (usize, &Panel)| {
        let Panel { title, x_label, y_label, .. } = panel;
        format!("{}\"{title}\": {y_label} (upwards) by {x_label} (across).", side(place, panels.len()))
    };
    let mut sentences: Vec<String> = panels.iter().enumerate().map(shown).collect();
    if panels.iter().flat_map(|panel| &panel.series).any(|series| series.whose == Whose::Paper) {
        sentences.push("Filled marks were found here; hollow ones are the paper's, or what their name says.".into());
    }
    let mut bars: Vec<&str> = vec![];
    for panel in panels.iter().filter(|panel| panel.has_bars()) {
        let what = if panel.bars.is_empty() { "95% intervals of the mean over the units" } else { panel.bars };
        if !bars.contains(&what) {
            bars.push(what);
        }
    }
    if !bars.is_empty() {
        sentences.push(format!("Vertical bars: {}.", bars.join("; ")));
    }
    sentences.join(" ")
}

/// Position of the panel, as the start of its caption.
pub fn side(place: usize, panels: usize) -> &'static str {
    match (place, panels) {
        (_, 1) => "",
        (0, 2 | 3) => "Left, ",
        (1, 3) => "Middle, ",
        (_, 2 | 3) => "Right, ",
        (0, _) => "First, ",
        (1, _) => "Second, ",
        (2, _) => "Third, ",
        (3, _) => "Fourth, ",
        _ => "Then, ",
    }
}

impl Panel {
    fn has_bars(&self) -> bool {
        self.series.iter().flat_map(|series| &series.points).any(|point| point.2.is_some())
    }
}

fn draw_panel(area: &Area, panel: &Panel) -> anyhow::Result<()> {
    let places: Vec<f64> = panel.ticks.iter().map(|(place, _)| *place).collect();
    let Range { start: left, end: right } = room(places.iter().copied(), 0.08);
    let ends = |&(x, value, interval): &(f64, f64, Option<(f64, f64)>)| {
        let (low, high) = interval.unwrap_or((value, value));
        [(x, low), (x, value), (x, high)]
    };
    let marks: Vec<(f64, f64)> = panel.series.iter().flat_map(|series| &series.points).flat_map(ends).collect();
    let Range { start: mut bottom, end: top } = room(marks.iter().map(|mark| mark.1).chain(panel.zero), 0.06);
    // A legend at the lower right moves up if it would cover tick marks.
    let corner = (left + 0.55 * (right - left), bottom + 0.3 * (top - bottom));
    if panel.legend == Legend::LowerRight && marks.iter().any(|&(x, y)| x > corner.0 && y < corner.1) {
        bottom -= 0.35 * (top - bottom);
    }
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, (FONT, 17))
        .margin(12)
        .margin_right(28)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(Axis { left, right, ticks: places }, Vertical::new(bottom, top, &panel.y_ticks))
        .map_err(failed)?;
    let found = |ticks: &[(f64, String)], place: f64| {
        let found = ticks.iter().find(|(tick, _)| (tick - place).abs() < 1e-9);
        found.map_or(String::new(), |(_, name)| name.clone())
    };
    let name = |place: &f64| found(&panel.ticks, *place);
    let decimal = decimal(&(bottom..top));
    let height = |value: &f64| match panel.y_ticks.is_empty() {
        true => decimal(value),
        false => found(&panel.y_ticks, *value),
    };
    chart
        .configure_mesh()
        .x_label_formatter(&name)
        .y_label_formatter(&height)
        .x_desc(&panel.x_label)
        .y_desc(&panel.y_label)
        .light_line_style(TRANSPARENT)
        .bold_line_style(palette::GRID)
        .label_style((FONT, 13))
        .axis_desc_style((FONT, 14))
        .draw()
        .map_err(failed)?;
    if let Some(zero) = panel.zero {
        chart.draw_series(LineSeries::new([(left, zero), (right, zero)], BLACK.stroke_width(1))).map_err(failed)?;
    }
    // Neighbouring series are shifted slightly so that their error bars do not overlap.
    let step = (right - left) * 0.006;
    for (number, series) in panel.series.iter().enumerate() {
        let colour = palette::SERIES[series.colour % palette::SERIES.len()];
        let shift = step * (number as f64 - (panel.series.len() as f64 - 1.0) / 2.0);
        let line: Vec<(f64, f64)> = series.points.iter().map(|&(x, y, _)| (x + shift, y)).collect();
        let paper = series.whose == Whose::Paper;
        if series.joined && paper {
            chart.draw_series(DashedLineSeries::new(line.clone(), 5, 4, colour.stroke_width(1))).map_err(failed)?;
        } else if series.joined {
            chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(2))).map_err(failed)?;
        }
        for &(x, _, interval) in &series.points {
            if let Some((low, high)) = interval {
                let whisker = PathElement::new([(x + shift, low), (x + shift, high)], colour.stroke_width(2));
                chart.draw_series([whisker]).map_err(failed)?;
            }
        }
        // The paper's marks are hollow.
        let (shape, edge) = (outline(series.colour, if paper { 5 } else { 4 }), colour.stroke_width(2));
        let inside: ShapeStyle = if paper { TRANSPARENT.filled() } else { colour.filled() };
        let mark = shape.clone();
        chart
            .draw_series(line.iter().map(|&at| {
                EmptyElement::at(at) + Polygon::new(shape.clone(), inside) + PathElement::new(shape.clone(), edge)
            }))
            .map_err(failed)?
            .label(&series.name)
            .legend(move |(x, y)| {
                EmptyElement::at((x + 8, y)) + Polygon::new(mark.clone(), inside) + PathElement::new(mark.clone(), edge)
            });
    }
    let corner = match panel.legend {
        Legend::LowerRight => SeriesLabelPosition::LowerRight,
        Legend::MiddleRight => SeriesLabelPosition::MiddleRight,
    };
    legend(&mut chart, corner)
}

/// The closed outline of a mark, around its centre. Shape and colour correspond, so that either identifies a series.
fn outline(shape: usize, size: i32) -> Vec<(i32, i32)> {
    let mut corners: Vec<(i32, i32)> = match shape % 6 {
        0 => {
            let corner = |place: i32| (f64::from(place) * std::f64::consts::TAU / 16.0).sin_cos();
            let at = |share: f64| (share * f64::from(size + 1)).round() as i32;
            (0..16).map(corner).map(|(sin, cos)| (at(cos), at(sin))).collect()
        }
        1 => vec![(-size, -size), (size, -size), (size, size), (-size, size)],
        2 => vec![(0, -size - 2), (size + 1, size), (-size - 1, size)],
        3 => vec![(0, -size - 2), (size + 2, 0), (0, size + 2), (-size - 2, 0)],
        4 => vec![(0, size + 2), (size + 1, -size), (-size - 1, -size)],
        _ => vec![(-size - 2, -2), (size + 2, -2), (size + 2, 2), (-size - 2, 2)],
    };
    corners.push(corners[0]);
    corners
}

/// An axis with given ticks.
struct Axis {
    left: f64,
    right: f64,
    ticks: Vec<f64>,
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.left) / (self.right - self.left);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.left..self.right
    }
}

impl From<Axis> for Range<f64> {
    fn from(axis: Axis) -> Range<f64> {
        axis.left..axis.right
    }
}

/// A vertical axis, with given ticks or ticks at round numbers.
enum Vertical {
    Round(RangedCoordf64),
    Marked(Axis),
}

impl Vertical {
    fn new(bottom: f64, top: f64, ticks: &[(f64, String)]) -> Vertical {
        match ticks {
            [] => Vertical::Round((bottom..top).into()),
            _ => {
                let ticks = ticks.iter().map(|(place, _)| *place).filter(|place| (bottom..=top).contains(place));
                Vertical::Marked(Axis { left: bottom, right: top, ticks: ticks.collect() })
            }
        }
    }
}

impl Ranged for Vertical {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        match self {
            Vertical::Round(axis) => axis.map(value, limit),
            Vertical::Marked(axis) => axis.map(value, limit),
        }
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match self {
            Vertical::Round(axis) => axis.key_points(hint),
            Vertical::Marked(axis) => axis.key_points(hint),
        }
    }

    fn range(&self) -> Range<f64> {
        match self {
            Vertical::Round(axis) => axis.range(),
            Vertical::Marked(axis) => axis.range(),
        }
    }
}

impl From<Vertical> for Range<f64> {
    fn from(axis: Vertical) -> Range<f64> {
        axis.range()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_holds_titles_labels_and_names() {
        let points = vec![(0.0, 0.5, Some((0.4, 0.6))), (1.0, 0.7, None)];
        let series =
            |name: &str, whose| Series { name: name.into(), whose, colour: 0, joined: true, points: points.clone() };
        let panel = Panel {
            title: "a title".into(),
            x_label: "across".into(),
            y_label: "up".into(),
            ticks: vec![(0.0, "first".into()), (1.0, "second".into())],
            series: vec![series("the paper", Whose::Paper), series("burnrank", Whose::Ours)],
            zero: None,
            ..Panel::default()
        };
        let Figure { svg, caption } = draw(&[panel.clone(), Panel { bars: "extremes", ..panel }]).unwrap();
        assert_eq!(
            caption,
            "Left, \"a title\": up (upwards) by across (across). Right, \"a title\": up (upwards) by across (across). Filled \
             marks were found here; hollow ones are the paper's, or what their name says. Vertical bars: 95% intervals of the \
             mean over the units; extremes."
        );
        for word in ["a title", "across", "up", "first", "second", "the paper", "burnrank", "</svg>"] {
            assert!(svg.contains(word), "{word}");
        }
    }

    #[test]
    fn series_differ_by_shape_and_not_only_by_colour() {
        let shapes: Vec<_> = (0..6).map(|colour| outline(colour, 4)).collect();
        assert!((1..6).all(|number| !shapes[..number].contains(&shapes[number])));
        assert!(shapes.iter().all(|shape| shape.first() == shape.last() && shape.len() > 3));
        let series = |colour| Series {
            name: "s".into(),
            whose: Whose::Ours,
            colour,
            joined: false,
            points: vec![(0.0, 0.5, None)],
        };
        let panel = Panel { ticks: vec![(0.0, "t".into())], series: (0..6).map(series).collect(), ..Panel::default() };
        let svg = draw(&[panel]).unwrap().svg;
        let colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#5A5A5A"];
        assert!(colours.iter().all(|colour| svg.contains(colour)), "{svg}");
    }
}
