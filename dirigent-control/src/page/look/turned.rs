//! A long list in pages.

/// The number of entries on a page. So a page stays below 60 KB, even with long names, reasons and
/// ids.
pub(crate) const ENTRIES: usize = 25;

/// The entries of one page.
pub(crate) struct Turned<T> {
    pub(crate) entries: Vec<T>,
    /// The number of this page. The first is 1.
    pub(crate) page: usize,
    /// The number of pages.
    pub(crate) pages: usize,
}

impl<T> Turned<T> {
    /// Returns the page with that number, or the nearest one. The default is the first page.
    pub(crate) fn to(page: Option<usize>, all: Vec<T>) -> Self {
        let pages = all.len().div_ceil(ENTRIES).max(1);
        let page = page.unwrap_or(1).clamp(1, pages);
        let entries = all.into_iter().skip((page - 1) * ENTRIES).take(ENTRIES).collect();
        Self { entries, page, pages }
    }
}

/// Returns the page with the entry at this place.
pub(crate) const fn page_of(place: usize) -> usize {
    place / ENTRIES + 1
}
