//! Compact letter display: letters for groups of systems that do not differ significantly.

use serde::{Serialize, Serializer};
use std::fmt;

/// Above this number of maximal groups, [`letters`] falls back to one group per uncovered pair.
const MAX_GROUPS: usize = 1000;
/// Minimum number of consecutive letters written as a range.
const RANGE: usize = 4;

/// The letters of one system, such as "ab": it does not differ from any other system that has an a or a b.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Letters(Vec<usize>);

impl Letters {
    /// The groups that the letters stand for, from 0, in ascending order.
    pub fn groups(&self) -> &[usize] {
        &self.0
    }

    /// Returns whether two systems have a letter in common.
    pub fn share(&self, other: &Letters) -> bool {
        self.0.iter().any(|group| other.0.binary_search(group).is_ok())
    }

    /// The letters, with four or more consecutive ones written as a range: "a", "c-f" for acdef. Parts must not be split further.
    ///
    /// ```
    /// // The third system does not differ from the other two, which differ from each other.
    /// let all = burnrank::analysis::significance::letters(3, |i, j| (i, j) == (0, 1));
    /// assert_eq!((all[2].to_string(), all[2].parts()), ("ab".into(), vec!["ab".into()]));
    /// ```
    pub fn parts(&self) -> Vec<String> {
        // The letters of a range are all lowercase or all uppercase.
        let next = |a: &usize, b: &usize| a + 1 == *b && a / 26 == b / 26;
        let mut parts = Vec::new();
        let mut single = String::new();
        for run in self.0.chunk_by(next) {
            match run {
                [first, .., last] if run.len() >= RANGE => {
                    parts.extend((!single.is_empty()).then(|| std::mem::take(&mut single)));
                    parts.push(format!("{}-{}", letter(*first), letter(*last)));
                }
                short => short.iter().for_each(|&group| single += &letter(group)),
            }
        }
        parts.extend((!single.is_empty()).then_some(single));
        parts
    }
}

impl fmt::Display for Letters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&group| f.write_str(&letter(group)))
    }
}

impl Serialize for Letters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// a to z, A to Z, then a2 to z2, A2 to Z2, and so on. Concatenated letters stay unambiguous.
fn letter(group: usize) -> String {
    let case = if group % 52 < 26 { b'a' } else { b'A' };
    let letter = char::from(case + (group % 26) as u8);
    if group < 52 { letter.to_string() } else { format!("{letter}{}", group / 52 + 1) }
}

/// Assigns letters such that two systems share a letter if and only if `differ(i, j)`, called with i < j, is false.
///
/// Uses the insert-and-absorb algorithm (Piepho 2004): each system is inserted into the existing groups, splitting
/// those with a member that it differs from, and groups contained in others are absorbed. This yields all maximal
/// groups without a difference; groups that no pair needs are then dropped. Letters follow the order of the systems.
///
/// With more than 1,000 maximal groups, which can happen if differences follow no order, a group is created only for a pair
/// that no group contains yet. This gives more letters than necessary, with the same meaning.
///
/// ```
/// // Only the first and the last differ.
/// let letters = burnrank::analysis::significance::letters(3, |i, j| (i, j) == (0, 2));
/// assert_eq!(letters.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a", "ab", "b"]);
/// ```
pub fn letters(systems: usize, differ: impl Fn(usize, usize) -> bool) -> Vec<Letters> {
    let mut alike = vec![Members::none(systems); systems];
    for i in 0..systems {
        alike[i].insert(i);
        for j in (i + 1..systems).filter(|&j| !differ(i, j)) {
            alike[i].insert(j);
            alike[j].insert(i);
        }
    }
    let groups = insert_and_absorb(&alike).unwrap_or_else(|| group_by_pairs(&alike));
    let mut groups: Vec<Vec<usize>> = groups.iter().map(Members::list).collect();
    drop_redundant(&mut groups, systems);
    groups.sort();
    let of = |system| groups.iter().enumerate().filter(move |(_, group)| group.binary_search(&system).is_ok());
    (0..systems).map(|system| Letters(of(system).map(|(place, _)| place).collect())).collect()
}

