//! Sizes of a comparison of nets.

use burnrank::internal::text::counted;
use serde::Serialize;

/// Deviation from the paper at quick scale.
pub const QUICK: &str = "Quick: two functions, few queries, epochs and learning rates, one seed.";

/// Numbers of queries, functions, seeds and epochs, and the grid of learning rates.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Plan {
    /// Training, validation and test queries per function.
    pub queries: [usize; 3],
    pub functions: u64,
    /// Separate functions, whose validation queries select the learning rate.
    pub tuning_functions: u64,
    pub seeds: u64,
    pub epochs: usize,
    pub patience: usize,
    /// Initial grid of learning rates.
    pub learning_rates: &'static [f64],
    /// Maximum number of extensions of the grid while the best value is at its end.
    pub extensions: usize,
    /// Whether labels are binary (3% relevant) instead of 0 to 4.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
}

impl Plan {
    /// Default sizes at full scale.
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

    /// Default sizes at quick scale.
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

    /// Description of data, training and tuning for reports.
    pub fn words(&self) -> Vec<String> {
        let [n_train, n_valid, n_test] = self.queries;
        vec![
            format!(
                "Data: {} random cubic polynomials of 50 features (the LambdaRank paper's artificial data), each with \
                 {n_train} training, {n_valid} validation and {n_test} test queries of 50 documents; {}. One function is \
                 one unit; all losses have the same queries, initial weights and order of batches.",
                self.functions,
                if self.binary {
                    "3% of the documents have label 1, all others label 0"
                } else {
                    "labels 0 to 4 for 52%, 32%, 13%, 2% and 1% of the documents"
                }
            ),
            format!(
                "Training: two-layer nets of tanh units, Adam, ten queries per batch, a constant learning rate, at \
                 most {} epochs, early stopping after {} epochs without a better validation metric; the best epoch is used. \
                 {} per function, averaged before any test.",
                self.epochs,
                self.patience,
                counted(self.seeds as usize, "seed", "seeds")
            ),
            format!(
                "The learning rate of each loss is tuned in the same way: from the grid {:?}, extended at most {} times while \
                 the best value is at its end, the one with the best mean validation metric over {} that are used for nothing \
                 else. Test queries are evaluated once. Queries without relevant documents count 0; equal scores are ranked \
                 pessimistically.",
                self.learning_rates,
                self.extensions,
                counted(self.tuning_functions as usize, "separate function", "separate functions")
            ),
        ]
    }
}
