//! Settings whose values are words.

use crate::name::words;

words! {
    /// The rule that turns gradients into steps.
    pub enum OptimizerKind: "optimizer" {
        /// Plain stochastic gradient descent, as in the papers.
        Sgd = "sgd",
        /// The same with momentum 0.9.
        Momentum = "momentum",
        /// Adam with its usual moments, 0.9 and 0.999.
        Adam = "adam",
    }
}

words! {
    /// When and how the learning rate shrinks: by what an epoch did to the training set, or by how much of the run is over.
    pub enum Schedule: "schedule" {
        /// Never.
        Constant = "constant",
        /// Halved when the loss of an epoch is above the one before (RankNet paper, section 5.1).
        Halve = "halve",
        /// Times 0.8 when the epoch was worse than the one before (LambdaRank paper, section 6.3): by the loss where the
        /// objective is a cost of its own (RankNet), else by the training metric.
        Shrink = "shrink",
        /// Times 0.8, with probability 0.3, when the training metric fell (local optimality paper of 2009, section 7).
        ShrinkSometimes = "shrink-sometimes",
        /// Half a wave of the cosine from the first learning rate to 0 over all epochs, batch by batch (Loshchilov and Hutter
        /// 2017, without restarts). The number of epochs is then part of a run.
        Cosine = "cosine",
    }
}

words! {
    /// Which way the gradient of an objective is computed; both give the same numbers.
    pub enum GradientPath: "gradient path" {
        /// Lambda on CPU devices, and on others where the objective has kernels ([`Objective::has_kernels`](crate::Objective::has_kernels)); else tensor, where it
        /// has a formula in tensor operations.
        Auto = "auto",
        /// Lambdas in closed form and linear memory, injected as a surrogate gradient: computed on a GPU where the objective has
        /// kernels, and on the host where it has not.
        Lambda = "lambda",
        /// A loss in Burn's operations, differentiated by autodiff on the device.
        Tensor = "tensor",
    }
}
