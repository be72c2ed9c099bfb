//! One table of replies, judged by every silence policy (F24).

use dirigent_core::text::SilencePolicy;
use dirigent_core::text::SilencePolicy::{LastLine, OpenClaw, Strict, Tolerant};
use dirigent_core::{Outcome, Tail};

const POLICIES: [SilencePolicy; 3] = [Strict, OpenClaw, LastLine];

/// A reply and what each policy, in the order of [`POLICIES`], delivers of it; "" is silence.
type Case = (&'static str, [&'static str; 3]);

/// The same for every policy.
const fn all(text: &'static str, delivered: &'static str) -> Case {
    (text, [delivered; 3])
}

/// Delivered as it stands by every policy.
const fn real(text: &'static str) -> Case {
    all(text, text)
}

/// Silent with OpenClaw only; the others deliver it as it stands.
const fn openclaw_silent(text: &'static str) -> Case {
    (text, [text, "", text])
}

const SHARED: &[Case] = &[
    all("", ""),
    all(" \t\r\n ", ""),
    all("\u{a0}\u{2003}\u{3000}\u{2028}\u{feff}", ""),
    all("NO_REPLY", ""),
    all("no_reply", ""),
    all("No_Reply", ""),
    all("\u{3000}NO_REPLY\u{a0}", ""),
    all("\u{feff}NO_REPLY\r\n", ""),
    all("NO", ""),
    all("  NO\n", ""),
    all("*NO_REPLY", ""),
    all("NO_REPLY NO_REPLY", ""),
    all("NO_REPLYNO", ""),
    all("NO NO_REPLY", ""),
    real("No"),
    real("no"),
    real("nO"),
    real("N"),
    real("NO problem"),
    real("NO."),
    real("**NO**"),
    real("NOPE"),
    real("NO_REPLY: because"),
    real("no_reply."),
    real("NO_REPLY!"),
    real("NO REPLY"),
    real("NO-REPLY"),
    real("XNO_REPLY"),
    real("NO_REPLY_X"),
    real("no\u{131}_reply"),
    real("\u{200b}NO_REPLY"),
    real("NO_REPLY\nbut one more thing"),
    real("Is it done?\nNO"),
    real("Goodbye 🔚"),
    real("🔚"),
    real("NO_REPLY🔚"),
    real("<think>hm</think> Here you are"),
    real("thinking of NO_REPLY today"),
    real(r#"{"action":"REPLY"}"#),
    real(r#"{"action":"NO_REPLY","why":"x"}"#),
    real(r#"{"reaction":"NO_REPLY"}"#),
    real(r#"["NO_REPLY"]"#),
    all("  spaced out  ", "spaced out"),
    all("nothing urgent → NO_REPLY", "nothing urgent →"),
    all("Done.NO_REPLY", "Done.NO_REPLY"),
    all("Done. **no_reply", "Done."),
    all("Done. NO_REPLY NO_REPLY ", "Done."),
    all("NO_REPLYThe answer", "The answer"),
    all("NO_REPLYüben", "üben"),
];

const APART: &[Case] = &[
    ("I have nothing.\n\nNO_REPLY", ["I have nothing.", "I have nothing.", ""]),
    ("I have nothing.\r\n  no_reply  \r\n\n", ["I have nothing.", "I have nothing.", ""]),
    openclaw_silent("NO_"),
    openclaw_silent("NO_RE"),
    openclaw_silent("NO_REPL"),
    real("NO_re"),
    openclaw_silent("**NO_REPLY**"),
    openclaw_silent("__no_reply__"),
    openclaw_silent("`NO_REPLY`"),
    ("```\nNO_REPLY\n```", ["```\nNO_REPLY\n```", "", "```\nNO_REPLY\n```"]),
    openclaw_silent("HEARTBEAT_OK"),
    ("HEARTBEAT_OK NO_REPLY", ["HEARTBEAT_OK", "", "HEARTBEAT_OK"]),
    ("All fine. HEARTBEAT_OK", ["All fine. HEARTBEAT_OK", "All fine.", "All fine. HEARTBEAT_OK"]),
    real("HEARTBEAT_OKAY"),
    real("MY_HEARTBEAT_OK"),
    openclaw_silent(r#"{"action":"NO_REPLY"}"#),
    openclaw_silent("{ \"action\" :\n \" NO_REPLY \" }"),
    real(r#"{"action":"no_reply"}"#),
    ("[[reply_to_current]] NO_REPLY", ["[[reply_to_current]]", "", "[[reply_to_current]]"]),
    openclaw_silent("[[reply_to: 123]]NO"),
    ("[[reply_to_current]] Hi", ["[[reply_to_current]] Hi", "Hi", "[[reply_to_current]] Hi"]),
    ("Hi [[reply_to_current]]", ["Hi [[reply_to_current]]", "Hi", "Hi [[reply_to_current]]"]),
    real("[[link]] Hi"),
    real("Hi [[link]]"),
    openclaw_silent("<think>hm</think>NO_REPLY"),
    ("<Think a=1>hm</THINK>\nno_reply", ["<Think a=1>hm</THINK>", "", ""]),
    openclaw_silent("<think>I stay out of it.NO_REPLY"),
    (
        "[[reply_to_current]]<think>a</think> NO_REPLY",
        ["[[reply_to_current]]<think>a</think>", "", "[[reply_to_current]]<think>a</think>"],
    ),
    all("<think>hm</think> Done. NO_REPLY", "<think>hm</think> Done."),
    real("<thinker>NO_REPLYx"),
    real("<thinker>hm.NO_REPLY"),
    real("<think hm.NO_REPLY"),
    real("thinking\nof it.NO_REPLY"),
    real("[[reply_to\n1]] Hi"),
    real("[[reply_to [1]] Hi"),
    real("[[reply_to 1] Hi"),
    openclaw_silent("think\nI will stay quiet here.NO_REPLY"),
    real("think\nfirst\n\nsecond.NO_REPLY"),
    all("think\nabout it. NO_REPLY", "think\nabout it."),
];

#[test]
fn every_policy_judges_the_table_as_written() {
    for (text, expected) in SHARED.iter().chain(APART) {
        for (policy, expected) in POLICIES.into_iter().zip(expected) {
            assert_eq!(policy.deliverable(text), *expected, "{policy:?} on {text:?}");
            assert_eq!(policy.is_silent(text), expected.is_empty(), "{policy:?} on {text:?}");
        }
    }
}

#[test]
fn the_outcome_digests_what_is_delivered() {
    for (text, expected) in SHARED.iter().chain(APART) {
        for (policy, expected) in POLICIES.into_iter().zip(expected) {
            let outcome = match *expected {
                "" => Outcome::Pass,
                text => Outcome::Spoke { tail: Tail::of(text) },
            };
            assert_eq!(policy.outcome(text), outcome, "{policy:?} on {text:?}");
        }
    }
}

/// Silent by the tolerant policy alone, or by it first.
const TOLERATED: &[&str] = &[
    "NO_REPLY.",
    "no_reply.",
    "NO_REPLY!",
    "NO_REPLY…",
    "\"NO_REPLY\"",
    "'no_reply'",
    "“NO_REPLY”",
    "„NO_REPLY“.",
    "«NO_REPLY»",
    "「NO_REPLY」。",
    "**NO_REPLY**",
    "`NO_REPLY`.",
    "[NO_REPLY]",
    "(no_reply)",
    "<NO_REPLY>",
    "_\"NO_REPLY.\"_",
    " ... NO_REPLY",
];

/// N7: models put the word into quotation marks and end it with a period.
#[test]
fn the_silent_word_may_stand_in_quotes_or_emphasis_and_end_with_punctuation() {
    for text in TOLERATED {
        assert!(Tolerant.is_silent(text), "{text:?}");
        assert_eq!(Tolerant.deliverable(text), "", "{text:?}");
    }
    assert_eq!(SilencePolicy::default(), Tolerant);
}

#[test]
fn beyond_that_word_the_tolerant_policy_is_the_strict_one() {
    for (text, [strict, ..]) in SHARED.iter().chain(APART) {
        let bare = text.trim_matches(|c: char| !c.is_ascii_alphabetic());
        if !bare.eq_ignore_ascii_case("NO_REPLY") {
            assert_eq!(Tolerant.deliverable(text), *strict, "{text:?}");
        }
    }
    for text in ["NO.", "\"NO\"", "**NO**", "I say NO_REPLY.", "NO_REPLY: because", "NO_REPLY?"] {
        assert_eq!(Tolerant.deliverable(text), text);
    }
}

/// A fixed, small generator: these tests need variety, not chance.
fn numbers(mut state: u64) -> impl FnMut() -> usize {
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0)
    }
}

#[test]
fn what_is_delivered_is_a_settled_part_of_any_text() {
    let pieces = [
        "NO_REPLY",
        "no_reply",
        "NO",
        "_RE",
        "HEARTBEAT_OK",
        "[[reply_to_current]]",
        "[[",
        "]]",
        "<think>",
        "</think>",
        "think\n",
        "{\"action\":",
        "\"NO_REPLY\"",
        "}",
        "*",
        "`",
        " ",
        "\n",
        "word",
        "ü",
        "🔚",
        "\u{3000}",
        "\u{feff}",
    ];
    let mut next = numbers(1);
    for _ in 0..20_000 {
        let count = next() % 8;
        let text: String = (0..count).map(|_| pieces[next() % pieces.len()]).collect();
        for policy in POLICIES {
            let delivered = policy.deliverable(&text);
            assert!(text.contains(delivered));
            assert_eq!(policy.deliverable(delivered), delivered, "{policy:?} on {text:?}");
        }
    }
}

#[test]
fn random_bytes_are_judged_without_panic() {
    let mut next = numbers(2);
    for length in 0..2_000 {
        let bytes: Vec<u8> = (0..length % 97).map(|_| next().to_le_bytes()[0]).collect();
        let text = String::from_utf8_lossy(&bytes);
        for policy in POLICIES {
            let _ = policy.outcome(&text);
        }
    }
}

/// A quadratic rule would take minutes on these; they are a few megabytes each.
#[test]
fn huge_replies_are_judged_in_linear_time() {
    const MANY: usize = 300_000;
    let huge = [
        "NO_REPLY ".repeat(MANY),
        "NO_REPLY".repeat(MANY),
        "HEARTBEAT_OK ".repeat(MANY),
        "[[reply_to_current]]".repeat(MANY),
        "[[reply_to ".repeat(MANY) + "]]",
        "<think>".to_owned() + &"</think>".repeat(MANY) + &" NO_REPLY".repeat(MANY),
        "think\n".repeat(MANY) + "xNO_REPLY",
        " ".repeat(MANY) + "x" + &"*".repeat(MANY) + "NO_REPLY",
        "prose ".repeat(MANY) + &" *NO_REPLY".repeat(MANY),
        "{\"action\":".repeat(MANY) + &"}".repeat(MANY),
    ];
    for text in &huge {
        for policy in POLICIES {
            let _ = policy.outcome(text);
        }
    }
    assert!(Strict.is_silent(&huge[0]) && OpenClaw.is_silent(&huge[2]));
}
