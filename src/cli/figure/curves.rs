//! The metric along random directions.

use super::{Area, FONT, HEIGHT, Output, decimal, draw, failed, legend, palette, room};
use burnrank::analysis::optimality::Certificate;
use burnrank::analysis::optimality::StepReport;
use plotters::chart::SeriesLabelPosition;
use plotters::prelude::*;

/// Draws the metric along a few directions and the envelope of all directions, one panel per set of steps.
pub fn certificate(out: &Output, certificate: &Certificate) -> anyhow::Result<()> {
    draw(out, certificate.reports.len(), HEIGHT, |index, area| panel(area, certificate, &certificate.reports[index]))
}

fn panel(area: &Area, certificate: &Certificate, report: &StepReport) -> anyhow::Result<()> {
    // The curves start at the model itself.
    let unit = if certificate.relative { certificate.length } else { 1.0 };
    let steps: Vec<f64> = std::iter::once(0.0).chain(report.steps.iter().map(|step| step / unit)).collect();
    let from_model = |values: Vec<f64>| -> Vec<(f64, f64)> {
        steps.iter().copied().zip(std::iter::once(certificate.value).chain(values)).collect()
    };
    let high = from_model(report.envelope.iter().map(|at| at.highest).collect());
    let low = from_model(report.envelope.iter().map(|at| at.lowest).collect());
    let title = format!("{}, {} random directions, {} improving", certificate.metric, report.directions, report.rising);
    let (x, mut y) = (room(steps.iter().copied()), room(low.iter().chain(&high).map(|point| point.1)));
    // Room for the legend below the curves, which fall to the right.
    y.start -= 0.35 * (y.end - y.start);
    let (name_step, name_value) = (decimal(&x), decimal(&y));
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(x, y)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(palette::GRID)
        .x_label_formatter(&name_step)
        .y_label_formatter(&name_value)
        .x_desc(if certificate.relative { "step / |w|" } else { "step" })
        .y_desc(certificate.metric.clone())
        .draw()
        .map_err(failed)?;
    let outline: Vec<(f64, f64)> = low.iter().copied().chain(high.iter().rev().copied()).collect();
    let area_colour = palette::SKY.mix(0.3);
    chart
        .draw_series(std::iter::once(Polygon::new(outline, area_colour)))
        .map_err(failed)?
        .label(format!("range of all {}", report.directions))
        .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 20, y + 5)], area_colour.filled()));
    // Improving curves have another colour and triangles.
    let improves = |curve: &&Vec<f64>| curve.iter().any(|&value| value > certificate.value);
    let (improving, others): (Vec<&Vec<f64>>, Vec<&Vec<f64>>) = report.curves.iter().partition(improves);
    for (index, curve) in others.iter().enumerate() {
        let points = from_model(curve.to_vec());
        let drawn =
            chart.draw_series(LineSeries::new(points.clone(), palette::BLUE.stroke_width(1))).map_err(failed)?;
        if index == 0 {
            drawn.label("direction that does not improve").legend(|(x, y)| {
                EmptyElement::at((x, y))
                    + PathElement::new([(0, 0), (20, 0)], palette::BLUE.stroke_width(1))
                    + Circle::new((10, 0), 2, palette::BLUE.filled())
            });
        }
        chart.draw_series(points.iter().map(|&at| Circle::new(at, 2, palette::BLUE.filled()))).map_err(failed)?;
    }
    for (index, curve) in improving.iter().enumerate() {
        let points = from_model(curve.to_vec());
        let line = LineSeries::new(points.clone(), palette::VERMILION.stroke_width(2));
        let drawn = chart.draw_series(line).map_err(failed)?;
        if index == 0 {
            drawn.label("direction that improves").legend(|(x, y)| {
                EmptyElement::at((x, y))
                    + PathElement::new([(0, 0), (20, 0)], palette::VERMILION.stroke_width(2))
                    + TriangleMarker::new((10, 0), 5, palette::VERMILION.filled())
            });
        }
        let marks = points.iter().map(|&at| TriangleMarker::new(at, 5, palette::VERMILION.filled()));
        chart.draw_series(marks).map_err(failed)?;
    }
    let level = [(steps[0], certificate.value), (steps[steps.len() - 1], certificate.value)];
    chart
        .draw_series(DashedLineSeries::new(level, 6, 4, palette::GREY.stroke_width(2)))
        .map_err(failed)?
        .label("the model")
        .legend(|(x, y)| {
            EmptyElement::at((x, y))
                + PathElement::new([(0, 0), (8, 0)], palette::GREY.stroke_width(2))
                + PathElement::new([(12, 0), (20, 0)], palette::GREY.stroke_width(2))
        });
    legend(&mut chart, SeriesLabelPosition::LowerLeft)
}
