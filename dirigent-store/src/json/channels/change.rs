//! What changed of a large text of which one line is nearly all: the texts of a reply that is being posted stand in one
//! line of a channel's file, and part by part only a few bytes of it change.
//!
//! A change is a line with six numbers, what stands before the longest line, `=`, what is new in that line, and what
//! stands after it.

use std::ops::Range;

/// What makes a new text of an old one; `None` where it cannot be told in this form.
pub(super) fn change(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    let (from, to) = (longest_line(old), longest_line(new));
    let (old_line, new_line) = (old.get(from.clone())?, new.get(to.clone())?);
    let common = |(a, b): &(&u8, &u8)| a == b;
    let prefix = old_line.iter().zip(new_line).take_while(common).count();
    let (old_rest, new_rest) = (old_line.get(prefix..)?, new_line.get(prefix..)?);
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(common).count();
    let middle = new_rest.get(..new_rest.len() - suffix)?;
    let (before, after) = (new.get(..to.start)?, new.get(to.end..)?);
    let mut change = format!(
        "{} {} {prefix} {suffix} {} {}\n",
        from.start,
        from.len(),
        before.len(),
        middle.len()
    )
    .into_bytes();
    for part in [before, b"=", middle, after] {
        change.extend_from_slice(part);
    }
    change.ends_with(b"\n").then_some(change)
}

/// Makes the new text; `None` where the change is not one of this text.
pub(super) fn apply(old: &[u8], change: &[u8]) -> Option<Vec<u8>> {
    let header = change.iter().position(|byte| *byte == b'\n')?;
    let numbers = std::str::from_utf8(change.get(..header)?).ok()?;
    let mut numbers = numbers.split(' ').map(|number| number.parse::<usize>().ok());
    let mut next = || numbers.next().flatten();
    let (start, length, prefix, suffix, before, middle) =
        (next()?, next()?, next()?, next()?, next()?, next()?);
    let line = old.get(start..start.checked_add(length)?)?;
    let (before, rest) = change.get(header + 1..)?.split_at_checked(before)?;
    let (middle, after) = rest.strip_prefix(b"=")?.split_at_checked(middle)?;
    let prefix = line.get(..prefix)?;
    let suffix = line.get(line.len().checked_sub(suffix)?..)?;
    Some([before, prefix, middle, suffix, after].concat())
}

fn longest_line(text: &[u8]) -> Range<usize> {
    let mut longest = 0..0;
    let mut start = 0;
    for line in text.split(|byte| *byte == b'\n') {
        if line.len() > longest.len() {
            longest = start..start + line.len();
        }
        start += line.len() + 1;
    }
    longest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_change_makes_the_new_text_of_the_old_one(old in "[ab\n]{0,40}", new in "[ab\n]{0,40}\n") {
            let (old, new) = (old.as_bytes(), new.as_bytes());
            let change = change(old, new).unwrap();
            prop_assert_eq!(apply(old, &change).unwrap(), new);
        }

        #[test]
        fn whatever_a_change_says_it_is_applied_or_refused(old in "[ab\n]{0,20}", change in "[0-9 ]{0,14}\n[ab=\n]{0,20}") {
            let _ = apply(old.as_bytes(), change.as_bytes());
        }
    }

    #[test]
    fn a_change_in_a_long_line_is_short() {
        let text = |posted: &str| {
            format!(
                "{{\n  \"a\": {},\n  \"parts\": [{}{posted}{}]\n}}\n",
                posted.len(),
                "x".repeat(9_000),
                "y".repeat(9_000)
            )
        };
        let (old, new) = (text(""), text(", \"posted\": \"7\""));
        let change = change(old.as_bytes(), new.as_bytes()).unwrap();
        assert!(change.len() < 100, "{}", change.len());
        assert_eq!(apply(old.as_bytes(), &change).unwrap(), new.as_bytes());
    }
}
