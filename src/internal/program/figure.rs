//! Shared parts of figures: canvas, axis ranges and labels, legend.

use super::palette;
use crate::internal::text::{fixed, harmless};
use anyhow::anyhow;
use plotters::chart::SeriesLabelPosition;
use plotters::coord::{CoordTranslate, Shift};
use plotters::prelude::*;
use std::ops::Range;

/// Font of all text.
pub const FONT: &str = "sans-serif";

/// A drawing area of the canvas.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Returns what `paint` draws on a white canvas of this size, as SVG.
///
/// # Errors
/// When drawing fails.
pub fn svg(size: (u32, u32), paint: impl FnOnce(&Area) -> anyhow::Result<()>) -> anyhow::Result<String> {
    let mut text = String::new();
    {
        let sheet = SVGBackend::with_string(&mut text, size).into_drawing_area();
        sheet.fill(&WHITE).map_err(failed)?;
        paint(&sheet)?;
        sheet.present().map_err(failed)?;
    }
    Ok(harmless(&text).into_owned())
}

/// Converts a picture of [`svg`] for embedding in a page: scalable, with the colours of [`palette::THEME`] as CSS variables, and
/// with `words` as alternative text.
pub fn inline(picture: &str, words: &str) -> String {
    let words = escape(words);
    let mut text = picture.to_owned();
    for (name, light, _) in palette::THEME {
        let light = palette::hex(light);
        text = text.replace(&format!("=\"{light}\""), &format!("=\"var(--{name}, {light})\""));
    }
    let (head, rest) = text.split_once('>').unwrap_or((&text, ""));
    let shape = head.find("viewBox=").map_or("", |start| &head[start..]);
    let shape = shape.split(" xmlns").next().unwrap_or_default();
    format!("<svg {shape} role=\"img\" aria-label=\"{words}\"><title>{words}</title>{rest}")
}

/// Escapes text for HTML and SVG, including quotes and bidirectional control characters.
pub fn escape(text: &str) -> String {
    let text = harmless(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

/// Creates the error for a figure that could not be drawn.
pub fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("cannot draw the figure: {error}")
}

/// Returns the range of the finite values, extended on both sides by a fraction `share` of it; never empty.
pub fn room(values: impl Iterator<Item = f64>, share: f64) -> Range<f64> {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return 0.0..1.0;
    }
    let margin = share * if high > low { high - low } else { low.abs().max(1.0) };
    low - margin..high + margin
}

/// Returns a formatter for labels of an axis, with as many decimals as the ticks need.
pub fn decimal(range: &Range<f64>) -> impl Fn(&f64) -> String + use<> {
    let decimals = (-((range.end - range.start) / 10.0).log10()).ceil().clamp(0.0, 12.0) as usize;
    move |value| fixed(*value, decimals)
}

/// Formats labels of an axis of counts: empty for values that are not integers.
pub fn whole(value: &f64) -> String {
    if (value - value.round()).abs() < 1e-9 { fixed(value.round(), 0) } else { String::new() }
}

/// Shortens text to at most `max_chars` characters by omitting its start.
pub fn clipped(text: &str, max_chars: usize) -> String {
    let length = text.chars().count();
    if length <= max_chars {
        text.to_owned()
    } else {
        format!("...{}", text.chars().skip(length - max_chars + 3).collect::<String>())
    }
}

/// Draws a legend in a corner.
///
/// # Errors
/// When drawing fails.
pub fn legend<'a, B: DrawingBackend + 'a, C: CoordTranslate>(
    chart: &mut ChartContext<'a, B, C>,
    corner: SeriesLabelPosition,
) -> anyhow::Result<()> {
    legend_of(chart, corner, 13)
}

/// Draws a legend with a given font size.
///
/// # Errors
/// When drawing fails.
pub fn legend_of<'a, B: DrawingBackend + 'a, C: CoordTranslate>(
    chart: &mut ChartContext<'a, B, C>,
    corner: SeriesLabelPosition,
    size: u32,
) -> anyhow::Result<()> {
    chart
        .configure_series_labels()
        .position(corner)
        .background_style(WHITE.mix(0.85))
        .border_style(palette::GRID)
        .label_font((FONT, size))
        .draw()
        .map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_labels_are_formatted() {
        assert_eq!([decimal(&(0.0..1.1))(&0.1), decimal(&(-0.01..0.02))(&-1e-18)], ["0.1", "0.000"]);
        assert_eq!([whole(&3.0), whole(&2.5), whole(&-0.0)], ["3", "", "0"]);
        assert_eq!((clipped("abcdefgh", 6), clipped("abc", 6)), ("...fgh".into(), "abc".into()));
    }

    #[test]
    fn ranges_have_margins_and_are_never_empty() {
        assert_eq!(room([1.0, 3.0, f64::NAN].into_iter(), 0.1), 0.8..3.2);
        assert_eq!(room([].into_iter(), 0.1), 0.0..1.0);
        let range = room([2.0].into_iter(), 0.1);
        assert!(range.start < 2.0 && 2.0 < range.end);
    }

    #[test]
    fn embedded_pictures_have_alternative_text_and_colour_variables() {
        let picture = svg((40, 30), |sheet| {
            sheet.draw(&Circle::new((5, 5), 2, palette::BLUE.filled())).map_err(failed)?;
            Ok(())
        });
        let text = inline(&picture.unwrap(), "a \"dot\" <here>");
        let start = "<svg viewBox=\"0 0 40 30\" role=\"img\" aria-label=\"a &quot;dot&quot; &lt;here&gt;\"><title>";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains("fill=\"var(--blue, #0072B2)\"") && text.contains("var(--paper, #FFFFFF)"), "{text}");
        assert!(!text.contains("http") && !text.contains("=\"#"), "{text}");
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
