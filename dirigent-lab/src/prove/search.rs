//! Explores every order of events in a small room, the shortest first.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;

use super::world::{Act, World};
use super::{Explored, Inquiry, Told};

/// The number of states between two calls of the caller.
const STEP: usize = 500;

/// The step that led to a state.
#[derive(Clone, Copy)]
struct Node {
    from: Option<usize>,
    act: Act,
    shuffle: u64,
    depth: usize,
}

/// Explores all states within the bounds, until each claim is broken or the caller ends it.
pub(super) fn search(
    inquiry: &Inquiry,
    told: &mut Told,
    goes_on: &mut dyn FnMut(Explored) -> ControlFlow<()>,
) {
    let mut nodes = Vec::new();
    let mut known = HashSet::new();
    let mut ahead = VecDeque::new();
    for shuffle in 0..inquiry.shuffles {
        let world = World::begin(&inquiry.room(), shuffle);
        if known.insert(world.fingerprint(&inquiry.claims)) {
            nodes.push(Node { from: None, act: Act::TimePasses, shuffle, depth: 0 });
            ahead.push_back((world, nodes.len() - 1));
        }
    }
    while let Some((world, node)) = ahead.pop_front() {
        told.explored.states += 1;
        let Some(Node { shuffle, depth, .. }) = nodes.get(node).copied() else { return };
        told.explored.depth = depth;
        told.explored.ahead = ahead.len();
        if told.explored.states.is_multiple_of(STEP) && goes_on(told.explored).is_break() {
            told.is_ended = true;
            return;
        }
        for act in world.acts() {
            let mut next = world.clone();
            next.apply(act);
            if next.turns() > inquiry.turns || !known.insert(next.fingerprint(&inquiry.claims)) {
                continue;
            }
            nodes.push(Node { from: Some(node), act, shuffle, depth: depth + 1 });
            let at = nodes.len() - 1;
            let open: Vec<_> = inquiry.open(told).collect();
            for claim in open {
                if next.breaches(claim) || next.breaches_from_here(claim).is_some() {
                    told.broken.push(inquiry.broken(shuffle, &way(&nodes, at), claim, false));
                }
            }
            if told.broken.len() == inquiry.claims.len() {
                return;
            }
            if nodes.len() > inquiry.states {
                told.explored.ahead = ahead.len();
                return;
            }
            ahead.push_back((next, at));
        }
    }
    told.explored.ahead = 0;
    told.is_whole = true;
}

/// Returns the acts from the beginning to a state.
fn way(nodes: &[Node], to: usize) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut node = nodes.get(to);
    while let Some(Node { from: Some(from), act, .. }) = node {
        acts.push(*act);
        node = nodes.get(*from);
    }
    acts.reverse();
    acts
}
