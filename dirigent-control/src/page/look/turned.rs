//! A long list, some of it a page.

/// How many entries a page has. With long names, reasons and ids it stays within 60 KB.
pub(crate) const ENTRIES: usize = 25;

/// The entries of one page.
pub(crate) struct Turned<T> {
    pub(crate) entries: Vec<T>,
    /// Which page this is; the first is 1.
    pub(crate) page: usize,
    /// How many pages there are.
    pub(crate) pages: usize,
}

impl<T> Turned<T> {
    /// The page of that number, or the one nearest to it; the first where none is asked for.
    pub(crate) fn to(page: Option<usize>, all: Vec<T>) -> Self {
        let pages = all.len().div_ceil(ENTRIES).max(1);
        let page = page.unwrap_or(1).clamp(1, pages);
        let entries = all.into_iter().skip((page - 1) * ENTRIES).take(ENTRIES).collect();
        Self { entries, page, pages }
    }
}

/// On which page the entry at this place is.
pub(crate) const fn page_of(place: usize) -> usize {
    place / ENTRIES + 1
}
