//! Keeps the pages short, and their links leading somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::source;

/// A page that is longer is not read in one sitting.
const PAGE_MAX: usize = 12 * 1024;

/// All pages of `docs/` together, the rules aside.
const PAGES_MAX: usize = 120 * 1024;

/// Where links to the repository begin that also work on docs.rs and crates.io.
const REPOSITORY: &str = "https://github.com/dirigent-rs/dirigent/blob/main/";

/// The pages in a folder of the repository, without those in its own folders.
fn pages_in(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(source::root().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|it| it == "md")).collect()
}

/// All pages that are written by hand.
fn all_pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for folder in [
        "",
        "docs",
        "docs/rules",
        "verify",
        "examples",
        "examples/master-and-slave",
        "examples/quickstart",
        "plugins/openclaw",
    ] {
        pages.extend(pages_in(folder));
    }
    for entry in fs::read_dir(source::root()).unwrap() {
        let readme = entry.unwrap().path().join("README.md");
        if readme.exists() && !pages.contains(&readme) {
            pages.push(readme);
        }
    }
    pages
}

/// The lines of a page outside of blocks of code.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_fence && !is_code
    })
}

/// The targets of the links in a page.
fn links(page: &str) -> Vec<&str> {
    let parts = prose(page).flat_map(|line| line.split("](").skip(1));
    parts.filter_map(|part| part.split(')').next()).filter(|link| !link.contains(' ')).collect()
}

/// The anchors that a page's headings give.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = prose(page).filter(|line| line.starts_with('#'));
    let titles = headings.map(|line| line.trim_start_matches('#').trim());
    titles.map(anchor).collect()
}

fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            normal.pop();
        } else {
            normal.push(component);
        }
    }
    normal
}

/// Why a link of a page leads nowhere, if it does not.
fn is_broken(page: &Path, link: &str) -> Option<&'static str> {
    let (base, link) = match link.strip_prefix(REPOSITORY) {
        Some(rest) => (source::root().to_owned(), rest),
        None if link.contains("://") || link.starts_with("mailto:") => return None,
        None => (page.parent().unwrap().to_owned(), link),
    };
    let (path, wanted) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() { page.to_owned() } else { normal(&base.join(path)) };
    if !target.exists() {
        return Some("there is no such file");
    }
    let is_page = target.extension().is_some_and(|it| it == "md");
    if wanted.is_empty() || !is_page {
        return None;
    }
    let has_heading = anchors(&fs::read_to_string(&target).unwrap()).contains(wanted);
    (!has_heading).then_some("there is no such heading")
}

#[test]
fn every_link_leads_to_a_file_and_to_a_heading_that_exist() {
    let mut count = 0;
    for page in all_pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            count += 1;
            assert_eq!(is_broken(&page, link), None, "{}: {link}", page.display());
        }
    }
    assert!(count > 250, "only {count} links were found");
}

#[test]
fn a_page_for_users_is_read_in_one_sitting() {
    let mut all = 0;
    for page in pages_in("docs") {
        let bytes = fs::read(&page).unwrap().len();
        all += bytes;
        assert!(bytes <= PAGE_MAX, "{} has {bytes} bytes", page.display());
    }
    assert!(all <= PAGES_MAX, "docs/ has {all} bytes");
}

#[test]
fn readme_and_architecture_are_short() {
    for (page, lines_max) in [("README.md", 120), ("ARCHITECTURE.md", 170)] {
        let lines = fs::read_to_string(source::root().join(page)).unwrap().lines().count();
        assert!(lines <= lines_max, "{page} has {lines} lines");
    }
}

#[test]
fn links_and_headings_are_found() {
    let page = "# A `b`: c's\n[x](y.md#z) and [x](w)\n```text\n# D\n[x](v)\n```\n";
    assert_eq!(links(page), ["y.md#z", "w"]);
    assert_eq!(anchors(page), BTreeSet::from(["a-b-cs".to_owned()]));
    let page = source::root().join("docs/README.md");
    assert_eq!(is_broken(&page, "models.md#tools"), None);
    assert_eq!(is_broken(&page, "models.md#no"), Some("there is no such heading"));
    assert_eq!(is_broken(&page, "../no.md"), Some("there is no such file"));
}
