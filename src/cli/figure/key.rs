//! The names of series below a chart, where they hide nothing.

use super::series::outline;
use super::{Area, FONT, clipped, failed};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// What stands in front of a name.
#[derive(Debug, Clone, Copy)]
pub enum Sign {
    /// A line, and the mark of the series at this place.
    Line { colour: RGBColor, dashed: bool, mark: Option<usize> },
    /// A box.
    Filled(RGBColor),
}

/// Width of a sign.
const SIGN: i32 = 20;
/// Widest name, in characters.
const CHARACTERS: usize = 20;

/// Number of names in a row, in letters of this size.
fn columns(width: u32, size: u32) -> u32 {
    (width / (12 * size)).max(1)
}

/// The height that names take.
pub fn height(names: usize, width: u32, size: u32) -> u32 {
    (names as u32).div_ceil(columns(width, size)) * (size + 6) + size / 2
}

/// Draws names in rows.
pub fn draw(area: &Area, names: &[(String, Sign)], size: u32) -> anyhow::Result<()> {
    let width = area.dim_in_pixel().0;
    let columns = columns(width, size);
    let style = (FONT, size).into_font().into_text_style(area).pos(Pos::new(HPos::Left, VPos::Center));
    for (place, (name, sign)) in names.iter().enumerate() {
        let (column, row) = (place as u32 % columns, place as u32 / columns);
        let (x, y) = ((column * (width / columns) + size) as i32, (row * (size + 6) + size / 2 + 3) as i32);
        match *sign {
            Sign::Filled(colour) => {
                let filled = Rectangle::new([(x, y - 5), (x + SIGN, y + 5)], colour.filled());
                area.draw(&filled).map_err(failed)?;
            }
            Sign::Line { colour, dashed, mark } => {
                let middle = if dashed { [SIGN / 2 - 2, SIGN / 2 + 2] } else { [SIGN / 2; 2] };
                for (start, end) in [(0, middle[0]), (middle[1], SIGN)] {
                    let line = PathElement::new([(x + start, y), (x + end, y)], colour.stroke_width(2));
                    area.draw(&line).map_err(failed)?;
                }
                if let Some(place) = mark {
                    let mark = outline(place).iter().map(|(dx, dy)| (x + SIGN / 2 + dx, y + dy)).collect::<Vec<_>>();
                    area.draw(&Polygon::new(mark, colour)).map_err(failed)?;
                }
            }
        }
        area.draw(&Text::new(clipped(name, CHARACTERS), (x + SIGN + 6, y), style.clone())).map_err(failed)?;
    }
    Ok(())
}
