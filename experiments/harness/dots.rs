//! A dot plot: one name per line, a dot with its interval.

use super::figure::{Figure, side};
use burnrank::internal::program::figure::{FONT, decimal, failed, room, svg};
use burnrank::internal::program::palette;
use plotters::prelude::*;

/// One line.
#[derive(Debug, Clone)]
pub struct Dot {
    pub name: String,
    pub value: f64,
    pub interval: Option<(f64, f64)>,
    /// Whether the value is from elsewhere, shown as a hollow square.
    pub theirs: bool,
}

const WIDTH: i32 = 620;
const LINE: i32 = 22;
const NAMES: i32 = 190;
const MARGIN: i32 = 24;
const TITLE: i32 = 64;
const MARKS: usize = 5;

/// Draws panels in a row, with the lines in the given order; consecutive dots of the same name share a line. `intervals` and
/// `squares` describe the intervals and the hollow squares.
pub fn draw(panels: &[(String, Vec<Dot>)], intervals: &str, squares: &str) -> anyhow::Result<Figure> {
    let rows = |dots: &[Dot]| dots.chunk_by(|one, next| one.name == next.name).count() as i32;
    let lines = panels.iter().map(|(_, dots)| rows(dots)).max().unwrap_or(0);
    let size = ((WIDTH * panels.len().max(1) as i32) as u32, (TITLE + LINE * lines + 40) as u32);
    let text = svg(size, |sheet| {
        for (place, (title, dots)) in panels.iter().enumerate() {
            let left = WIDTH * place as i32;
            let ends = |dot: &Dot| {
                [dot.value, dot.interval.map_or(dot.value, |i| i.0), dot.interval.map_or(dot.value, |i| i.1)]
            };
            let range = room(dots.iter().flat_map(ends), 0.04);
            let across = |value: f64| {
                let share = (value - range.start) / (range.end - range.start);
                left + NAMES + (share * f64::from(WIDTH - NAMES - MARGIN)) as i32
            };
            let bottom = TITLE + LINE * rows(dots);
            sheet.draw(&Text::new(title.as_str(), (left + 12, 12), (FONT, 16))).map_err(failed)?;
            let square = if dots.iter().any(|dot| dot.theirs) { format!(" square: {squares};") } else { String::new() };
            let key = format!("dot: ours;{square} lines: 95% intervals");
            sheet.draw(&Text::new(key, (left + 12, 36), (FONT, 12))).map_err(failed)?;
            let name = decimal(&range);
            for mark in 0..=MARKS {
                let value = range.start + (range.end - range.start) * mark as f64 / MARKS as f64;
                let x = across(value);
                let line = PathElement::new([(x, TITLE), (x, bottom)], palette::GRID.stroke_width(1));
                sheet.draw(&line).map_err(failed)?;
                sheet.draw(&Text::new(name(&value), (x - 14, bottom + 8), (FONT, 12))).map_err(failed)?;
            }
            let numbered = dots.chunk_by(|one, next| one.name == next.name).enumerate();
            let all =
                numbered.flat_map(|(line, dots)| dots.iter().enumerate().map(move |(place, dot)| (line, place, dot)));
            for (line, place, dot) in all {
                let y = TITLE + LINE * line as i32 + LINE / 2;
                let colour = palette::SERIES[usize::from(dot.theirs)];
                if place == 0 {
                    sheet.draw(&Text::new(dot.name.as_str(), (left + 12, y - 7), (FONT, 13))).map_err(failed)?;
                }
                if let Some((low, high)) = dot.interval {
                    let whisker = PathElement::new([(across(low), y), (across(high), y)], colour.stroke_width(2));
                    sheet.draw(&whisker).map_err(failed)?;
                }
                let x = across(dot.value);
                if dot.theirs {
                    let square = [(x - 4, y - 4), (x + 4, y + 4)];
                    sheet.draw(&Rectangle::new(square, WHITE.filled())).map_err(failed)?;
                    sheet.draw(&Rectangle::new(square, colour.stroke_width(2))).map_err(failed)?;
                } else {
                    sheet.draw(&Circle::new((x, y), 5, colour.filled())).map_err(failed)?;
                }
            }
        }
        Ok(())
    })?;
    let shown = panels.iter().enumerate().map(|(place, (title, _))| format!("{}{title}.", side(place, panels.len())));
    let all = || panels.iter().flat_map(|panel| &panel.1);
    let squares = if all().any(|dot| dot.theirs) { format!(", squares are {squares}") } else { String::new() };
    let caption = format!(
        "{} One line for each name: dots are ours{squares}; lines are {intervals}.",
        shown.collect::<Vec<_>>().join(" ")
    );
    Ok(Figure { svg: text + "\n", caption })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_in_their_order() {
        let dot = |name: &str, value, theirs| Dot {
            name: name.into(),
            value,
            interval: Some((value - 1.0, value + 1.0)),
            theirs,
        };
        let panels = [("a title".into(), vec![dot("first", 50.0, false), dot("second", 40.0, true)])];
        let Figure { svg, caption } = draw(&panels, "ranges", "theirs").unwrap();
        assert_eq!(caption, "a title. One line for each name: dots are ours, squares are theirs; lines are ranges.");
        let place = |word: &str| svg.find(word).unwrap_or(usize::MAX);
        assert!(place("a title") < place("first") && place("first") < place("second") && place("second") < usize::MAX);
    }
}
