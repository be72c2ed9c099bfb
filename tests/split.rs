//! Long replies become messages that Discord accepts and the turn machine recognises.

use dirigent::host::split_reply;
use dirigent_core::Tail;
use proptest::prelude::*;

const LIMIT: usize = 2_000;

/// What `Tail` looks at, without its limit: no white space, no marks, no lines that are only fences.
fn content<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().flat_map(Tail::compared).collect()
}

#[track_caller]
fn assert_well_split(text: &str) -> Vec<String> {
    let parts = split_reply(text);
    let mut tail = Tail::EMPTY;
    for part in &parts {
        assert!(part.encode_utf16().count() <= LIMIT, "a part is too long");
        assert!(!part.is_empty() && part.trim() == part, "a part is blank or untrimmed: {part:?}");
        tail.join(&Tail::of(part));
    }
    assert_eq!(tail, Tail::of(text), "{:?} / {:?}", tail.as_str(), Tail::of(text).as_str());
    let joined = content(parts.iter().map(String::as_str));
    assert!(joined == content([text]), "content changed");
    parts
}

/// A paragraph of exactly so many units, made of words and ended with a stop.
fn paragraph(units: usize) -> String {
    let words = "word ".repeat(units / 5 + 1);
    words[..units - 2].trim_end().to_owned()
        + &".".repeat(units - words[..units - 2].trim_end().len())
}

#[test]
fn a_short_reply_is_one_trimmed_message() {
    assert_eq!(split_reply("  hello\n"), ["hello"]);
    assert_eq!(split_reply("```rust\nopen"), ["```rust\nopen"]);
    assert_eq!(split_reply(&"x".repeat(LIMIT)), ["x".repeat(LIMIT)]);
}

#[test]
fn a_blank_reply_is_no_message() {
    assert!(split_reply("").is_empty());
    assert!(split_reply(&" \n\u{3000}".repeat(5_000)).is_empty());
}

#[test]
fn the_limit_counts_utf16_code_units() {
    assert_eq!(assert_well_split(&"🎼".repeat(1_000)).len(), 1);
    assert_eq!(assert_well_split(&"🎼".repeat(1_001)).len(), 2);
    assert_eq!(assert_well_split(&"漢".repeat(2_000)).len(), 1);
}

#[test]
fn a_paragraph_break_is_better_than_a_later_line_break() {
    let text = format!("{}\n\n{}\n{}", paragraph(1_100), paragraph(700), paragraph(900));
    let parts = assert_well_split(&text);
    assert_eq!(parts[0], paragraph(1_100));
    assert_eq!(parts.len(), 2);
}

#[test]
fn a_line_break_is_better_than_a_later_sentence() {
    let text = format!("{}\n{} {}", paragraph(1_100), paragraph(700), paragraph(900));
    assert_eq!(assert_well_split(&text)[0], paragraph(1_100));
}

#[test]
fn a_sentence_is_better_than_a_later_word() {
    let text = format!("{} {}", paragraph(1_500), paragraph(1_500));
    assert_eq!(assert_well_split(&text)[0], paragraph(1_500));
    let cjk = "漢".repeat(1_500) + "。" + &"字".repeat(1_500);
    assert_eq!(assert_well_split(&cjk)[0], "漢".repeat(1_500) + "。");
}

#[test]
fn a_word_is_not_cut_if_it_fits() {
    let text = "ab ".repeat(500) + &"x".repeat(1_900) + " end";
    let parts = assert_well_split(&text);
    assert_eq!(parts[1], "x".repeat(1_900) + " end");
}

#[test]
fn an_endless_word_is_cut_where_the_message_is_full() {
    let parts = assert_well_split(&"x".repeat(4_500));
    assert_eq!(parts.iter().map(String::len).collect::<Vec<_>>(), [2_000, 2_000, 500]);
}

#[test]
fn what_looks_like_one_character_is_not_cut() {
    let family = "👨‍👩‍👧‍👦";
    for unit in [family, "👍🏽", "e\u{301}", "❤\u{fe0f}", "🇩🇪x"] {
        for part in assert_well_split(&unit.repeat(2_000)) {
            assert!(part.starts_with(unit) && part.ends_with(unit), "{unit} was cut");
        }
    }
    // Vowel signs and marks of every script; the letter in front puts the limit between the two characters.
    for unit in ["कि", "நி", "שָ", "กี"] {
        for (number, part) in
            assert_well_split(&format!("x{}", unit.repeat(1_500))).iter().enumerate()
        {
            let whole = if number == 0 { part.strip_prefix('x').unwrap() } else { part };
            assert_eq!(whole.replace(unit, ""), "", "{unit} was cut");
        }
    }
}

