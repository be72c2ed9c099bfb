//! Classes of characters by Unicode's tables.

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

/// Returns whether a class contains a character.
pub(super) fn is_in(class: &ClassUnicode, c: char) -> bool {
    // The ranges ascend.
    let ranges = class.ranges();
    let at = ranges.partition_point(|range| range.end() < c);
    ranges.get(at).is_some_and(|range| range.start() <= c)
}

/// Returns the characters that a pattern names. The tests make sure that each pattern in this crate is one class.
pub(super) fn class(pattern: &str) -> ClassUnicode {
    match regex_syntax::parse(pattern).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        _ => ClassUnicode::empty(),
    }
}
