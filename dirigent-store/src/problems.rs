//! What an operator should look at, remembered since a store was opened.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

/// How many problems are remembered; what they are about is kept, all of it.
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
    /// Remembers a problem, each once.
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

    /// Changes what is remembered.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Vec<P>)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// All that are remembered.
    pub fn all(&self) -> Vec<P> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
