//! Pictures, as SVG: curves along directions, forces on documents, differences by query.

mod curves;
mod differences;
mod forces;
mod palette;

pub use curves::certificate;
pub use differences::differences;
pub use forces::forces;

use super::output;
use super::prose::fixed;
use anyhow::anyhow;
use burnrank::Error;
use plotters::chart::SeriesLabelPosition;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::ops::Range;
use std::path::Path;

const WIDTH: u32 = 720;
const HEIGHT: u32 = 420;
const FONT: &str = "sans-serif";

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'b, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws on a white sheet of `panels` panels above each other, and writes the file.
fn draw(
    path: &Path,
    panels: usize,
    height: u32,
    paint: impl Fn(usize, &Area) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut svg = String::new();
    {
        let sheet = SVGBackend::with_string(&mut svg, (WIDTH, height * panels as u32)).into_drawing_area();
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
fn room(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if !(low.is_finite() && high.is_finite()) {
        return 0.0..1.0;
    }
    let margin = if high > low { 0.05 * (high - low) } else { low.abs().max(1.0) * 0.05 };
    low - margin..high + margin
}

/// An axis of numbers: as many decimals as its marks need, and no minus zero.
fn decimal(range: &Range<f64>) -> impl Fn(&f64) -> String + use<> {
    let decimals = (-((range.end - range.start) / 10.0).log10()).ceil().clamp(0.0, 12.0) as usize;
    move |value| fixed(*value, decimals)
}

/// An axis of counts: nothing between whole numbers.
fn whole(value: &f64) -> String {
    if (value - value.round()).abs() < 1e-9 { fixed(value.round(), 0) } else { String::new() }
}

/// The end of a text that is too long for a title.
fn clipped(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        text.to_owned()
    } else {
        format!("...{}", text.chars().skip(length - most + 3).collect::<String>())
    }
}

/// The names of the series, in a corner.
fn legend<'a: 'b, 'b>(chart: &mut Chart<'a, 'b>, corner: SeriesLabelPosition) -> anyhow::Result<()> {
    chart
        .configure_series_labels()
        .position(corner)
        .background_style(WHITE.mix(0.85))
        .border_style(palette::GRID)
        .label_font((FONT, 13))
        .draw()
        .map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_labelled_as_by_hand() {
        assert_eq!([decimal(&(0.0..1.1))(&0.1), decimal(&(-0.01..0.02))(&-1e-18)], ["0.1", "0.000"]);
        assert_eq!([whole(&3.0), whole(&2.5), whole(&-0.0)], ["3", "", "0"]);
        assert_eq!((clipped("abcdefgh", 6), clipped("abc", 6)), ("...fgh".into(), "abc".into()));
    }

    #[test]
    fn shades_grow_darker() {
        let light = |share: f64| {
            let RGBColor(red, green, blue) = palette::shade(share);
            u32::from(red) + u32::from(green) + u32::from(blue)
        };
        assert!((0..10).all(|step| light(f64::from(step) / 10.0) > light(f64::from(step + 1) / 10.0)));
    }
}
