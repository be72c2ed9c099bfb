use super::*;

/// Pairs of replies, one behind the other: what the second is, who says it, and both texts.
const CORPUS: &str = include_str!("corpus.tsv");
/// The same, by an author who did not know the comparison.
const APART: &str = include_str!("apart.tsv");
const ONE: AgentKey = AgentKey::new(1);
const OTHER: AgentKey = AgentKey::new(2);

fn repeats(author: AgentKey, first: &str, second: &str) -> bool {
    let mut recent = None;
    Recent::is_repeated(&mut recent, ONE, (first, None), &names());
    Recent::is_repeated(&mut recent, author, (second, None), &names())
}

fn names() -> Vec<u64> {
    let names = ["poet", "critic", "historian", "optimist", "sceptic"];
    let mut words: Vec<u64> = names.into_iter().flat_map(words_of_name).collect();
    words.sort_unstable();
    words
}

/// Of the pairs of this kind, which are taken for repetitions, and which are not.
fn sorted(corpus: &'static str, kind: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let of_kind = corpus.lines().filter(|line| line.split('\t').next() == Some(kind));
    of_kind.partition(|line| {
        let mut fields = line.split('\t').skip(1);
        let author = if fields.next() == Some("own") { ONE } else { OTHER };
        let mut text = || fields.next().unwrap().replace("\\n", "\n");
        repeats(author, &text(), &text())
    })
}

/// F29
#[test]
fn of_two_hundred_legitimate_pairs_none_is_taken_for_a_repetition() {
    let (taken, left) = sorted(CORPUS, "legitimate");
    assert_eq!(taken, [""; 0]);
    assert_eq!(left.len(), 200);
}

/// F29
#[test]
fn of_two_hundred_repetitions_at_least_ninety_five_in_a_hundred_are_recognised() {
    let (taken, left) = sorted(CORPUS, "repetition");
    assert_eq!(taken.len() + left.len(), 200);
    assert!(taken.len() >= 190, "{} of 200: {left:#?}", taken.len());
}

/// F29
#[test]
fn of_the_pairs_of_somebody_else_none_is_taken_wrongly_and_nine_in_ten_are_recognised() {
    let (taken, left) = sorted(APART, "legitimate");
    assert_eq!((taken, left.len()), (Vec::new(), 120));
    let (taken, left) = sorted(APART, "repetition");
    assert_eq!(taken.len() + left.len(), 120);
    assert!(taken.len() >= 108, "{} of 120: {left:#?}", taken.len());
}

/// F29
#[test]
fn agents_that_count_on_in_a_list_that_says_nothing_are_noticed_at_the_second_entry_of_each() {
    let mut recent = None;
    let says = |number: u32| format!("{number}. The best thing about rain.");
    let mut said = Vec::new();
    for number in 2..8 {
        let author = if number % 2 == 0 { ONE } else { OTHER };
        if !Recent::is_repeated(&mut recent, author, (&says(number), None), &names()) {
            said.push(number);
        }
    }
    assert_eq!(said, [2, 3]);
}

#[test]
fn only_the_newest_replies_are_held_against_a_new_one() {
    let mut recent = None;
    let says = |word: &str| format!("The {word} thing about rain is the smell of it.");
    for word in ["best", "second", "third", "fourth", "fifth"] {
        assert!(!Recent::is_repeated(&mut recent, ONE, (&says(word), None), &names()));
    }
    assert!(Recent::is_repeated(&mut recent, ONE, (&says("second"), None), &names()));
    assert!(!Recent::is_repeated(&mut recent, ONE, (&says("best"), None), &names()));
}

#[test]
fn the_replies_of_a_channel_are_remembered_in_64_bytes() {
    assert!(size_of::<Recent>() <= 64);
}

#[test]
fn any_text_has_a_digest_or_none_and_repeats_itself_where_it_has_one() {
    for text in [
        "",
        " ",
        "```",
        "```\n",
        "<@",
        "(1) ",
        "1.",
        "'",
        "好好好好好",
        "a b c d e f g",
        "é è ê ë ē",
    ] {
        let digest = Digest::of(ONE, (text, None), &names());
        assert_eq!(
            digest.is_some_and(|digest| digest.repeats(&digest)),
            digest.is_some(),
            "{text}"
        );
    }
}