#[test]
fn a_code_block_that_fits_into_the_next_message_is_not_cut() {
    let code = format!("```rust\n{}```", "let x = 1;\n".repeat(170));
    let parts = assert_well_split(&format!("{}\n{code}\nafter", paragraph(900)));
    assert_eq!(parts, [paragraph(900), format!("{code}\nafter")]);
}

#[test]
fn a_code_block_that_fits_into_this_message_is_not_cut() {
    let code = format!("```\n{}```", "line\n".repeat(300));
    let after = "w".repeat(600);
    let parts = assert_well_split(&format!("Look:\n{code}\n{after}"));
    assert_eq!(parts, [format!("Look:\n{code}"), after]);
}

#[test]
fn a_code_block_of_exactly_one_message_is_not_cut() {
    let code = format!("```\n{}\n```", "y".repeat(LIMIT - 8));
    let parts = assert_well_split(&format!("before\n\n{code}\n\nafter"));
    assert_eq!(parts, ["before".to_owned(), code, "after".to_owned()]);
}

#[test]
fn a_large_code_block_is_closed_and_reopened_with_its_language() {
    let code = "    indented();\n".repeat(400);
    let parts = assert_well_split(&format!("Look:\n```rust\n{code}```\nDone."));
    assert!(parts.len() > 3);
    for part in &parts[1..] {
        assert!(part.starts_with("```rust\n    indented();\n"), "{part}");
    }
    for part in &parts[..parts.len() - 1] {
        assert!(part.ends_with("\n    indented();\n```"), "{part}");
    }
    assert!(parts.last().unwrap().ends_with("\n```\nDone."));
}

#[test]
fn no_message_begins_with_an_empty_code_block() {
    for lines in 230..260 {
        let code = "println\n".repeat(lines);
        let parts = assert_well_split(&format!("```rust\n{code}```\n{}", paragraph(1_000)));
        for part in parts {
            assert!(!part.contains("```rust\n```"), "{lines} lines: {part}");
        }
    }
}

#[test]
fn a_cut_before_a_closing_line_leaves_no_empty_code_block() {
    let code = "y".repeat(1_900) + &"\n".repeat(200);
    let parts = assert_well_split(&format!("```rust\n{code}```\n{}", paragraph(1_000)));
    assert_eq!(parts, [format!("```rust\n{}\n```", "y".repeat(1_900)), paragraph(1_000)]);
    // Discord shows what follows a closing mark, so this line is more than a fence.
    let parts = assert_well_split(&format!("```rust\n{code}```shown\n{}", paragraph(1_000)));
    assert!(parts[1].contains("shown"));
}

#[test]
fn a_message_does_not_end_with_an_opening_line() {
    for length in 1_960..2_000 {
        let code = "let x = 1;\n".repeat(300);
        let parts = assert_well_split(&format!("{}\n```rust\n{code}```", paragraph(length)));
        assert!(!parts[0].ends_with("```rust") && !parts[0].ends_with("```rust\n```"), "{length}");
        assert!(parts[1].starts_with("```rust\nlet x = 1;\n"), "{length}");
    }
}

#[test]
fn the_rest_of_a_large_code_block_is_not_cut_again() {
    let code = "let x = 1;\n".repeat(290);
    let parts = assert_well_split(&format!("```rust\n{code}``` {}", "word ".repeat(400)));
    assert!(parts[1].starts_with("```rust\n") && parts[1].ends_with(" word"));
    assert!(parts[2].starts_with("word "));
}

#[test]
fn a_large_code_block_is_cut_at_a_blank_line() {
    let function = "fn f() {\n    g();\n}\n".repeat(60);
    let code = [function.as_str(); 3].join("\n");
    let parts = assert_well_split(&format!("```rust\n{code}```"));
    assert_eq!(parts.len(), 3);
    assert!(parts.iter().all(|part| *part == format!("```rust\n{function}```")));
}

#[test]
fn a_long_closing_mark_is_not_cut() {
    let parts = assert_well_split(&format!("```\n{}{} end", "y".repeat(1_900), "`".repeat(200)));
    assert!(parts[0].ends_with("y\n```") && parts[1].contains(&"`".repeat(200)));
}

