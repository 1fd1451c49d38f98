//! What `compare` tells people of many systems: which is best, the leaderboard, then how it was found.

use super::Args;
use super::common::Common;
use super::report::fit_text;
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
    text += &fit_text(common, systems, board.names(), args.judging.complete);
    for table in board.tables() {
        text += &format!("\n{}", ui::table(&table));
    }
    text += "\n";
    let measures: Vec<String> = boards.iter().map(|board| board.metric.clone()).collect();
    text += &named("data", &format!("{}: {}", args.data, counted(common.all, "query", "queries")));
    text += &named("judged", &args.judging.words(conventions, &measures));
    text += &named("letters", &board.meaning());
    if board.shortened() {
        text += &named("names", "shortened to fit; --csv, --markdown and --json have them whole");
    }
    text
}
