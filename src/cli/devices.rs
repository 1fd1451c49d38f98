//! `burnrank devices`: what there is to compute on.

use super::ui;
use burnrank::device::{self, DeviceInfo};
use burnrank::memory::readable;

const EXAMPLES: &str = "\
Examples:
  burnrank devices
  burnrank train --train train.txt --device wgpu:1 --out model";

/// List what this build can compute on, and which of it --device auto takes
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Print the list as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let devices = device::list();
    if args.json {
        return ui::print_json(&serde_json::json!({ "devices": devices }));
    }
    let mut text = String::new();
    if let Some(auto) = devices.iter().find(|device| device.auto) {
        text += &format!("{}\n\n", ui::heading(&format!("auto is {}", auto.device)));
    }
    let width = devices.iter().map(|device| device.device.len()).max().unwrap_or(0).max("device".len());
    text += &format!("{:width$}  {:>8}  {}\n", "device", "memory", "what it is");
    devices.iter().for_each(|device| text += &line(device, width));
    text += "\n--device NAME takes one of them; without a number, as in 'wgpu', the one that is\nmarked. Other backends need \
             another build: --features vulkan, metal, cuda, rocm.\n";
    ui::print(&text)
}

fn line(device: &DeviceInfo, width: usize) -> String {
    let memory = device.memory.map_or_else(|| "unknown".into(), readable);
    let mark = if device.chosen { " *" } else { "" };
    let what = if device.problem.is_empty() { &device.name } else { &device.problem };
    format!("{:width$}  {memory:>8}  {}{mark}\n", device.device, ui::printable(what))
}
