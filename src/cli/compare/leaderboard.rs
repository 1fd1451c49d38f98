//! The report of `compare` on three or more systems: the best one, the leaderboard, then how it was computed.

use super::Args;
use super::common::Common;
use super::report::mismatch_text;
use crate::cli::prose::{WIDTH, named, paragraph};
use crate::cli::systems::System;
use crate::cli::ui::{self, counted};
use burnrank::Conventions;
use burnrank::analysis::significance::Leaderboard;
use burnrank::internal::program::leaderboard::LeaderboardText;

pub fn text(
    args: &Args,
    common: &Common,
    systems: &[System],
    conventions: &Conventions,
    boards: &[Leaderboard],
) -> String {
    let board = LeaderboardText::new(boards, WIDTH);
    let mut text: String = board.verdicts().iter().map(|verdict| paragraph(verdict)).collect();
    text += &mismatch_text(common, systems, board.names(), args.evaluation.complete);
    for table in board.tables() {
        text += &format!("\n{}", ui::table(&table));
    }
    text += "\n";
    let metrics: Vec<String> = boards.iter().map(|board| board.metric.clone()).collect();
    text += &named("data", &format!("{}: {}", args.data, counted(common.all, "query", "queries")));
    text += &named("conventions", &args.evaluation.words(conventions, &metrics));
    text += &named("letters", &board.meaning());
    if board.shortened() {
        text += &named("names", "shortened to fit; --csv, --markdown and --json print them in full");
    }
    text
}
