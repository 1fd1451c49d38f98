//! Settings whose values are words.

use crate::name::words;

words! {
    /// Optimizer of nets.
    pub enum OptimizerKind: "optimizer" {
        /// Stochastic gradient descent, as in the papers.
        Sgd = "sgd",
        /// Stochastic gradient descent with momentum 0.9.
        Momentum = "momentum",
        /// Adam with betas 0.9 and 0.999.
        Adam = "adam",
    }
}

words! {
    /// Connection from the inputs of a net to its score, beside the hidden layers.
    #[derive(Default)]
    pub enum Skip: "skip connection" {
        /// No connection.
        #[default]
        None = "none",
        /// A linear net, whose weights start at 0.
        Linear = "linear",
    }
}

words! {
    /// Learning rate schedule.
    pub enum Schedule: "schedule" {
        /// Keeps the initial learning rate.
        Constant = "constant",
        /// Halves the learning rate after an epoch with a higher training loss than the previous one (RankNet paper, section 5.1).
        Halve = "halve",
        /// Multiplies the learning rate by 0.8 after an epoch that is worse than the previous one (LambdaRank paper, section 6.3):
        /// by training loss if the objective has one (RankNet), otherwise by the training metric.
        Shrink = "shrink",
        /// Multiplies the learning rate by 0.8, with probability 0.3, after an epoch that lowers the training metric (Donmez
        /// et al., 2009, section 7).
        ShrinkSometimes = "shrink-sometimes",
        /// Cosine annealing to 0 over all epochs, updated after every batch (Loshchilov and Hutter 2017, without restarts).
        /// A run with more epochs is then a different run.
        Cosine = "cosine",
    }
}

words! {
    /// Which values of features are missing when trees grow, as in LightGBM. Each split sends missing values to the side with the
    /// larger gain.
    #[derive(Default)]
    pub enum MissingValues: "kind of missing values" {
        /// NaN is missing.
        #[default]
        Nan = "nan",
        /// NaN and 0 are missing.
        Zero = "zero",
        /// No value is missing: NaN is compared as 0.
        None = "none",
    }
}

impl MissingValues {
    /// Whether it is the default, which settings in JSON omit.
    pub(super) fn is_default(&self) -> bool {
        *self == MissingValues::default()
    }
}

words! {
    /// How the gradient of an objective is computed. Both ways give the same numbers.
    pub enum GradientPath: "gradient path" {
        /// Uses lambda on the CPU and, on a GPU, for objectives that have GPU kernels or no tensor form; tensor otherwise.
        Auto = "auto",
        /// Computes lambdas in closed form, in linear memory: on the GPU if the objective has kernels, otherwise on the CPU.
        Lambda = "lambda",
        /// Computes the loss with Burn's tensor operations and differentiates it by autodiff, on the device.
        Tensor = "tensor",
    }
}
