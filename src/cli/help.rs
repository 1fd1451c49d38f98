//! `burnrank completions` and `burnrank man`: shell completion scripts and manual pages.

use super::output::{Output, check_folder};
use super::{Cli, ui};
use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::PathBuf;

const COMPLETIONS: &str = "\
Examples:
  burnrank completions bash \\
      > ~/.local/share/bash-completion/completions/burnrank
  burnrank completions zsh > ~/.zfunc/_burnrank
  burnrank completions fish > ~/.config/fish/completions/burnrank.fish";

const MAN: &str = "\
Examples:
  burnrank man | man -l -                      page of the tool
  burnrank man --out ~/.local/share/man/man1   with a page for each command";

/// Print a shell completion script
#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS)]
pub struct CompletionsArgs {
    /// Shell
    shell: Shell,
}

/// Print the manual page, or write a page for each command
#[derive(Debug, clap::Args)]
#[command(after_help = MAN)]
pub struct ManArgs {
    /// Folder for burnrank.1, burnrank-train.1 and so on
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace pages that exist
    #[arg(long)]
    force: bool,
}

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "burnrank", &mut script);
    ui::print(&String::from_utf8(script)?)
}

pub fn man(args: &ManArgs) -> anyhow::Result<()> {
    let page = |command: clap::Command| -> anyhow::Result<String> {
        let mut text = vec![];
        Man::new(command).render(&mut text)?;
        Ok(String::from_utf8(text)?)
    };
    let mut tool = Cli::command();
    tool.build();
    let Some(folder) = &args.out else { return ui::print(&page(tool)?) };
    let mut written = vec![("burnrank".to_owned(), page(tool.clone())?)];
    for command in tool.get_subcommands().filter(|command| command.get_name() != "help") {
        // `man burnrank train` looks for `burnrank-train`.
        let name = format!("burnrank-{}", command.get_name());
        written.push((name.clone(), page(command.clone().name(name))?));
    }
    check_folder(folder, "--out", args.force, |file| written.iter().any(|(name, _)| file == format!("{name}.1")))?;
    std::fs::create_dir_all(folder).with_context(|| format!("{}: cannot create", folder.display()))?;
    for (name, text) in &written {
        Output::new(&folder.join(format!("{name}.1")), "--out", args.force)?.write_text(text)?;
    }
    ui::print(&format!("{}: {} pages\n", folder.display(), written.len()))
}
