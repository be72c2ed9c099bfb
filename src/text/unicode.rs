//! Classes of characters by Unicode's tables.

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

/// Whether a class has a character.
pub(super) fn is_in(class: &ClassUnicode, c: char) -> bool {
    // The ranges ascend.
    let ranges = class.ranges();
    let at = ranges.partition_point(|range| range.end() < c);
    ranges.get(at).is_some_and(|range| range.start() <= c)
}

/// The characters that a pattern names. Each pattern in this crate is one class, which the tests make sure of.
pub(super) fn class(pattern: &str) -> ClassUnicode {
    match regex_syntax::parse(pattern).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        _ => ClassUnicode::empty(),
    }
}
