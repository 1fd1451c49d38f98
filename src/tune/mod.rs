//! Which settings: many ways to train are tried on the validation queries, and compared query by query.
//!
//! - [`CrossJudge`] is the estimate of one run: its epoch is chosen on one half of the validation queries and judged on the
//!   other, both ways round, which leaves one value per query; [`paired`] compares two runs by these.
//! - [`Candidate`] is one configuration that is trained as far as it is worth, on all folds of [`TuneData`].
//! - [`Space`] is what configurations are drawn from, a [`Dimension`] each; a draw depends on seed and number alone.
//! - [`Search`] tries them by successive halving, keeps a [`Journal`], and ends in what it [`Found`].
//!
//! Test queries have no place here.

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
pub use estimate::{ChosenEpoch, CrossJudge, Halves, paired};
pub use journal::{Before, Journal};
pub use outcome::{Ended, Found, Trial};
pub use search::{Outcome, Progress, RUNGS, Search, Surroundings};
pub use space::Space;
