//! Trees as the attributes of a `TreeEnsembleRegressor`.

use super::proto::{Attribute, doubles};
use crate::export::plain::PlainTree;
use crate::model::Child;

/// The columns of a `TreeEnsembleRegressor`.
#[derive(Default)]
pub(super) struct TreeTable {
    trees: Vec<i64>,
    nodes: Vec<i64>,
    features: Vec<i64>,
    modes: Vec<&'static str>,
    thresholds: Vec<f64>,
    nan_left: Vec<i64>,
    left: Vec<i64>,
    right: Vec<i64>,
    leaf_trees: Vec<i64>,
    leaf_nodes: Vec<i64>,
    leaves: Vec<f64>,
}

impl TreeTable {
    pub fn of(trees: &[PlainTree]) -> Self {
        let mut table = TreeTable::default();
        trees.iter().enumerate().for_each(|(index, tree)| table.add(index as i64, tree));
        table
    }

    /// Adds a tree; branches are numbered from 0, followed by the leaves.
    fn add(&mut self, index: i64, tree: &PlainTree) {
        let branches = tree.branches.len() as i64;
        let number = |child| match child {
            Child::Branch(branch) => branch as i64,
            Child::Leaf(leaf) => branches + leaf as i64,
        };
        for (place, branch) in tree.branches.iter().enumerate() {
            let row = (branch.feature as i64, "BRANCH_LEQ", f64::from(branch.threshold), i64::from(branch.nan_left));
            self.row(index, place as i64, row, [number(branch.left), number(branch.right)]);
        }
        for (leaf, value) in tree.leaves.iter().enumerate() {
            let place = number(Child::Leaf(leaf));
            self.row(index, place, (0, "LEAF", 0.0, 0), [0, 0]);
            self.leaf_trees.push(index);
            self.leaf_nodes.push(place);
            self.leaves.push(*value);
        }
    }

    fn row(&mut self, tree: i64, place: i64, node: (i64, &'static str, f64, i64), [left, right]: [i64; 2]) {
        self.trees.push(tree);
        self.nodes.push(place);
        self.features.push(node.0);
        self.modes.push(node.1);
        self.thresholds.push(node.2);
        self.nan_left.push(node.3);
        self.left.push(left);
        self.right.push(right);
    }

    pub fn attributes(self) -> Vec<(&'static str, Attribute)> {
        let exact = |values: Vec<f64>| Attribute::Tensor(doubles("", &[values.len()], values));
        vec![
            ("n_targets", Attribute::Int(1)),
            ("aggregate_function", Attribute::Text("SUM")),
            ("post_transform", Attribute::Text("NONE")),
            ("nodes_treeids", Attribute::Ints(self.trees)),
            ("nodes_nodeids", Attribute::Ints(self.nodes)),
            ("nodes_featureids", Attribute::Ints(self.features)),
            ("nodes_modes", Attribute::Texts(self.modes)),
            ("nodes_values_as_tensor", exact(self.thresholds)),
            ("nodes_missing_value_tracks_true", Attribute::Ints(self.nan_left)),
            ("nodes_truenodeids", Attribute::Ints(self.left)),
            ("nodes_falsenodeids", Attribute::Ints(self.right)),
            ("target_ids", Attribute::Ints(vec![0; self.leaves.len()])),
            ("target_treeids", Attribute::Ints(self.leaf_trees)),
            ("target_nodeids", Attribute::Ints(self.leaf_nodes)),
            ("target_weights_as_tensor", exact(self.leaves)),
        ]
    }
}