#[test]
fn an_early_break_is_not_better_than_a_fuller_message() {
    let text = "Hi.\n\n".to_owned() + &"word ".repeat(600);
    assert!(assert_well_split(&text)[0].len() > 1_900);
}

#[test]
fn a_block_that_was_cut_off_is_closed() {
    let parts = assert_well_split(&("```py\n".to_owned() + &"x = 1\n".repeat(500)));
    assert!(parts.len() > 1);
    for part in parts {
        assert!(part.starts_with("```py\nx = 1\n") && part.ends_with("\nx = 1\n```"));
    }
    for length in 0..60 {
        assert_well_split(&("```py\n".to_owned() + &"x = 1\n".repeat(655) + &"y".repeat(length)));
    }
}

#[test]
fn a_stray_mark_in_prose_opens_nothing() {
    let text = format!("Write ``` first. {}", paragraph(3_000));
    assert!(assert_well_split(&text).iter().all(|part| !part.ends_with("\n```")));
}

#[test]
fn an_opening_line_that_is_no_language_is_reopened_bare() {
    for opening in ["```rust,ignore", "``` rust", &format!("```{}", "l".repeat(40))] {
        let parts = assert_well_split(&format!("{opening}\n{}```", "code here\n".repeat(300)));
        assert!(parts[1].starts_with("```\ncode here\n"), "{opening}");
    }
}

#[test]
fn more_backticks_are_the_same_fence() {
    let parts = assert_well_split(&format!("````rust\n{}````", "code here\n".repeat(300)));
    assert!(parts[0].starts_with("````rust\ncode") && parts[0].ends_with("here\n```"));
    assert!(parts[1].starts_with("```rust\ncode") && parts[1].ends_with("here\n````"));
}

#[test]
fn a_language_as_long_as_a_message_is_still_no_content() {
    let text = format!("before\n```{}\ncode\n```\nafter", "l".repeat(5_000));
    let parts = assert_well_split(&text);
    assert_eq!(parts.concat().matches('l').count(), 5_000);
    assert_well_split(&format!("```{} and more", "l".repeat(5_000)));
    assert_well_split(&format!("x ```{}", "l".repeat(5_000)));
    assert_well_split(&format!("x{} ```rust", "y".repeat(1_995)));
    for length in 1_980..2_000 {
        assert_well_split(&format!("```{},more", "l".repeat(length)));
    }
}

#[test]
fn a_megabyte_of_anything_is_well_split() {
    const SIZE: usize = 1 << 20;
    let pieces = [
        "x",
        "word ",
        "\n",
        "` ",
        "`",
        "``` ",
        "```\n",
        "```a",
        "```rust\nlet x = 1;\n",
        "🎼",
        "e\u{301}",
        "\u{200d}",
        "a\n\n",
        "```\ncode\n```\n",
        "**",
        "*a",
        "**a ",
        "***a***",
        "> a\n",
        "> ```\n> a\n",
        ">>> ",
        "_a_ ||b|| ",
        "\\\\",
        "<a",
        "<a> ",
        "http://",
        "https://_ ",
    ];
    let ends = [("", ""), ("x", "x"), ("```rust\n", "\n```"), ("```\nx", "x"), ("x```", "y")];
    for piece in pieces {
        for (front, back) in ends {
            let text = front.to_owned() + &piece.repeat(SIZE / piece.len()) + back;
            assert_well_split(&text);
        }
    }
    let spaces = " ".repeat(SIZE);
    assert_well_split(&format!("a{spaces}b"));
    assert_well_split(&format!("```\na\n{spaces}b\n```{spaces}c"));
    assert_well_split(&format!("```{spaces}x```{spaces}y"));
}

/// Takes a fraction of a second each; anything quadratic takes a minute and more.
#[test]
#[expect(clippy::disallowed_methods, reason = "measures the machine, not the channel")]
fn huge_replies_are_split_in_linear_time() {
    const SIZE: usize = 8 << 20;
    let spaces = " ".repeat(SIZE);
    let huge = [
        "word ".repeat(SIZE / 5),
        "```\n".repeat(SIZE / 4),
        "```rust\nlet x = 1;\n".repeat(SIZE / 19),
        "```\n".to_owned() + &"x\n".repeat(SIZE / 2),
        "```".to_owned() + &"x".repeat(SIZE) + " y",
        format!("a```{spaces}b```{spaces}c"),
        format!("**{}**", "word ".repeat(SIZE / 5).trim_end()),
        "*a ".repeat(SIZE / 3),
        "**a** ".repeat(SIZE / 6),
        "`a``".repeat(SIZE / 4),
        ">>> ".repeat(SIZE / 4),
        "<".repeat(SIZE),
        "<a".repeat(SIZE / 2),
        "http://".repeat(SIZE / 7),
        "http://__ ".repeat(SIZE / 10),
        "> a\n".repeat(SIZE / 4),
    ];
    for text in huge {
        let start = std::time::Instant::now();
        assert!(!split_reply(&text).is_empty());
        assert!(start.elapsed().as_secs() < 15, "{:?} …", &text[..8]);
    }
}

