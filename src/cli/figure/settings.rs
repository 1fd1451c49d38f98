//! The results of `tune`: the validation metric against each setting, one small panel each.

use super::{Area, FONT, Output, clipped, decimal, failed, figure, palette, svg};
use burnrank::internal::text::number;
use burnrank::tune::{Dimension, RUNGS, SearchResult, dimensions};
use plotters::prelude::*;
use std::ops::Range;

const PANEL: (u32, u32) = (420, 250);
const COLUMNS: usize = 2;
const TITLE: u32 = 64;
/// Maximum number of distinct numbers on a categorical axis; more are on a logarithmic axis.
const MAX_CATEGORIES: usize = 8;

/// A trial in a panel.
struct Dot {
    value: f64,
    text: String,
    rung: usize,
    number: usize,
    best: bool,
}

/// Draws a panel for each setting that differs between trials.
pub fn settings(out: &Output, result: &SearchResult) -> anyhow::Result<()> {
    let panels: Vec<(&Dimension, Vec<Dot>)> =
        dimensions().iter().map(|setting| (setting, dots(result, setting))).filter(|(_, dots)| varies(dots)).collect();
    let rows = panels.len().div_ceil(COLUMNS).max(1);
    let size = (PANEL.0 * COLUMNS as u32, PANEL.1 * rows as u32 + TITLE);
    let values = result.ranked().iter().map(|(_, evaluation)| evaluation.summary().mean).collect::<Vec<_>>();
    let shared = figure::room(values.into_iter(), 0.05);
    let picture = svg(size, |sheet| {
        let (title, rest) = sheet.split_vertically(TITLE as i32);
        let lines = [
            (format!("Validation {} by setting", result.metric), 18),
            ("darker: trained longer; triangle: default; ring: best".to_owned(), 13),
        ];
        for (place, (line, size)) in lines.into_iter().enumerate() {
            let style = TextStyle::from((FONT, size)).color(&BLACK);
            title.draw(&Text::new(line, (16, 14 + 26 * place as i32), style)).map_err(failed)?;
        }
        let areas = rest.split_evenly((rows, COLUMNS));
        let mut panels = areas.iter().zip(&panels);
        panels.try_for_each(|(area, (setting, dots))| panel(area, &result.metric, setting, dots, &shared))
    })?;
    out.write_text(&picture)
}

fn dots(result: &SearchResult, setting: &Dimension) -> Vec<Dot> {
    let dot = |(place, (trial, evaluation)): (usize, &(&burnrank::tune::Trial, &burnrank::tune::Evaluation))| {
        let text = setting.show(&trial.config)?;
        // Objectives that differ only in their parameters share a row.
        let text = if setting.key == "objective" { without_parameters(&text) } else { text };
        Some(Dot { value: evaluation.summary().mean, text, rung: trial.rung, number: trial.number, best: place == 0 })
    };
    result.ranked().iter().enumerate().filter_map(dot).collect()
}

/// An objective without its parameters.
fn without_parameters(name: &str) -> String {
    let words = name.split(':').filter(|part| !part.contains('='));
    words.map(|word| word.split('@').next().unwrap_or(word)).collect::<Vec<_>>().join(":")
}

fn varies(dots: &[Dot]) -> bool {
    dots.iter().any(|dot| dot.text != dots[0].text)
}

/// The axis of a setting: positions and labels of its values.
enum Axis {
    /// Equally spaced categories.
    Categories(Vec<String>),
    /// Logarithmic; zeros, if any, are at the bottom.
    Log { zero: Option<f64>, range: Range<f64> },
}

impl Axis {
    fn of(setting: &Dimension, dots: &[Dot]) -> Self {
        let mut categories: Vec<String> = dots.iter().map(|dot| dot.text.clone()).collect();
        let size = |text: &String| text.split(',').next().and_then(|text| text.parse::<f64>().ok());
        categories.sort_by(|a, b| match (size(a), size(b)) {
            (Some(first), Some(second)) => first.total_cmp(&second).then(a.cmp(b)),
            _ => size(a).is_some().cmp(&size(b).is_some()).then(a.cmp(b)),
        });
        categories.dedup();
        let logs: Vec<f64> = categories.iter().filter_map(size).filter(|value| *value > 0.0).map(f64::log10).collect();
        if !setting.is_number() || categories.len() <= MAX_CATEGORIES || logs.is_empty() {
            return Axis::Categories(categories);
        }
        let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let zero = (logs.len() < categories.len()).then_some(low - 0.5);
        Axis::Log { range: figure::room(logs.into_iter().chain(zero), 0.08), zero }
    }

