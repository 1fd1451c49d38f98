//! Pictures, as SVG: curves along directions, forces on documents, differences by query.

use super::output;
use anyhow::anyhow;
use burnrank::{Certificate, Comparison, Error, FieldReport, StepReport};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;

const WIDTH: u32 = 720;
const HEIGHT: u32 = 420;
const FONT: &str = "sans-serif";

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws on a white sheet of `panels` panels above each other, and writes the file.
fn draw(path: &Path, panels: usize, paint: impl Fn(usize, &Area) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut svg = String::new();
    {
        let sheet = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT * panels as u32)).into_drawing_area();
        sheet.fill(&WHITE).map_err(failed)?;
        for (index, panel) in sheet.split_evenly((panels, 1)).iter().enumerate() {
            paint(index, panel)?;
        }
        sheet.present().map_err(failed)?;
    }
    output::write(path, |writer| writer.write_all(svg.as_bytes()).map_err(|error| Error::io(path, "write", error)))?;
    Ok(())
}

fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("cannot draw: {error}")
}

/// A range with some room, never empty.
fn room(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if !(low.is_finite() && high.is_finite()) {
        return 0.0..1.0;
    }
    let margin = if high > low { 0.05 * (high - low) } else { low.abs().max(1.0) * 0.05 };
    low - margin..high + margin
}

/// The measure along a few directions within the envelope of all, one panel a set of steps.
pub fn certificate(path: &Path, found: &Certificate) -> anyhow::Result<()> {
    draw(path, found.reports.len(), |index, area| curves(area, found, &found.reports[index]))
}

fn curves(area: &Area, found: &Certificate, report: &StepReport) -> anyhow::Result<()> {
    // The curves start at the model itself.
    let steps: Vec<f64> = std::iter::once(0.0).chain(report.steps.iter().copied()).collect();
    let from_model = |values: Vec<f64>| -> Vec<(f64, f64)> {
        steps.iter().copied().zip(std::iter::once(found.value).chain(values)).collect()
    };
    let high = from_model(report.envelope.iter().map(|at| at.highest).collect());
    let low = from_model(report.envelope.iter().map(|at| at.lowest).collect());
    let title = format!("{}, {} random directions, {} rising", found.metric, report.tried, report.rising);
    let y = room(low.iter().chain(&high).map(|point| point.1));
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(room(steps.iter().copied()), y)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("step")
        .y_desc(found.metric.clone())
        .draw()
        .map_err(failed)?;
    let outline: Vec<(f64, f64)> = low.iter().copied().chain(high.iter().rev().copied()).collect();
    chart.draw_series(std::iter::once(Polygon::new(outline, BLUE.mix(0.12)))).map_err(failed)?;
    for (index, curve) in report.curves.iter().enumerate() {
        let colour = Palette99::pick(index).stroke_width(2);
        chart.draw_series(LineSeries::new(from_model(curve.clone()), colour)).map_err(failed)?;
    }
    let level = [(steps[0], found.value), (steps[steps.len() - 1], found.value)];
    chart.draw_series(DashedLineSeries::new(level, 6, 4, BLACK.mix(0.6).into())).map_err(failed)?;
    Ok(())
}

/// One query: scores on a line, arrows for lambdas, labels by colour.
pub fn forces(path: &Path, report: &FieldReport) -> anyhow::Result<()> {
    draw(path, 1, |_, area| {
        let largest = report.lambdas.iter().fold(0.0, |most: f64, lambda| most.max(lambda.abs()));
        let x = room(report.scores.iter().copied());
        // The longest arrow is a fifth of the picture: arrows compare with each other, not with scores.
        let scale = if largest > 0.0 { (x.end - x.start) / 5.0 / largest } else { 0.0 };
        let tips = report.scores.iter().zip(&report.lambdas).map(|(score, lambda)| score + scale * lambda);
        let x = room(report.scores.iter().copied().chain(tips));
        let n = report.scores.len().max(1) as f64;
        let mut chart = ChartBuilder::on(area)
            .caption(format!("{}: forces on {} documents", report.field, report.scores.len()), (FONT, 18))
            .margin(12)
            .x_label_area_size(40)
            .build_cartesian_2d(x, -1.0..n)
            .map_err(failed)?;
        let mesh = &mut chart.configure_mesh();
        mesh.light_line_style(TRANSPARENT)
            .disable_y_mesh()
            .disable_y_axis()
            .x_desc("score (one document a row, its arrow pulls it up or down)");
        mesh.draw().map_err(failed)?;
        let top = report.labels.iter().copied().fold(1.0, f32::max);
        let mut order: Vec<usize> = (0..report.scores.len()).collect();
        order.sort_by(|&a, &b| report.scores[a].total_cmp(&report.scores[b]));
        for (row, &document) in order.iter().enumerate() {
            let (score, lambda, row) = (report.scores[document], report.lambdas[document], row as f64);
            let colour = shade(report.labels[document] / top);
            let tip = score + scale * lambda;
            let head = (tip - score).signum() * (scale * largest * 0.06).min((tip - score).abs());
            if lambda != 0.0 {
                let shaft = vec![(score, row), (tip, row)];
                let barbs = vec![(tip - head, row + 0.18), (tip, row), (tip - head, row - 0.18)];
                chart
                    .draw_series([shaft, barbs].map(|line| PathElement::new(line, colour.stroke_width(2))))
                    .map_err(failed)?;
            }
            chart.draw_series([Circle::new((score, row), 5, colour.filled())]).map_err(failed)?;
            let text = format!("{}", report.labels[document]);
            chart.draw_series([Text::new(text, (score, row + 0.55), (FONT, 12))]).map_err(failed)?;
        }
        Ok(())
    })
}

/// Blue for the lowest label, over green, to red for the highest.
fn shade(share: f32) -> HSLColor {
    HSLColor(0.62 * f64::from(1.0 - share.clamp(0.0, 1.0)), 0.85, 0.42)
}

/// The differences of each comparison, sorted, one panel each.
pub fn differences(path: &Path, comparisons: &[Comparison]) -> anyhow::Result<()> {
    draw(path, comparisons.len(), |index, area| {
        let found = &comparisons[index];
        let mut sorted = found.differences.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let title = format!(
            "{}: {} less {}, {} better, {} equal, {} worse",
            found.measure, found.system, found.baseline, found.wins, found.ties, found.losses
        );
        let mut chart = ChartBuilder::on(area)
            .caption(title, (FONT, 16))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(0.0..sorted.len() as f64, room(sorted.iter().copied().chain([0.0])))
            .map_err(failed)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc("queries, sorted")
            .y_desc("difference")
            .draw()
            .map_err(failed)?;
        let bar = |(place, &value): (usize, &f64)| {
            let colour = if value >= 0.0 { GREEN.mix(0.6) } else { RED.mix(0.6) };
            Rectangle::new([(place as f64, 0.0), (place as f64 + 1.0, value)], colour.filled())
        };
        chart.draw_series(sorted.iter().enumerate().map(bar)).map_err(failed)?;
        let mean = [(0.0, found.difference), (sorted.len() as f64, found.difference)];
        chart.draw_series(LineSeries::new(mean, BLUE.stroke_width(2))).map_err(failed)?;
        Ok(())
    })
}
