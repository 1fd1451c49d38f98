//! Robustness: hostile input, full disks, closed pipes, kills and wrong files lose nothing and are reported.

mod support;

#[path = "hard_use/attention.rs"]
mod attention;
#[path = "hard_use/cache.rs"]
mod cache;
#[path = "hard_use/compare.rs"]
mod compare;
#[path = "hard_use/families.rs"]
mod families;
#[path = "hard_use/harmless.rs"]
mod harmless;
#[path = "hard_use/leaderboard.rs"]
mod leaderboard;
#[path = "hard_use/memory.rs"]
mod memory;
#[path = "hard_use/messages.rs"]
mod messages;
#[path = "hard_use/models.rs"]
mod models;
#[path = "hard_use/objectives.rs"]
mod objectives;
#[path = "hard_use/overwriting.rs"]
mod overwriting;
#[path = "hard_use/reading.rs"]
mod reading;
#[path = "hard_use/scoring.rs"]
mod scoring;
#[path = "hard_use/silence.rs"]
mod silence;
#[path = "hard_use/training.rs"]
mod training;
#[path = "hard_use/words.rs"]
mod words;
