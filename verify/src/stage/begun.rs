//! A call that is under way.

use std::sync::{Arc, Mutex, PoisonError};

/// A call that was begun on the stage.
///
/// ```
/// # let mut stage = dirigent_verify::stage::Setup::new().stage();
/// let begun = stage.begin(|dirigent| async move { dirigent.channels().len() });
/// assert_eq!(begun.take(), None);
/// stage.settle();
/// assert_eq!(begun.take(), Some(0));
/// ```
#[derive(Debug)]
pub struct Begun<T> {
    answer: Arc<Mutex<Option<T>>>,
}

impl<T> Begun<T> {
    /// What it answered, if it has. Taken out.
    pub fn take(&self) -> Option<T> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn put(&self, answer: T) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }
}

impl<T> Clone for Begun<T> {
    fn clone(&self) -> Self {
        let answer = Arc::clone(&self.answer);
        Self { answer }
    }
}

impl<T> Default for Begun<T> {
    fn default() -> Self {
        let answer = Arc::default();
        Self { answer }
    }
}
