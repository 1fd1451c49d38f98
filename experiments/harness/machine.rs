//! The machine that runs were made on, for reports.

/// Name of the processor, or "unknown".
pub fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(':'));
    model.map_or("unknown", |(_, name)| name.trim()).to_owned()
}

/// Number of hardware threads.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Short description: processor, architecture, operating system and cores.
pub fn describe() -> String {
    let (arch, system) = (std::env::consts::ARCH, std::env::consts::OS);
    format!("{} ({arch}, {system}, {} cores)", processor(), cores())
}
