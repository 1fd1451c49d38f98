//! A single moving weight: everything that stays constant is computed once.

use super::{Sweep, Workspace, move_by};
use crate::analysis::optimality::movable::{MovableNet, Role};
use crate::model::add_moved_unit;
use std::ops::Range;

impl Sweep<'_> {
    /// Prepares one weight for moving alone, for the documents `span` of a part.
    pub(super) fn moving<'o>(
        &'o self,
        weight: usize,
        base: &[&'o [f32]],
        features: &[f32],
        span: Range<usize>,
        space: &mut Workspace,
    ) -> Moving<'o> {
        let role = self.net.role(weight);
        let unit = moved_unit(role);
        space.column.clear();
        match role {
            Role::Feature { feature, .. } => {
                space.column.extend(features.iter().skip(feature).step_by(self.net.features()));
            }
            _ => space.column.resize(span.len(), 1.0),
        }
        space.before.clear();
        space.after.clear();
        let unit_input = &base[unit][span.clone()];
        if let Some(activation) = self.net.activation() {
            let output = self.net.output(&self.net.weights);
            let add = |unit: usize, scores: &mut [f32]| {
                let base = &base[unit][span.clone()];
                add_moved_unit(activation, base, base, 0.0, output[unit], scores);
            };
            space.before.resize(span.len(), 0.0);
            (0..unit).for_each(|unit| add(unit, &mut space.before));
            space.after.resize((output.len() - unit - 1) * span.len(), 0.0);
            space.after.chunks_exact_mut(span.len()).zip(unit + 1..).for_each(|(scores, unit)| add(unit, scores));
        }
        Moving { net: self.net, role, base: unit_input }
    }
}

/// A single moving weight; [`Workspace`] holds the contributions of the other units.
pub(super) struct Moving<'o> {
    net: &'o MovableNet,
    role: Role,
    /// Input of the weight's unit.
    base: &'o [f32],
}

impl Moving<'_> {
    /// Scores after moving the weight by `step`. Units are added in the order of scoring.
    pub(super) fn score(&self, step: f32, space: &mut Workspace) {
        let Workspace { before, column, after, scores, .. } = space;
        scores.clear();
        let Some(activation) = self.net.activation() else {
            scores.extend_from_slice(self.base);
            return move_by(scores, step, column);
        };
        scores.extend_from_slice(before);
        let output = self.net.output(&self.net.weights)[moved_unit(self.role)];
        match self.role {
            Role::Output { .. } => add_moved_unit(activation, self.base, self.base, 0.0, output + step, scores),
            _ => add_moved_unit(activation, self.base, column, step, output, scores),
        }
        for after in after.chunks_exact(scores.len().max(1)) {
            scores.iter_mut().zip(after).for_each(|(score, after)| *score += after);
        }
    }
}

/// The unit that a weight acts through, for a net with at most one hidden layer.
fn moved_unit(role: Role) -> usize {
    match role {
        Role::Feature { unit, .. } | Role::Bias { unit, .. } | Role::Output { unit } => unit,
        Role::Between { to, .. } => to,
    }
}
