use super::*;

/// Pairs of replies, one behind the other: what the second is, who says it, and both texts.
const CORPUS: &str = include_str!("corpus.tsv");
/// The same, by an author who did not know the comparison.
const APART: &str = include_str!("apart.tsv");
const ONE: AgentKey = AgentKey::new(1);
const OTHER: AgentKey = AgentKey::new(2);

fn repeats(author: AgentKey, first: &str, second: &str) -> bool {
    let mut recent = None;
    Recent::is_repeated(&mut recent, ONE, first, &names());
    Recent::is_repeated(&mut recent, author, second, &names())
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
        if !Recent::is_repeated(&mut recent, author, &says(number), &names()) {
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
        assert!(!Recent::is_repeated(&mut recent, ONE, &says(word), &names()));
    }
    assert!(Recent::is_repeated(&mut recent, ONE, &says("second"), &names()));
    assert!(!Recent::is_repeated(&mut recent, ONE, &says("best"), &names()));
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
        let digest = Digest::of(ONE, text, &names());
        assert_eq!(
            digest.is_some_and(|digest| digest.repeats(&digest)),
            digest.is_some(),
            "{text}"
        );
    }
}
