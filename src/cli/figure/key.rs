//! The legend below a chart, where it covers no data.

use super::series::outline;
use super::{Area, FONT, clipped, failed};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The symbol in front of a name.
#[derive(Debug, Clone, Copy)]
pub enum Symbol {
    /// A line; `mark` is the index of the series whose mark it shows.
    Line { colour: RGBColor, dashed: bool, mark: Option<usize> },
    /// A filled box.
    Box(RGBColor),
}

/// Width of a symbol in pixels.
const SYMBOL_WIDTH: i32 = 20;
/// Maximum number of characters of a name.
const NAME_WIDTH: usize = 20;

/// Number of names per row, for a width in pixels and a font size.
fn columns(width: u32, size: u32) -> u32 {
    (width / (12 * size)).max(1)
}

/// Height of the legend in pixels.
pub fn height(names: usize, width: u32, size: u32) -> u32 {
    (names as u32).div_ceil(columns(width, size)) * (size + 6) + size / 2
}

/// Draws the legend.
pub fn draw(area: &Area, names: &[(String, Symbol)], size: u32) -> anyhow::Result<()> {
    let width = area.dim_in_pixel().0;
    let columns = columns(width, size);
    let style = (FONT, size).into_font().into_text_style(area).pos(Pos::new(HPos::Left, VPos::Center));
    for (place, (name, symbol)) in names.iter().enumerate() {
        let (column, row) = (place as u32 % columns, place as u32 / columns);
        let (x, y) = ((column * (width / columns) + size) as i32, (row * (size + 6) + size / 2 + 3) as i32);
        match *symbol {
            Symbol::Box(colour) => {
                let filled = Rectangle::new([(x, y - 5), (x + SYMBOL_WIDTH, y + 5)], colour.filled());
                area.draw(&filled).map_err(failed)?;
            }
            Symbol::Line { colour, dashed, mark } => {
                let middle = if dashed { [SYMBOL_WIDTH / 2 - 2, SYMBOL_WIDTH / 2 + 2] } else { [SYMBOL_WIDTH / 2; 2] };
                for (start, end) in [(0, middle[0]), (middle[1], SYMBOL_WIDTH)] {
                    let line = PathElement::new([(x + start, y), (x + end, y)], colour.stroke_width(2));
                    area.draw(&line).map_err(failed)?;
                }
                if let Some(place) = mark {
                    let mark =
                        outline(place).iter().map(|(dx, dy)| (x + SYMBOL_WIDTH / 2 + dx, y + dy)).collect::<Vec<_>>();
                    area.draw(&Polygon::new(mark, colour)).map_err(failed)?;
                }
            }
        }
        area.draw(&Text::new(clipped(name, NAME_WIDTH), (x + SYMBOL_WIDTH + 6, y), style.clone())).map_err(failed)?;
    }
    Ok(())
}
