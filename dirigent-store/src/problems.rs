//! The problems since a store was opened, for an operator to look at.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

/// The most problems that are remembered. The files or records themselves are all kept.
const REMEMBERED_MAX: usize = 1_000;

/// The problems since the store was opened.
#[derive(Debug)]
pub struct Problems<P>(Mutex<Vec<P>>);

impl<P> Default for Problems<P> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<P: Clone + Display + PartialEq> Problems<P> {
    /// Remembers a problem, but each one only once.
    pub fn push(&self, problem: P) {
        self.change(|all| {
            if all.contains(&problem) {
                return;
            }
            tracing::warn!(%problem, "the store has found a problem");
            if all.len() < REMEMBERED_MAX {
                all.push(problem);
            }
        });
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Vec<P>)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns all remembered problems.
    pub fn all(&self) -> Vec<P> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