    fn range(&self) -> Range<f64> {
        match self {
            Axis::Categories(categories) => -0.6..categories.len() as f64 - 0.4,
            Axis::Log { range, .. } => range.clone(),
        }
    }

    fn place(&self, dot: &Dot) -> f64 {
        match self {
            Axis::Categories(names) => names.iter().position(|name| *name == dot.text).unwrap_or_default() as f64,
            Axis::Log { zero, .. } => match dot.text.parse::<f64>() {
                Ok(value) if value > 0.0 => value.log10(),
                _ => zero.unwrap_or_default(),
            },
        }
    }

    fn label(&self, at: f64) -> String {
        match self {
            Axis::Categories(categories) if (at - at.round()).abs() < 1e-9 && at >= 0.0 => {
                categories.get(at.round() as usize).map_or(String::new(), |name| clipped(name, 20))
            }
            Axis::Categories(_) => String::new(),
            Axis::Log { zero: Some(zero), .. } if at < zero + 0.25 => String::new(),
            Axis::Log { .. } => number(two_digits(10f64.powf(at))),
        }
    }

    fn marks(&self) -> usize {
        match self {
            Axis::Categories(categories) => 2 * categories.len() + 1,
            Axis::Log { .. } => 5,
        }
    }
}

fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

fn panel(area: &Area, metric: &str, setting: &Dimension, dots: &[Dot], shared: &Range<f64>) -> anyhow::Result<()> {
    let axis = Axis::of(setting, dots);
    let name_value = decimal(shared);
    let name_setting = |at: &f64| axis.label(*at);
    let below = matches!(axis, Axis::Log { zero: Some(_), .. });
    let title = if below { format!("{}; 0 at the bottom", setting.key) } else { setting.key.to_owned() };
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 15))
        .margin(8)
        .x_label_area_size(36)
        .y_label_area_size(140)
        .build_cartesian_2d(shared.clone(), axis.range())
        .map_err(failed)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(palette::GRID)
        .x_labels(5)
        .y_labels(axis.marks())
        .x_label_formatter(&name_value)
        .y_label_formatter(&name_setting)
        .x_desc(metric)
        .draw()
        .map_err(failed)?;
    // Trials that trained longer are drawn on top.
    let mut ordered: Vec<&Dot> = dots.iter().collect();
    ordered.sort_by_key(|dot| (dot.number == 0, dot.best, dot.rung, dot.number));
    for dot in ordered {
        let at = (dot.value, axis.place(dot));
        let shade = palette::shade((dot.rung as f64 - 1.0) / (RUNGS as f64 - 1.0));
        if dot.number == 0 {
            let mark = TriangleMarker::new(at, 7, palette::VERMILION.filled());
            chart.draw_series([mark]).map_err(failed)?;
        } else {
            chart.draw_series([Circle::new(at, 4, shade.filled())]).map_err(failed)?;
        }
        if dot.best {
            chart.draw_series([Circle::new(at, 8, palette::VERMILION.stroke_width(2))]).map_err(failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use burnrank::tune::Part;

    fn dots_of(texts: &[&str]) -> Vec<Dot> {
        let dot = |text: &&str| Dot { value: 0.0, text: text.to_string(), rung: 1, number: 1, best: false };
        texts.iter().map(dot).collect()
    }

    #[test]
    fn categories_are_sorted_and_many_numbers_are_logarithmic() {
        let hidden = Dimension::of(Part::Nets, "hidden").ok().unwrap();
        let axis = Axis::of(hidden, &dots_of(&["32,16", "linear", "10", "32", "10"]));
        assert_eq!([0.0, 1.0, 2.0, 3.0, 0.5].map(|at| axis.label(at)), ["linear", "10", "32", "32,16", ""]);
        let l2 = Dimension::of(Part::Nets, "l2").ok().unwrap();
        let texts: Vec<String> = (0..20).map(|step| (f64::from(step) / 1000.0).to_string()).collect();
        let dots = dots_of(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let axis = Axis::of(l2, &dots);
        assert_eq!((axis.place(&dots[1]), axis.place(&dots[0])), (-3.0, -3.5));
        assert_eq!(["lambdarank:ndcg@10:sigma=2", "ranknet@3"].map(without_parameters), ["lambdarank:ndcg", "ranknet"]);
        assert_eq!([-2.0, -2.5, -3.5].map(|at| axis.label(at)), ["0.01", "0.0032", ""]);
    }
}
