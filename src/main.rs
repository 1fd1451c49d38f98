//! The `burnrank` tool.

use burnrank::cli::{ReportingAllocator, run};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: ReportingAllocator = ReportingAllocator;

fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os()))
}