/// A part for each of these texts, each a text of words in the marks.
#[track_caller]
fn assert_parts<S: AsRef<str>>(text: &str, ends: &[(S, S)]) {
    let parts = assert_well_split(text);
    assert_eq!(parts.len(), ends.len(), "{parts:?}");
    for (part, (front, back)) in parts.iter().zip(ends) {
        let (front, back) = (front.as_ref(), back.as_ref());
        assert!(part.starts_with(front), "{front:?}: {part}");
        assert!(part.ends_with(back), "{back:?}: {part}");
    }
}

/// HR18
#[test]
fn emphasis_is_closed_at_a_cut_and_opened_again() {
    let words = "word ".repeat(600);
    let words = words.trim_end();
    for mark in ["**", "*", "__", "_", "~~", "||", "***", "___"] {
        let (open, close) = (format!("{mark}word"), format!("word{mark}"));
        let whole = (open.as_str(), close.as_str());
        assert_parts(&format!("{mark}{words}{mark}"), &[whole, whole]);
        let closed = format!("{close}, done.");
        let text = format!("Look: {mark}{words}{mark}, done.");
        assert_parts(&text, &[("Look: ", &*close), (&*open, &*closed)]);
    }
    let text = format!("__**a ~~{words}~~ b** c__ {words}");
    let parts = assert_well_split(&text);
    assert!(parts[0].starts_with("__**a ~~word") && parts[0].ends_with("word~~**__"), "{parts:?}");
    assert!(parts[1].starts_with("__**~~word") && parts[1].contains("word~~ b** c__ word"));
    assert!(parts[2..].iter().all(|part| part.starts_with("word") && part.ends_with("word")));
    // An address ends before the marks behind it.
    let text = format!("**https://a.b/c_d {words} https://a.b/_c/_**");
    assert_parts(&text, &[("**https://a.b/c_d", "word**"), ("**word", "https://a.b/_c/_**")]);
    // Which of three is the inner one is known where one is closed.
    let front = "in ".repeat(700);
    let text = format!("***{}** {words}*", front.trim_end());
    assert_parts(&text, &[("***in", "in***"), ("***in", "word*"), ("*word", "word*")]);
    let text = format!("***{}* {words}**", front.trim_end());
    assert_parts(&text, &[("***in", "in***"), ("***in", "word**"), ("**word", "word**")]);
}

/// HR18
#[test]
fn what_is_no_mark_is_not_repeated() {
    let words = "word ".repeat(600);
    for stray in [
        "**",
        "* ",
        "5*3 ",
        "2**8 ",
        "snake_case ",
        "a * b ",
        "\\*x",
        "`*x` ",
        "``_x`` ",
        "~~~x",
        "~x~ ",
        "****x",
        "**a **",
        "* item\n* ",
        "_",
        "*** ",
        "a || b ",
        "| a || b ||\n",
        "https://a.b/_c ",
        "https://a.b/_c/**d ",
        "<https://a.b/*c> ",
        "<:_e:12> ",
    ] {
        let text = format!("{stray}{words}{stray}");
        let parts = assert_well_split(&text);
        assert!(parts[0].ends_with("word") && parts[1].starts_with("word"), "{stray}: {parts:?}");
    }
    // No pair reaches over code.
    let text = format!("**{words}\n```\ncode\n```\n{words}**");
    assert_well_split(&text)
        .windows(2)
        .for_each(|two| assert!(!two[1].starts_with("**"), "{two:?}"));
    // Nor is one looked for in code.
    let code = "x = **a\n".repeat(400);
    for part in assert_well_split(&format!("```py\n{code}```")) {
        assert!(part.starts_with("```py\nx = **a") && part.ends_with("x = **a\n```"), "{part}");
    }
}

