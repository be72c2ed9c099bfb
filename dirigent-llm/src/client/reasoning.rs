//! Reasoning that a model wrote into its answer. It is never posted: where it is not sure what is reasoning, less is said.

use std::borrow::Cow;

/// What stands in the marks of reasoning.
const WORDS: [&str; 4] = ["think", "thinking", "thought", "reasoning"];
/// What marks stand in: `<think>`, `[THINK]`, `◁think▷`.
const BRACKETS: [(char, char); 3] = [('<', '>'), ('[', ']'), ('◁', '▷')];

/// Marks with which some models begin the part that is said, and end it.
const SAID: &str = "<|channel|>final<|message|>";
const CHANNEL: &str = "<|channel|>";
const ENDS: [&str; 3] = ["<|return|>", "<|end|>", "<|start|>"];

/// A mark of reasoning in a text.
struct Mark {
    start: usize,
    end: usize,
    opens: bool,
}

/// How often what is left is looked through again; what still has marks then is not said at all.
const PASSES_MAX: usize = 8;

/// Returns the text without reasoning and without white space around it, and whether any reasoning was there.
///
/// Reasoning is what stands between `<think>` and `</think>`, all that stands before a `</think>` that nothing opened, and all
/// that follows a `<think>` that nothing closes. A mark in backticks of its own is a word like any other.
pub(crate) fn without_reasoning(text: &str) -> (Cow<'_, str>, bool) {
    let (text, has_channels) = said_part(text);
    let Some(mut said) = without_marked(text) else {
        return (Cow::Borrowed(text.trim()), has_channels);
    };
    // What is left can make another mark.
    for _ in 0..PASSES_MAX {
        match without_marked(&said) {
            Some(less) => said = less,
            None => return (Cow::Owned(said.trim().to_owned()), true),
        }
    }
    (Cow::Borrowed(""), true)
}

/// Returns the text without a block of `<think>` at its beginning, as reasoning models write it when their server does not
/// take it out, and whether one was there. One that is not closed leaves nothing. Other marks stay.
pub(crate) fn without_leading_think(text: &str) -> (Cow<'_, str>, bool) {
    let text = text.trim();
    match text.strip_prefix("<think>") {
        None => (Cow::Borrowed(text), false),
        Some(reasoning) => {
            let said = reasoning.split_once("</think>").map_or("", |(_, said)| said.trim());
            (Cow::Borrowed(said), true)
        }
    }
}

/// The text without what is marked, if anything is.
fn without_marked(text: &str) -> Option<String> {
    if !text.contains(BRACKETS.map(|(open, _)| open)) {
        return None;
    }
    let mut said = String::new();
    let (mut at, mut is_open, mut any) = (0, false, false);
    while let Some(mark) = next_mark(text, at, is_open) {
        if !mark.opens {
            if !is_open {
                said.clear();
            }
            is_open = false;
        } else if !is_open {
            said.push_str(text.get(at..mark.start).unwrap_or_default());
            is_open = true;
        }
        any = true;
        at = mark.end;
    }
    if !is_open {
        said.push_str(text.get(at..).unwrap_or_default());
    }
    any.then_some(said)
}

/// Of an answer in channels the final one.
fn said_part(text: &str) -> (&str, bool) {
    if !text.contains(CHANNEL) {
        return (text, false);
    }
    let Some((_, said)) = text.rsplit_once(SAID) else {
        return ("", true);
    };
    let end = ENDS.iter().filter_map(|end| said.find(end)).min().unwrap_or(said.len());
    (said.get(..end).unwrap_or(said), true)
}

/// The next mark. One that opens is of no interest within reasoning, which may speak of it.
fn next_mark(text: &str, from: usize, is_open: bool) -> Option<Mark> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let (offset, open) = rest.char_indices().find(|(_, c)| is_bracket(*c))?;
        let start = at + offset;
        at = start + open.len_utf8();
        let Some(mark) = mark_at(text, start, open).filter(|mark| !(is_open && mark.opens)) else {
            continue;
        };
        let is_quoted = text.get(..start).is_some_and(|before| before.ends_with('`'))
            && text.get(mark.end..).is_some_and(|after| after.starts_with('`'));
        if !is_quoted {
            return Some(mark);
        }
    }
}

fn is_bracket(c: char) -> bool {
    BRACKETS.iter().any(|(open, _)| *open == c)
}