/// F29
#[test]
fn each_sign_of_another_fact_keeps_a_reply_and_each_sign_of_none_does_not() {
    // Long enough that one word may be another.
    let long = "river mountain window table chair lamp carpet kitchen cellar attic roof door \
                stairs hallway balcony fence";
    let said = |words: &str| format!("{words} {long}");
    let same = [
        ("Poet likes garden, house and river", "Critic likes garden, house and river"),
        (
            "<@123456789012345678> likes garden, house and river",
            "<@876543210987654321> likes garden, house and river",
        ),
        ("A garden, a house, a river, a mountain", "Garden, house, river, mountain"),
        ("It’s garden, house, river", "It's garden, house, river"),
        ("b) garden, house, river, mountain", "c) garden, house, river, mountain"),
        ("Point 4: garden, house, river, mountain", "Point 5: garden, house, river, mountain"),
        ("我们明天去公园散步", "我们明天去公园散步"),
    ];
    for (first, second) in same {
        assert!(repeats(ONE, first, second), "{first} | {second}");
    }
    let others = [
        ("Garden, house, river, mountain.", "Garden, house, river, mountain?"),
        ("Garden, house A; river, mountain B", "Garden, house B; river, mountain A"),
        ("Garden, house A – river B – mountain", "Garden, house B – river A – mountain"),
    ];
    for (first, second) in others {
        assert!(!repeats(ONE, first, second), "{first} | {second}");
    }
    for (first, second) in [("plan x", "plan y"), ("plan 17", "plan 18"), ("don’t go", "must go")]
    {
        assert!(!repeats(ONE, &said(first), &said(second)), "{first} | {second}");
    }
    assert!(repeats(ONE, &said("we may go"), &said("we must go")), "one word is another");
}

/// F29
#[test]
fn a_short_reply_of_another_agent_may_be_agreement_and_a_shorter_one_of_its_own_an_answer() {
    let words = ["garden", "house", "river", "mountain", "window", "table", "chair"];
    for count in 0..=words.len() {
        let said = words[..count].join(" ");
        assert_eq!(repeats(OTHER, &said, &said), count >= 7, "{count} words of another");
        assert_eq!(repeats(ONE, &said, &said), count >= 4, "{count} words of its own");
    }
    let endless = "garden ".repeat(256 + 3);
    assert!(repeats(ONE, &endless, &endless));
}

/// F29
#[test]
fn how_many_words_may_be_others_depends_on_the_length() {
    // The fewest words of a reply in which this number of sums may differ.
    for (fewest, allowed) in [(12, 1), (16, 2), (28, 3), (40, 4)] {
        let reply = |count: u8, differing: usize| {
            let mut digest = Digest { count, sequence: u16::from(count), ..Digest::default() };
            digest.buckets[..differing].fill(1);
            digest.sequence ^= u16::from(differing > 0);
            digest
        };
        let holds = |count: u8, differing| reply(count, differing).repeats(&reply(count, 0));
        assert!(holds(fewest, allowed) && !holds(fewest, allowed + 1), "from {fewest} words");
        assert!(!holds(fewest - 1, allowed), "below {fewest} words");
        // One word of eight may be more or less.
        let more = fewest / 8;
        assert!(reply(fewest + more, 1).repeats(&reply(fewest, 0)), "{fewest} words and {more}");
        assert!(!reply(fewest + more + 1, 1).repeats(&reply(fewest, 0)), "{fewest} words and more");
    }
}

/// F29
#[test]
fn a_long_chant_of_one_word_repeats_a_longer_one_and_a_short_one_is_an_answer() {
    let chant = |word: &str, times: usize| vec![word; times].join(", ");
    assert!(repeats(ONE, &chant("no", 18), &chant("No", 20)));
    assert!(repeats(OTHER, &chant("no", 18), &chant("No", 20)));
    assert!(!repeats(ONE, &chant("no", 18), &chant("never", 18)));
    assert!(!repeats(ONE, &chant("no", 11), &chant("no", 11)));
    let numbers = |last: u32| (1..=12).chain([last]).map(|n| n.to_string()).collect::<Vec<_>>();
    assert!(repeats(ONE, &numbers(13).join(" "), &numbers(13).join(" ")));
    assert!(!repeats(ONE, &numbers(13).join(" "), &numbers(14).join(" ")));
}