/// A set of systems.
#[derive(Clone)]
struct Members(Vec<u64>);

impl Members {
    fn none(systems: usize) -> Self {
        Members(vec![0; systems.div_ceil(64)])
    }

    fn insert(&mut self, system: usize) {
        self.0[system / 64] |= 1 << (system % 64);
    }

    fn holds(&self, system: usize) -> bool {
        self.0[system / 64] >> (system % 64) & 1 == 1
    }

    fn within(&self, other: &Members) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    fn common(&self, other: &Members) -> Members {
        Members(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn list(&self) -> Vec<usize> {
        (0..64 * self.0.len()).filter(|&system| self.holds(system)).collect()
    }
}

/// All maximal groups without a difference; `None` if there are more than [`MAX_GROUPS`].
fn insert_and_absorb(alike: &[Members]) -> Option<Vec<Members>> {
    let mut groups: Vec<Members> = Vec::new();
    for (system, similar) in alike.iter().enumerate() {
        let with_system = |group: &Members| {
            let mut joined = group.common(similar);
            joined.insert(system);
            joined
        };
        let alone = Members::none(alike.len());
        let mut joined: Vec<Members> = groups.iter().chain([&alone]).map(with_system).collect();
        groups.retain(|group| !group.within(similar));
        // Only groups with the new system can contain each other; larger ones absorb smaller ones.
        joined.sort_by_key(|group| std::cmp::Reverse(group.count()));
        let old = groups.len();
        for group in joined {
            if !groups[old..].iter().any(|larger| group.within(larger)) {
                groups.push(group);
            }
        }
        if groups.len() > MAX_GROUPS {
            return None;
        }
    }
    Some(groups)
}

/// One group for each pair without a difference that is in no group yet, extended by all systems that fit.
fn group_by_pairs(alike: &[Members]) -> Vec<Members> {
    let mut groups: Vec<Members> = Vec::new();
    for first in 0..alike.len() {
        for second in (first..alike.len()).filter(|&second| alike[first].holds(second)) {
            if groups.iter().any(|group| group.holds(first) && group.holds(second)) {
                continue;
            }
            let mut group = Members::none(alike.len());
            group.insert(first);
            group.insert(second);
            for (system, similar) in alike.iter().enumerate() {
                if group.within(similar) {
                    group.insert(system);
                }
            }
            groups.push(group);
        }
    }
    groups
}

/// Drops groups, small ones first, whose pairs are all in other groups too.
fn drop_redundant(groups: &mut Vec<Vec<usize>>, systems: usize) {
    let mut coverage = vec![0_u32; systems * systems];
    // A system with itself is a pair too: each system needs a letter.
    let pairs = |group: &[usize]| -> Vec<usize> {
        let of = |(place, &first): (usize, &usize)| group[place..].iter().map(move |&second| first * systems + second);
        group.iter().enumerate().flat_map(of).collect()
    };
    groups.iter().flat_map(|group| pairs(group)).for_each(|pair| coverage[pair] += 1);
    groups.sort_by(|a, b| (a.len(), b).cmp(&(b.len(), a)));
    groups.retain(|group| {
        let pairs = pairs(group);
        let needed = pairs.iter().any(|&pair| coverage[pair] == 1);
        if !needed {
            pairs.iter().for_each(|&pair| coverage[pair] -= 1);
        }
        needed
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn display(systems: usize, differ: &[(usize, usize)]) -> Vec<String> {
        letters(systems, |i, j| differ.contains(&(i, j))).iter().map(ToString::to_string).collect()
    }

    /// Asserts that two systems share a letter exactly if they do not differ, each has one, and no letter can be dropped.
    fn check(systems: usize, differ: impl Fn(usize, usize) -> bool) -> usize {
        let all = letters(systems, &differ);
        assert!(all.iter().all(|letters| !letters.groups().is_empty()));
        for i in 0..systems {
            for j in i + 1..systems {
                assert_eq!(all[i].share(&all[j]), !differ(i, j), "{i} {j} of {systems}");
            }
        }
        let groups = all.iter().flat_map(|letters| letters.groups()).max().map_or(0, |last| last + 1);
        for group in 0..groups {
            let holds = |system: &usize| all[*system].groups().contains(&group);
            let members: Vec<usize> = (0..systems).filter(holds).collect();
            let only = |i: usize, j: usize| {
                all[i].groups().iter().filter(|group| all[j].groups().contains(group)).count() == 1
            };
            assert!(members.iter().any(|&i| members.iter().any(|&j| only(i, j))), "letter {group} is redundant");
        }
        groups
    }

    #[test]
    fn known_displays() {
        // By hand: groups without a difference are systems 0 to 2, 1 to 3, and 2 to 4.
        assert_eq!(display(5, &[(0, 4), (1, 4), (0, 3)]), ["a", "ab", "abc", "bc", "c"]);
        assert_eq!(display(3, &[]), ["a", "a", "a"]);
        assert_eq!(display(3, &[(0, 1), (0, 2), (1, 2)]), ["a", "b", "c"]);
        // System 1 differs from both others, which do not differ from each other: groups need not be contiguous.
        assert_eq!(display(3, &[(0, 1), (1, 2)]), ["a", "b", "a"]);
        assert_eq!((display(1, &[]), display(0, &[])), (vec!["a".to_owned()], vec![]));
    }

    #[test]
    fn letters_are_shared_exactly_without_a_difference() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for round in 0..300 {
            let systems = 1 + round % 14;
            let share = rng.random_range(0.0..1.0);
            let differ: Vec<bool> = (0..systems * systems).map(|_| rng.random_range(0.0..1.0) < share).collect();
            check(systems, |i, j| differ[i * systems + j]);
        }
        // Systems that differ if they are far apart, with noise: more than 64 systems and more than 26 letters.
        let noise: Vec<usize> = (0..100 * 100).map(|_| rng.random_range(0..4)).collect();
        assert!(check(100, |i, j| j - i > 8 + noise[i * 100 + j]) > 26);
    }

    #[test]
    fn differences_without_an_order_fall_back_to_groups_by_pairs() {
        // System 2k differs from system 2k + 1 only: 2^12 maximal groups.
        let differ = |i: usize, j: usize| i.is_multiple_of(2) && j == i + 1;
        let alike = |systems: usize| -> Vec<Members> {
            let mut alike = vec![Members::none(systems); systems];
            for (i, similar) in alike.iter_mut().enumerate() {
                (0..systems).filter(|&j| !differ(i.min(j), i.max(j))).for_each(|j| similar.insert(j));
            }
            alike
        };
        assert_eq!(insert_and_absorb(&alike(8)).map(|groups| groups.len()), Some(16));
        assert!(insert_and_absorb(&alike(24)).is_none());
        assert!(check(24, differ) < 100);
        assert!(check(8, differ) < 16, "not all maximal groups are needed");
    }

    #[test]
    fn many_letters_stay_unambiguous() {
        assert_eq!([0, 25, 26, 51, 52, 78, 104].map(letter), ["a", "z", "A", "Z", "a2", "A2", "a3"]);
        let written = |groups: &[usize]| Letters(groups.to_vec()).parts().join(",");
        assert_eq!(written(&[0, 2, 3, 4, 5]), "a,c-f");
        assert_eq!(written(&[0, 1, 2, 9]), "abcj");
        assert_eq!(written(&[22, 23, 24, 25, 26, 27]), "w-z,AB");
        assert_eq!(Letters(vec![0, 2, 52]).to_string(), "aca2");
    }
}
