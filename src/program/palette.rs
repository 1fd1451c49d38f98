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
