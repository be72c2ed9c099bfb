//! Circles of imports: the largest set of modules that all reach one another.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::Imports;

/// The modules of the largest circle; none where there is no circle.
pub(crate) fn largest_circle(imports: &Imports) -> Vec<String> {
    let edges = imports.edges();
    let reached: BTreeMap<_, _> = edges.keys().map(|from| (from, reach(imports, from))).collect();
    let circle_of = |module: &Vec<String>| -> Vec<String> {
        let is_mutual = |other: &&Vec<String>| {
            let there = reached.get(module).is_some_and(|reached| reached.contains(*other));
            there && reached.get(*other).is_some_and(|reached| reached.contains(module))
        };
        edges.keys().filter(is_mutual).map(|other| other.join("::")).collect()
    };
    edges.keys().map(circle_of).max_by_key(Vec::len).unwrap_or_default()
}

fn reach<'a>(imports: &'a Imports, from: &Vec<String>) -> BTreeSet<&'a Vec<String>> {
    let (mut reached, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(module) = left.pop() {
        for next in imports.edges().get(module).into_iter().flatten() {
            if reached.insert(next) {
                left.push(next);
            }
        }
    }
    reached
}