fn mark_at(text: &str, start: usize, open: char) -> Option<Mark> {
    let (_, close) = BRACKETS.into_iter().find(|(bracket, _)| *bracket == open)?;
    let inner = text.get(start + open.len_utf8()..)?;
    let (body, opens) = match inner.strip_prefix('/') {
        Some(body) => (body, false),
        None => (inner, true),
    };
    let letters = body.bytes().take_while(u8::is_ascii_alphabetic).count();
    let word = body.get(..letters)?;
    WORDS.iter().find(|known| known.eq_ignore_ascii_case(word))?;
    // `[thought]` is a word in brackets; the models that use these brackets write in capitals.
    let is_loud = open != '[' || word.bytes().all(|letter| letter.is_ascii_uppercase());
    let after = body.get(letters..)?.trim_start_matches(' ');
    let rest = after.strip_prefix(close).filter(|_| is_loud)?;
    Some(Mark { start, end: text.len() - rest.len(), opens })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(text: &str) -> String {
        without_reasoning(text).0.into_owned()
    }

    #[test]
    fn what_stands_between_the_marks_is_not_said() {
        for text in [
            "<think>Hm.</think>Yes.",
            "<think>\nHm.\n</think>\n\nYes.\n",
            "<THINK>Hm.</THINK> Yes.",
            "<thinking>Hm.</thinking>Yes.",
            "<thought>Hm.</thought>Yes.",
            "<reasoning >Hm.</reasoning >Yes.",
            "[THINK]Hm.[/THINK]Yes.",
            "◁think▷Hm.◁/think▷Yes.",
            "<think></think>Yes.",
            "<think>The tag <think> opens.</think>Yes.",
            "<think>a<think>b</think>c</think>Yes.",
            "<think>```\n</think>\nYes.",
        ] {
            assert_eq!(said(text), "Yes.", "{text}");
            assert!(without_reasoning(text).1, "{text}");
        }
        assert_eq!(said("Yes, <think>hm</think>of course."), "Yes, of course.");
    }

    #[test]
    fn what_stands_before_a_closing_mark_alone_is_not_said() {
        for text in ["Hm.</think>Yes.", "Hm.\n```\nx\n</think>\n\nYes.", "a</think>b</think> Yes."]
        {
            assert_eq!(said(text), "Yes.", "{text}");
        }
        assert_eq!(without_reasoning("Hm.</think>"), (Cow::Borrowed(""), true));
    }

    #[test]
    fn reasoning_that_is_never_closed_leaves_nothing() {
        assert_eq!(without_reasoning("<think>Hm. And then"), (Cow::Borrowed(""), true));
        assert_eq!(said("So. <think>Hm. `</think>` ends it."), "So.");
    }

    #[test]
    fn a_leading_think_is_left_out_and_the_tags_of_others_stay() {
        let written = |text| without_leading_think(text).0.into_owned();
        let tags = "<thinking>Hm.</thinking>\n<speech>Yes.</speech>";
        assert_eq!(written(tags), tags);
        assert_eq!(written(&format!("<think>\nSo.\n</think>\n\n{tags}\n")), tags);
        assert_eq!(without_leading_think("<think>So. And"), (Cow::Borrowed(""), true));
        assert_eq!(without_reasoning(tags).0, "<speech>Yes.</speech>", "which is why");
    }

    #[test]
    fn of_channels_the_final_one_is_said() {
        let text = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>";
        assert_eq!(without_reasoning(text), (Cow::Borrowed("Yes."), true));
        assert_eq!(said("<|channel|>analysis<|message|>Hm."), "");
        let said_part = "<|channel|>final<|message|>Yes.";
        for end in ["<|return|>", "<|end|>", "<|start|>assistant<|channel|>analysis<|message|>Hm."]
        {
            assert_eq!(said(&format!("{said_part}{end}")), "Yes.", "{end}");
        }
    }

    #[test]
    fn a_text_that_only_speaks_of_it_is_said() {
        for text in [
            "I think so.",
            "The mark is `<think>`, and `</think>` ends it.",
            "a < b > c, [thought] and [x]",
            "<thinker>",
            "A <b>thought</b>.",
        ] {
            assert_eq!(without_reasoning(text), (Cow::Borrowed(text), false));
        }
    }

    proptest! {
        #[test]
        fn no_mark_is_left_whatever_the_text(parts in prop::collection::vec(
            prop::sample::select(vec![
                "<think>", "</think>", "<thi", "nk>", "a", "`", "\n", "◁/think▷", "[/THINK]", "<", ">", "é",
            ]),
            0..20,
        )) {
            let text = parts.concat();
            let (said, _) = without_reasoning(&text);
            prop_assert_eq!(without_reasoning(&said), (Cow::Borrowed(&*said), false), "{:?}", text);
        }
    }

    #[test]
    fn a_text_that_hides_marks_in_marks_is_not_said() {
        let hidden =
            (0..50).fold(String::from("secret"), |text, _| format!("<thi<think></think>nk>{text}"));
        assert_eq!(without_reasoning(&hidden).0, "");
    }
}
