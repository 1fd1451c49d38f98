//! Colour-blind safe colours (Okabe and Ito).

use plotters::style::RGBColor;

/// First series.
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
/// Second series, and highlights.
pub const VERMILION: RGBColor = RGBColor(213, 94, 0);
/// Third series.
pub const BLUISH_GREEN: RGBColor = RGBColor(0, 158, 115);
/// Fourth series.
pub const PURPLE: RGBColor = RGBColor(204, 121, 167);
/// Fifth series, and areas.
pub const SKY: RGBColor = RGBColor(86, 180, 233);
/// Sixth series, and baselines.
pub const GREY: RGBColor = RGBColor(90, 90, 90);
/// Grid lines.
pub const GRID: RGBColor = RGBColor(225, 225, 225);

/// Colours of series, in order.
pub const SERIES: [RGBColor; 6] = [BLUE, VERMILION, BLUISH_GREEN, PURPLE, SKY, GREY];

/// Returns a shade from light (0) to dark (1), ordered without colour vision.
pub fn shade(share: f64) -> RGBColor {
    let (light, dark) = ([158.0, 202.0, 225.0], [8.0, 48.0, 107.0]);
    let mix = |i: usize| (light[i] + share.clamp(0.0, 1.0) * (dark[i] - light[i])).round() as u8;
    RGBColor(mix(0), mix(1), mix(2))
}

/// Colours of figures on pages: name, colour in the light theme, and colour in the dark theme.
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

/// Formats a colour for CSS.
pub fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}
