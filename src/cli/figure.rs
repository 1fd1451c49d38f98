//! Figures, as SVG: curves along directions, lambdas of documents, differences per query, values by setting, explanations.

mod curves;
mod differences;
mod explain;
mod key;
mod lambda_field;
mod series;
mod settings;

pub use curves::certificate;
pub use differences::{difference, differences};
pub use explain::{HIGH, LOW, NARROW, contributions, dependence, explanation, importance, is_explanation_file};
pub use lambda_field::lambda_field;
pub use series::{Curve, lines};
pub use settings::settings;

use super::output::Output;
use burnrank::internal::program::figure::{self, Area, FONT, clipped, decimal, failed, legend, svg, whole};
use burnrank::internal::program::palette;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::ops::Range;

const WIDTH: u32 = 720;
const HEIGHT: u32 = 420;
/// Font sizes of small figures, legible on a phone: of titles, and of everything else.
const FONT_SIZES: [u32; 2] = [20, 18];

type Chart<'a, 'b> = ChartContext<'b, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws `panels` panels from top to bottom, and writes the file.
fn draw(
    out: &Output,
    panels: usize,
    height: u32,
    paint: impl Fn(usize, &Area) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let picture = svg((WIDTH, height * panels as u32), |sheet| {
        let mut panels = sheet.split_evenly((panels, 1)).into_iter().enumerate();
        panels.try_for_each(|(index, panel)| paint(index, &panel))
    })?;
    out.write_text(&picture)
}

/// The range of the values with a margin, never empty.
fn room(values: impl Iterator<Item = f64>) -> Range<f64> {
    figure::room(values, 0.05)
}
