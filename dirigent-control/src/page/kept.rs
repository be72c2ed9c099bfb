//! Keeps the answers to forms for a moment. A browser reads each answer with a request that changes nothing, so that
//! its Back button and its reload do not send a form again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The most pages that are kept. Each has at most about 60 KB.
const KEPT_MAX: usize = 32;

/// The newest pages that answer forms.
#[derive(Default)]
pub(crate) struct KeptPages {
    newest: Mutex<VecDeque<KeptPage>>,
}

struct KeptPage {
    number: u64,
    /// The visitor who sent the form. The answer is for this visitor only.
    by: Arc<str>,
    html: Arc<str>,
}

impl KeptPages {
    /// Keeps a page, and returns its number. The numbers are times, so that an address from before a restart never
    /// names a page of today.
    pub(crate) fn keep(&self, now: u64, by: &Arc<str>, html: String) -> u64 {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let number = newest.back().map_or(now, |last| now.max(last.number + 1));
        if newest.len() >= KEPT_MAX {
            newest.pop_front();
        }
        newest.push_back(KeptPage { number, by: Arc::clone(by), html: html.into() });
        number
    }

    /// Returns the page with this number if this visitor sent its form.
    pub(crate) fn of(&self, number: u64, by: &str) -> Option<Arc<str>> {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = newest.iter().find(|kept| kept.number == number && *kept.by == *by);
        kept.map(|kept| Arc::clone(&kept.html))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_kept_for_who_sent_the_form_until_newer_ones_take_its_place() {
        let pages = KeptPages::default();
        let [anna, ben]: [Arc<str>; 2] = ["anna".into(), "ben".into()];
        let first = pages.keep(1_000, &anna, "one".to_owned());
        let second = pages.keep(1_000, &ben, "two".to_owned());
        assert_eq!(pages.of(first, "anna").as_deref(), Some("one"));
        assert_eq!(pages.of(second, "ben").as_deref(), Some("two"), "also in the same millisecond");
        assert_eq!(pages.of(second, "anna"), None);
        for _ in 0..KEPT_MAX {
            pages.keep(2_000, &anna, "later".to_owned());
        }
        assert_eq!(pages.of(first, "anna"), None);
        assert_eq!(pages.newest.lock().unwrap().len(), KEPT_MAX);
    }
}