/// HR18
#[test]
fn no_cut_leaves_an_empty_pair_or_half_a_mark() {
    for front in 1_990..2_002 {
        let text = format!("{}**bold**{}", "漢".repeat(front), "字".repeat(2_500));
        for part in assert_well_split(&text) {
            assert!(
                !part.contains("****") && part.matches('*').count() % 4 == 0,
                "{front}: {part}"
            );
        }
    }
}

/// HR18
#[test]
fn a_quote_goes_on_in_the_next_part() {
    let words = "word ".repeat(600);
    let words = words.trim_end();
    assert_parts(&format!("> {words}\nanswer"), &[("> word", "word"), ("> word", "word\nanswer")]);
    assert_parts(&format!("  > **{words}**"), &[("> **word", "word**"), ("> **word", "word**")]);
    // Lines of their own, and a quote that is over.
    let lines = format!("> {}\n", "word ".repeat(20).trim_end()).repeat(25);
    let parts = assert_well_split(&format!("{lines}**{words}**"));
    assert!(parts[1].contains("\n**word"), "{parts:?}");
    assert!(parts[1].starts_with("> word") && parts[1].ends_with("word**"), "{parts:?}");
    assert!(parts[2].starts_with("**word"), "{parts:?}");
    let lines = format!("> {}\n", "word ".repeat(20).trim_end()).repeat(40);
    let parts = assert_well_split(&lines.replacen("> ", "> **", 1).replace("word\n", "word**\n"));
    assert!(parts[1].starts_with("> word"), "{parts:?}");
    let bold = format!("> **{}**", &lines[2..lines.len() - 1]);
    assert_parts(&bold, &[("> **word", "word**"); 3]);
    // To the end, with code in it.
    let code = "let x = 1;\n".repeat(300);
    let text = format!("Ann:\n>>> {words}\n```rust\n{code}```\nend\n> no more");
    let parts = assert_well_split(&text);
    assert!(parts[0].starts_with("Ann:\n>>> word"));
    for part in &parts[1..] {
        assert!(part.starts_with(">>> word") || part.starts_with(">>> ```rust\nlet x"), "{part}");
        assert_eq!(part.matches("```").count() % 2, 0, "{part}");
    }
    // A line that looks like a quote in code is none.
    let code = "> let x = 1;\n>>> x\n".repeat(200);
    for part in assert_well_split(&format!("```\n{code}```")) {
        assert!(part.starts_with("```\n>"), "{part}");
    }
}

/// HR18
#[test]
fn code_in_a_quote_stays_in_it() {
    for line in ["let x = 1;", "    if x {", ""] {
        let code = format!("> {line} ok\n").repeat(400);
        let parts = assert_well_split(&format!("> ```rust\n{code}> ```\nafter"));
        for part in &parts {
            assert!(part.starts_with("> ```rust\n> "), "{part}");
            assert!(part.ends_with("ok\n> ```") || part.ends_with("ok\n> ```\nafter"), "{part}");
            let inner = part.lines().filter(|line| !line.contains("```") && *line != "after");
            for quoted in inner {
                assert_eq!(quoted, format!("> {line} ok"));
            }
        }
    }
    for lines in 145..160 {
        let code = "> println ok\n".repeat(lines);
        let text = format!("> ```rust\n{code}> ```\n{}", paragraph(1_000));
        for part in assert_well_split(&text) {
            assert!(!part.contains("> ```rust\n> ```"), "{lines} lines: {part}");
        }
    }
    assert_well_split(&format!("> ```{}\n> code\n> ```", "l".repeat(5_000)));
    assert_well_split(&format!("> ```\n> {}\n> ```", "l ".repeat(2_500)));
    for length in 1_970..2_000 {
        assert_well_split(&format!("> ```\n> {}\n> ```\n> more", "l".repeat(length)));
    }
}

/// HR18
#[test]
fn tables_stay_as_they_are() {
    let row = "| **Ann** | 3 || ok |\n";
    let parts = assert_well_split(&format!("| Name | Age |\n|---|---|\n{}", row.repeat(200)));
    assert!(parts.len() > 2 && parts[0].starts_with("| Name | Age |\n|---|---|\n| **Ann**"));
    for part in &parts[1..] {
        assert_eq!(part.lines().find(|line| *line != row.trim_end()), None, "{part}");
    }
}

