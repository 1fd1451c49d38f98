//! `burnrank devices`: the available devices.

use super::ui;
use burnrank::device::{self, DeviceInfo};
use burnrank::memory::readable;

const EXAMPLES: &str = "\
Examples:
  burnrank devices
  burnrank train --train train.txt --device wgpu:1 --out model";

/// List the devices of this build, and the one that --device auto selects
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Print JSON
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
    text += &format!("{:width$}  {:>8}  {}\n", "device", "memory", "name");
    devices.iter().for_each(|device| text += &line(device, width));
    text += "\n--device NAME selects a device; a name without number selects the one marked *.\nOther backends need another build: \
             --features vulkan, metal, cuda or rocm.\n";
    ui::print(&text)
}

fn line(device: &DeviceInfo, width: usize) -> String {
    let memory = device.memory.map_or_else(|| "unknown".into(), readable);
    let mark = if device.chosen { " *" } else { "" };
    let what = if device.problem.is_empty() { &device.name } else { &device.problem };
    format!("{:width$}  {memory:>8}  {}{mark}\n", device.device, ui::printable(what))
}
