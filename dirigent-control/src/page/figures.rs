//! Numbers of your program for `/metrics`.

use std::collections::HashSet;

/// Your own numbers for `/metrics`, which are read at each scrape. Pass them to
/// [`ControlBuilder::figures`](crate::ControlBuilder::figures).
///
/// ```
/// use dirigent_control::{Figure, Figures};
///
/// fn figures(held: usize) -> impl Figures {
///     move || vec![Figure::gauge("leases_held", "Leases of this process").value(held as u64)]
/// }
/// assert_eq!(figures(3).figures().len(), 1);
/// ```
pub trait Figures: Send + Sync + 'static {
    /// Returns the current numbers. Return them at once, because a scrape waits for this call.
    fn figures(&self) -> Vec<Figure>;
}

impl<F> Figures for F
where
    F: Fn() -> Vec<Figure> + Send + Sync + 'static,
{
    fn figures(&self) -> Vec<Figure> {
        self()
    }
}

/// A number, or several numbers with different labels.
///
/// ```
/// use dirigent_control::Figure;
///
/// let questions = Figure::counter("questions", "Questions of other processes, by outcome")
///     .labelled(&[("outcome", "taken")], 12)
///     .labelled(&[("outcome", "rejected")], 0);
/// assert_eq!(questions.name(), "questions");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    name: String,
    help: String,
    pub(crate) is_counter: bool,
    pub(crate) values: Vec<(Vec<(String, String)>, u64)>,
}

impl Figure {
    /// Creates a number that only rises while the process runs. `name` appears between `dirigent_` and `_total`. It has
    /// letters from `a` to `z`, digits and `_`, and no other number of the page may have it. A figure with another name
    /// is left out, because Prometheus would refuse the whole page.
    pub fn counter(name: impl Into<String>, help: impl Into<String>) -> Self {
        let (name, help) = (name.into(), help.into());
        Self { name, help, is_counter: true, values: Vec::new() }
    }

    /// Creates a number that can rise and fall. `name` appears after `dirigent_` and follows the rules of a
    /// [counter](Self::counter).
    pub fn gauge(name: impl Into<String>, help: impl Into<String>) -> Self {
        Self { is_counter: false, ..Self::counter(name, help) }
    }

    /// Returns the numbers of a store with leases: the leases that this process holds, the number of processes, and the
    /// leases taken since its start. The `PostgresStore` of `dirigent-cluster` has `share` and `taken` for it.
    pub fn leases(held: usize, processes: u16, taken: u64) -> Vec<Self> {
        let held = u64::try_from(held).unwrap_or(u64::MAX);
        vec![
            Self::gauge("leases_held", "Shards of channels on which this process has the lease")
                .value(held),
            Self::gauge("processes", "Processes that share the store").value(processes.into()),
            Self::counter("leases_taken", "Leases that this process has taken since its start")
                .value(taken),
        ]
    }

    /// Sets the number of a figure without labels.
    #[must_use]
    pub fn value(self, value: u64) -> Self {
        self.labelled(&[], value)
    }

    /// Adds a number with its labels, for example `("outcome", "taken")`. If two numbers have equal labels, the first
    /// one counts. A figure that has one label twice is left out.
    #[must_use]
    pub fn labelled(mut self, labels: &[(&str, &str)], value: u64) -> Self {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.values.push((labels.collect(), value));
        self
    }

    /// Returns the name, without `dirigent_`.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn help(&self) -> &str {
        &self.help
    }

    /// Returns true if Prometheus can read it.
    pub(crate) fn is_fit(&self) -> bool {
        let is_word = |text: &str| {
            let is_plain =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            text.bytes().all(is_plain) && text.starts_with(|first: char| first.is_ascii_lowercase())
        };
        let is_one = |labels: &Vec<(String, String)>| {
            let names: HashSet<&str> = labels.iter().map(|(name, _)| name.as_str()).collect();
            names.len() == labels.len() && names.into_iter().all(is_word)
        };
        is_word(&self.name) && self.values.iter().all(|(labels, _)| is_one(labels))
    }

    /// Returns the name of its numbers, without `dirigent_`.
    pub(crate) fn series(&self) -> String {
        format!("{}{}", self.name, if self.is_counter { "_total" } else { "" })
    }

    /// Returns its numbers. If two have equal labels in any order, the first one counts.
    pub(crate) fn distinct(&self) -> impl Iterator<Item = (Vec<(&str, &str)>, &u64)> {
        let mut seen = HashSet::new();
        self.values.iter().map(move |(labels, value)| (pairs(labels), value)).filter(
            move |(labels, _)| {
                let mut sorted = labels.clone();
                sorted.sort_unstable();
                seen.insert(sorted)
            },
        )
    }
}

/// Returns the labels as they are written.
fn pairs(labels: &[(String, String)]) -> Vec<(&str, &str)> {
    labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}
