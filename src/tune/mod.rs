//! Search over settings: many configurations are trained and compared per query on the validation queries.
//!
//! - [`CrossEvaluator`] estimates the value of one run: its epoch is chosen on one half of the validation queries and evaluated on
//!   the other, and vice versa, which gives one value per query; [`paired`] compares two runs by these values.
//! - [`Candidate`] is one configuration, trained epoch by epoch on all folds of [`TuneData`].
//! - [`Space`] defines the distribution of configurations, with one [`Dimension`] per setting; a draw depends on seed and number
//!   only.
//! - [`Search`] runs successive halving, keeps a [`Journal`], and returns a [`SearchResult`].
//!
//! Test queries are never used.

mod auto;
mod bounds;
mod candidate;
mod choices;
mod data;
mod dimension;
mod distributed;
mod estimate;
mod journal;
mod outcome;
mod parallel;
mod search;
mod space;

pub use auto::{Auto, AutoProgress, AutoReport, CandidateReport, Difference, RunnerUp};
pub use candidate::{Candidate, Evaluation, better};
pub use choices::{Choices, Range};
pub use data::TuneData;
pub use dimension::{Dimension, Part, dimensions, values_of};
pub use estimate::{ChosenEpoch, CrossEvaluator, Halves, paired};
pub use journal::{ExistingJournal, Journal};
pub use outcome::{SearchEnd, SearchResult, Trial};
pub use search::{Outcome, Progress, RUNGS, Search, SearchContext};
pub use space::Space;