/// HR18
#[test]
fn a_reply_with_every_mark_is_cut_as_written_here() {
    let a = "alpha ".repeat(300);
    let b = "beta ".repeat(300);
    let text =
        format!("> **{a}\n> {b}**\n\n||{b}||\n| a | b |\n|---|---|\n| 1 | 2 |\n>>> _{a}_ end");
    let (a, b) = (a.trim_end(), b.trim_end());
    let parts = assert_well_split(
        &text
            .replace(" **\n", "**\n")
            .replace(" ||\n", "||\n")
            .replace(" _ end", "_ end")
            .replace(" \n", "\n"),
    );
    assert_eq!(
        parts,
        [
            format!("> **{a}**"),
            format!("> **{b}**"),
            format!("||{b}||\n| a | b |\n|---|---|\n| 1 | 2 |"),
            format!(">>> _{a}_ end"),
        ]
    );
}

/// Text of words in marks, nested, each mark at most once at a place.
fn marked() -> impl Strategy<Value = String> {
    let words = prop_oneof![
        ("[a-z]{1,9}", 1..300_usize)
            .prop_map(|(word, times)| format!("{word} ").repeat(times).trim_end().to_owned()),
        "[a-z]{1,900}",
        ("[a-z ]{1,60}[a-z]", 1..20_usize).prop_map(|(line, times)| vec![
            format!("x{line}");
            times
        ]
        .join("\n")),
    ];
    let emphasis = |text: BoxedStrategy<String>, marks: &'static [&'static str]| {
        let one = (prop::sample::select(marks), text.clone(), prop::bool::ANY).prop_map(
            |(mark, text, marks)| if marks { format!("{mark}{text}{mark}") } else { text },
        );
        prop::collection::vec(one, 1..4).prop_map(|texts| texts.join(", ")).boxed()
    };
    let inner = emphasis(words.boxed(), &["||", "~~"]);
    let middle = emphasis(inner, &["**", "*"]);
    emphasis(middle, &["__"])
}

/// Whether there is an even number of each mark.
fn is_balanced(text: &str) -> bool {
    let bold = text.matches("**").count();
    let rest = text.replace("**", "");
    let others = ["*", "__", "~~", "||"].map(|mark| rest.matches(mark).count());
    bold % 2 == 0 && others.iter().all(|count| count % 2 == 0)
}

fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        " ",
        "\n",
        "\n\n",
        "\r\n",
        "word",
        "A sentence. ",
        "`",
        "```",
        "````",
        "```rust\n",
        "\n```\n",
        "```rust,ignore\n",
        "~~~\n",
        "  indented\n",
        "🎼",
        "👨‍👩‍👧",
        "e\u{301}",
        "\u{200d}",
        "\u{3000}",
        "\u{2028}",
        "漢字。",
        "🇩🇪",
        "🔚",
        "**",
        "*",
        "_",
        "__",
        "~~",
        "||",
        "***",
        "\\\\",
        "\n> ",
        "\n>>> ",
        "\n> ```rust\n> ",
        "|---|",
        "https://a.b/_c",
        "<:_e:1>",
    ]);
    prop_oneof![
        6 => fixed.prop_map(str::to_owned),
        3 => ("[a-z`.\\n ]{1,12}", 1..400_usize).prop_map(|(text, times)| text.repeat(times)),
        2 => ("[a-z]", 1_000..2_500_usize).prop_map(|(text, times)| text.repeat(times)),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_reply_arrives_whole(pieces in prop::collection::vec(piece(), 0..40)) {
        assert_well_split(&pieces.concat());
    }

    /// HR18
    #[test]
    fn marks_that_balance_in_the_whole_balance_in_each_part(
        texts in prop::collection::vec(marked(), 1..6), quote in prop::sample::select(vec!["", "> ", ">>> "])
    ) {
        let lines = texts.iter().flat_map(|text| text.split('\n'));
        let lines = lines.map(|line| if quote == "> " { format!("> {line}") } else { line.to_owned() });
        let text = lines.collect::<Vec<_>>().join("\n");
        let text = if quote == ">>> " { format!(">>> {text}") } else { text };
        for part in assert_well_split(&text) {
            prop_assert!(is_balanced(&part), "{part}");
            prop_assert!(part.starts_with(quote), "{part}");
            prop_assert!(quote != "> " || part.lines().all(|line| line.starts_with(quote)), "{part}");
        }
    }

    #[test]
    fn any_short_reply_stays_one_message(text in "\\PC{0,300}") {
        prop_assert!(assert_well_split(&text).len() <= 1);
    }

    #[test]
    fn random_bytes_are_split_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..9_000)) {
        assert_well_split(&String::from_utf8_lossy(&bytes));
    }
}
