//! How much of everything a comparison of nets trains and judges.

use burnrank::internal::text::counted;
use serde::Serialize;

/// How much of everything.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Plan {
    /// Training, validation and test queries of a function.
    pub queries: [usize; 3],
    pub functions: u64,
    /// Further functions, on whose validation queries the step size is chosen.
    pub tuning_functions: u64,
    pub seeds: u64,
    pub epochs: usize,
    pub patience: usize,
    /// Step sizes that are tried for every arm.
    pub learning_rates: &'static [f64],
    /// How often the grid may grow beyond an end that is the best.
    pub extensions: usize,
    /// Whether labels are 0 and 1 (3% of the documents) in place of 0 to 4.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
}

impl Plan {
    /// What a comparison has at full scale, where it does not say otherwise.
    pub const FULL: Plan = Plan {
        queries: [1_000, 500, 2_000],
        functions: 10,
        tuning_functions: 2,
        seeds: 2,
        epochs: 300,
        patience: 50,
        learning_rates: &[1e-3, 3e-3, 1e-2],
        extensions: 2,
        binary: false,
    };

    /// The same at quick scale.
    pub const QUICK: Plan = Plan {
        queries: [40, 30, 40],
        functions: 2,
        tuning_functions: 1,
        seeds: 1,
        epochs: 4,
        patience: 2,
        learning_rates: &[3e-3, 1e-2],
        extensions: 1,
        binary: false,
    };

    /// How nets are trained and tuned, as reports say it.
    pub fn words(&self) -> Vec<String> {
        let [n_train, n_valid, n_test] = self.queries;
        vec![
            format!(
                "Data: {} random cubic polynomials of 50 features (the LambdaRank paper's artificial data), each with \
                 {n_train} training, {n_valid} validation and {n_test} test queries of 50 documents; {}. One function is \
                 one unit; every loss sees the same queries, first weights and order of batches.",
                self.functions,
                if self.binary {
                    "labels 1 for 3% of the documents, 0 for all others"
                } else {
                    "labels 0 to 4 for 52%, 32%, 13%, 2% and 1% of the documents"
                }
            ),
            format!(
                "Training: two-layer nets of tanh units, Adam, ten queries per batch, a constant step size, up to {} \
                 epochs, ended after {} without a better validation value; the best epoch counts. {} per function, \
                 averaged before anything is tested.",
                self.epochs,
                self.patience,
                counted(self.seeds as usize, "seed", "seeds")
            ),
            format!(
                "Step sizes are chosen for each loss by the same rule: of {:?}, wider (at most {} times) while the best is \
                 at an end, the one with the best mean validation value over {} that are not judged. \
                 Test queries are looked at once. A query with nothing relevant counts 0, equal scores are ranked \
                 pessimistically.",
                self.learning_rates,
                self.extensions,
                counted(self.tuning_functions as usize, "further function", "further functions")
            ),
        ]
    }
}
