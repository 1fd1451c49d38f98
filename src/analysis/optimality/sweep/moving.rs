//! One weight that moves alone: all that does not change is computed once.

use super::{Sweep, Workspace, move_by};
use crate::analysis::optimality::movable::{MovableNet, Role};
use crate::model::add_moved_unit;
use std::ops::Range;

impl Sweep<'_> {
    /// One weight of the net, ready to move alone, for the documents `span` of a part.
    pub(super) fn moving<'o>(
        &'o self,
        weight: usize,
        own: &[&'o [f32]],
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
        let own_unit = &own[unit][span.clone()];
        if let Some(activation) = self.net.activation() {
            let output = self.net.output(&self.net.weights);
            let add = |unit: usize, scores: &mut [f32]| {
                let own = &own[unit][span.clone()];
                add_moved_unit(activation, own, own, 0.0, output[unit], scores);
            };
            space.before.resize(span.len(), 0.0);
            (0..unit).for_each(|unit| add(unit, &mut space.before));
            space.after.resize((output.len() - unit - 1) * span.len(), 0.0);
            space.after.chunks_exact_mut(span.len()).zip(unit + 1..).for_each(|(scores, unit)| add(unit, scores));
        }
        Moving { net: self.net, role, own: own_unit }
    }
}

/// One weight that moves alone; see [`Workspace`] for what the others add up to.
pub(super) struct Moving<'o> {
    net: &'o MovableNet,
    role: Role,
    /// What the unit of the weight receives.
    own: &'o [f32],
}

impl Moving<'_> {
    /// Scores when the weight moves by `step`: unit after unit, as scoring adds them.
    pub(super) fn score(&self, step: f32, space: &mut Workspace) {
        let Workspace { before, column, after, scores, .. } = space;
        scores.clear();
        let Some(activation) = self.net.activation() else {
            scores.extend_from_slice(self.own);
            return move_by(scores, step, column);
        };
        scores.extend_from_slice(before);
        let output = self.net.output(&self.net.weights)[moved_unit(self.role)];
        match self.role {
            Role::Output { .. } => add_moved_unit(activation, self.own, self.own, 0.0, output + step, scores),
            _ => add_moved_unit(activation, self.own, column, step, output, scores),
        }
        for after in after.chunks_exact(scores.len().max(1)) {
            scores.iter_mut().zip(after).for_each(|(score, after)| *score += after);
        }
    }
}

/// The unit that a weight acts through, of a net of one hidden layer at most.
fn moved_unit(role: Role) -> usize {
    match role {
        Role::Feature { unit, .. } | Role::Bias { unit, .. } | Role::Output { unit } => unit,
        Role::Between { to, .. } => to,
    }
}
