//! A figure of bars: how long everyone takes for the same, on a logarithmic axis.

use burnrank::internal::program::figure::{FONT, failed, svg};
use burnrank::internal::program::palette;
use burnrank::internal::text::three_digits;
use plotters::prelude::*;

/// One bar.
pub struct Bar {
    pub name: String,
    pub seconds: f64,
    pub ours: bool,
}

const WIDTH: i32 = 900;
const HEIGHT: i32 = 26;
const NAMES: i32 = 330;
const NUMBERS: i32 = 80;
const TITLE: i32 = 40;
/// The bars of others.
const OTHERS: RGBColor = RGBColor(120, 150, 175);

/// All bars, the fastest on top, as SVG.
pub fn draw(title: &str, mut bars: Vec<Bar>) -> anyhow::Result<String> {
    bars.retain(|bar| bar.seconds > 0.0 && bar.seconds.is_finite());
    bars.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let (low, high) = bars.iter().fold((f64::MAX, f64::MIN), |(low, high), bar| {
        let log = bar.seconds.log10();
        (low.min(log), high.max(log))
    });
    // Half a decade of room, so that the shortest bar is one.
    let low = low - 0.5;
    let length = |seconds: f64| {
        let share = (seconds.log10() - low) / (high - low).max(1e-9);
        (share * f64::from(WIDTH - NAMES - NUMBERS)) as i32
    };
    let size = (WIDTH as u32, (TITLE + HEIGHT * bars.len() as i32 + 12) as u32);
    let text = svg(size, |sheet| {
        sheet.draw(&Text::new(title, (12, 12), (FONT, 17))).map_err(failed)?;
        for (place, bar) in bars.iter().enumerate() {
            let top = TITLE + HEIGHT * place as i32;
            let colour = if bar.ours { palette::VERMILION } else { OTHERS };
            let end = NAMES + length(bar.seconds);
            sheet.draw(&Text::new(bar.name.as_str(), (12, top + 4), (FONT, 14))).map_err(failed)?;
            sheet
                .draw(&Rectangle::new([(NAMES, top + 2), (end, top + HEIGHT - 4)], colour.filled()))
                .map_err(failed)?;
            let seconds = format!("{} s", three_digits(bar.seconds));
            sheet.draw(&Text::new(seconds, (end + 6, top + 4), (FONT, 14))).map_err(failed)?;
        }
        Ok(())
    })?;
    Ok(text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_sorted_and_named() {
        let bar = |name: &str, seconds, ours| Bar { name: name.into(), seconds, ours };
        let svg = draw("a title", vec![bar("slow", 2.0, false), bar("fast", 0.01, true), bar("absent", 0.0, false)]);
        let svg = svg.unwrap();
        let place = |word: &str| svg.find(word).unwrap_or(usize::MAX);
        assert!(place("a title") < place("fast") && place("fast") < place("slow") && place("slow") < usize::MAX);
        assert!(!svg.contains("absent"));
    }
}
