//! Colours that people with any colour vision can tell apart (Okabe and Ito).

use plotters::style::RGBColor;

/// The first series.
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
/// The second series, and what stands out.
pub const VERMILION: RGBColor = RGBColor(213, 94, 0);
/// The third series.
pub const BLUISH_GREEN: RGBColor = RGBColor(0, 158, 115);
/// The fourth series.
pub const PURPLE: RGBColor = RGBColor(204, 121, 167);
/// The fifth series, and areas.
pub const SKY: RGBColor = RGBColor(86, 180, 233);
/// The sixth series, and what is compared with.
pub const GREY: RGBColor = RGBColor(90, 90, 90);
/// Lines that only guide the eye.
pub const GRID: RGBColor = RGBColor(225, 225, 225);

/// One after the other, for series that are side by side.
pub const SERIES: [RGBColor; 6] = [BLUE, VERMILION, BLUISH_GREEN, PURPLE, SKY, GREY];

/// From light to dark with a share of 0 to 1: the order shows without any colour vision.
pub fn shade(share: f64) -> RGBColor {
    let (light, dark) = ([158.0, 202.0, 225.0], [8.0, 48.0, 107.0]);
    let mix = |place: usize| (light[place] + share.clamp(0.0, 1.0) * (dark[place] - light[place])).round() as u8;
    RGBColor(mix(0), mix(1), mix(2))
}

/// The colours of figures on pages: a name, the colour on white paper, and the colour on dark paper, where all must be lighter to
/// be told apart.
pub const THEME: [(&str, RGBColor, RGBColor); 9] = [
    ("paper", RGBColor(255, 255, 255), RGBColor(22, 24, 29)),
    ("ink", RGBColor(0, 0, 0), RGBColor(228, 230, 235)),
    ("blue", BLUE, RGBColor(77, 166, 222)),
    ("vermilion", VERMILION, RGBColor(240, 140, 66)),
    ("green", BLUISH_GREEN, RGBColor(60, 196, 156)),
    ("purple", PURPLE, RGBColor(222, 160, 196)),
    ("sky", SKY, RGBColor(150, 212, 247)),
    ("grey", GREY, RGBColor(168, 172, 180)),
    ("grid", GRID, RGBColor(58, 62, 70)),
];

/// A colour as CSS writes it.
pub fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}
