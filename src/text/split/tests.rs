//! Replies for chats whose messages are shorter than Discord's.

use dirigent_core::Tail;
use proptest::prelude::*;

use super::*;

/// What `Tail` looks at, without its limit: no white space, no marks, no lines that are only fences.
fn content<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().flat_map(Tail::compared).collect()
}

fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        " ",
        "\n",
        "\n\n",
        "\r\n",
        "word ",
        "A sentence. ",
        "`",
        "```",
        "````",
        "```rust\n",
        "\n```\n",
        "```rust,ignore\n",
        "```a-language-of-exactly-32-letters\n",
        "  indented\n",
        "🎼",
        "👨‍👩‍👧",
        "e\u{301}",
        "\u{200d}",
        "\u{3000}",
        "漢字。",
        "🇩🇪",
        "**",
        "*",
        "_",
        "__",
        "~~",
        "||",
        "***",
        "___",
        " ***a** b* ",
        "\\",
        "\n> ",
        "\n>>> ",
        "\n> ```rust\n> ",
        "\n> ```a-language-of-exactly-32-letters\n> ",
        "\n> ```\n",
        "|---|",
        "https://a.b/_c",
        "<:_e:1>",
    ]);
    prop_oneof![
        8 => fixed.prop_map(str::to_owned),
        3 => ("[a-z`*_>.\\n ]{1,12}", 1..60_usize).prop_map(|(text, times)| text.repeat(times)),
        2 => ("[a-z]", 50..250_usize).prop_map(|(text, times)| text.repeat(times)),
        1 => (prop::sample::select(vec!["\n", ">", "> ", "\u{301}", "\u{200d}", "***_x_", "🎼"]), 1..200_usize)
            .prop_map(|(text, times)| text.repeat(times)),
        1 => any::<String>(),
    ]
}

fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 100..130_usize, 2 => 100..400_usize, 1 => 100..=2_000_usize]
}

#[test]
fn white_space_longer_than_a_message_makes_no_fence() {
    let text = format!("a{}```", " ".repeat(110));
    assert_eq!(split_up_to(&text, 100, usize::MAX).0, ["a", "```"]);
}

#[test]
fn emphasis_leaves_a_fence_its_line() {
    // The cut is before that line, and behind it.
    for words in [45, 40] {
        let text = format!("*{}\n> ```rust\n{}b*", "a ".repeat(words), "b ".repeat(45));
        let (parts, _) = split_up_to(&text, 100, usize::MAX);
        let mut lines = parts.iter().flat_map(|part| part.lines());
        assert!(lines.any(|line| line == "> ```rust"), "{parts:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// WY7
    #[test]
    fn whatever_the_limit_is_each_part_keeps_it_and_no_word_is_lost(
        pieces in prop::collection::vec(piece(), 0..40), limit in limit(), most in prop_oneof![Just(usize::MAX), 0..5_usize]
    ) {
        let text = pieces.concat();
        let (parts, rest) = split_up_to(&text, limit, most);
        prop_assert!(parts.len() <= most);
        let mut tail = Tail::EMPTY;
        for part in &parts {
            prop_assert!(units(part) <= limit, "{} of {limit}: {part:?}", units(part));
            prop_assert!(!part.is_empty() && part.trim() == part, "{part:?}");
            tail.join(&Tail::of(part));
        }
        tail.join(&Tail::of(rest));
        let arrived = content(parts.iter().map(String::as_str).chain([rest]));
        prop_assert_eq!(arrived, content([&*text]), "{:?} {:?}", parts, rest);
    }
}

#[test]
fn what_fits_is_counted_as_a_chat_counts_and_what_does_not_is_cut_to_its_first_message() {
    assert!(fits(&"é".repeat(300), 300) && fits(&"🎺".repeat(150), 300));
    assert!(!fits(&"é".repeat(301), 300) && !fits(&"🎺".repeat(151), 300));
    assert!(fits(&"x".repeat(LEAST), 1), "no chat's messages are shorter");
    assert_eq!(first_message("as it is ".to_owned(), 300), "as it is ");
    assert_eq!(first_message("word ".repeat(100), 300).len(), 299);
    assert_eq!(first_message(" ".repeat(400), 300), "");
}
