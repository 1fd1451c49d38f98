//! The `burnrank` tool.

mod cli;

use std::process::ExitCode;

// Burn allocates every tensor of every step: an allocator with a heap a thread makes an epoch some 8% shorter.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
