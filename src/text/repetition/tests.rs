use super::*;

mod evenings;

/// Pairs of replies, one behind the other: what the second is, who says it, and both texts.
const CORPUS: &str = include_str!("corpus.tsv");
/// The same, by an author who did not know the comparison.
const APART: &str = include_str!("apart.tsv");
const ONE: AgentKey = AgentKey::new(1);
const OTHER: AgentKey = AgentKey::new(2);

fn repeats(author: AgentKey, first: &str, second: &str) -> bool {
    let mut recent = Recent::default();
    recent.is_repeated(ONE, (first, None), &names());
    recent.is_repeated(author, (second, None), &names())
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

/// Which of these replies are not held back. The agents speak in turn.
fn posted<T: AsRef<str>>(agents: u32, replies: impl IntoIterator<Item = T>) -> Vec<usize> {
    answering("What do you think?", agents, replies)
}

/// The same, when a person has said this.
fn answering<T: AsRef<str>>(
    person: &str,
    agents: u32,
    replies: impl IntoIterator<Item = T>,
) -> Vec<usize> {
    let mut recent = Recent::default();
    recent.begin(person, &names());
    let mut turn = 0;
    let replies = replies.into_iter().enumerate();
    let new = replies.filter(|(_, reply)| {
        turn += 1;
        let author = AgentKey::new(turn % agents);
        !recent.is_repeated(author, (reply.as_ref(), None), &names())
    });
    new.map(|(number, _)| number).collect()
}

/// F29
#[test]
fn agents_that_count_on_in_a_list_that_says_nothing_are_noticed_at_the_second_entry() {
    let says = |number: u32| format!("{number}. The best thing about rain.");
    assert_eq!(posted(2, (2..8).map(says)), [0, 1]);
    let says = |number: u32| format!("{number}. The best thing about rain is its smell.");
    assert_eq!(posted(2, (2..8).map(says)), [0]);
}

/// LM5
#[test]
fn a_room_in_which_each_agent_has_one_sentence_ends_in_its_second_cycle_however_many_they_are() {
    let animals = ["otter", "heron", "badger", "lynx", "raven", "marten", "stork", "viper"];
    let places = ["harbour", "quarry", "orchard", "chapel", "tunnel", "meadow", "jetty", "cellar"];
    for agents in [2, 3, 5, 6, 8, 16, 64] {
        let says = |turn: u32| {
            let at = usize::try_from(turn % agents).unwrap();
            format!("The {} sleeps near the {}.", animals[at % 8], places[at / 8])
        };
        let posted = posted(agents, (0..agents * 8).map(says));
        let most = usize::try_from(agents * 2).unwrap();
        assert!(posted.len() <= most, "{agents} agents: {}", posted.len());
    }
}

/// F29: a chorus was held back as a copy.
#[test]
fn a_song_that_a_person_asked_for_has_its_chorus_and_ends_when_nothing_else_is_sung() {
    let chorus = "Heave it up, boys, heave it up, the roof is coming in!";
    let verses = ["A joiner lost his hat.", "The mayor ate a plum.", "Two cats have nine kittens."];
    let song = || verses.into_iter().flat_map(|verse| [verse, chorus]);
    for person in [
        "Sing us something.",
        "A SONG please!",
        "ein Wiegenlied, bitte",
        "une comptine ?",
        "una canción",
        "唱首歌吧",
        "critic, say \"heave it up, boys\" after each line",
        "historian, sag nach jedem Satz „hau ruck“",
    ] {
        assert_eq!(answering(person, 2, song()), [0, 1, 2, 3, 4, 5], "{person}");
        // Each agent has said two things that were said already.
        let endless = answering(person, 3, [chorus; 12]);
        assert_eq!(endless, [0, 1, 2, 3, 4, 5, 6], "{person}");
    }
    for person in [
        "A single singer's songbird is passing.",
        "They \"reboot\" it every day.",
        "It fails after each line.",
    ] {
        assert_eq!(answering(person, 2, song()), [0, 1, 2, 4], "{person}");
    }
}

/// LM6
#[test]
fn what_differs_in_one_fact_is_no_repetition() {
    let long = "river mountain window table chair lamp carpet kitchen cellar attic roof door \
                stairs hallway balcony fence";
    for (one, other) in [
        ("我们应该明天早上一起去那个公园看花吃饭", "我们不应该明天早上一起去那个公园看花吃饭"),
        ("小明昨天把那本关于花园的书还给了图书馆", "小红昨天把那本关于花园的书还给了图书馆"),
        ("✅", "❌"),
        (
            "Build ✅, tests ✅, lint ❌, ready for review",
            "Build ✅, tests ❌, lint ✅, ready for review",
        ),
        ("⬜⬜❌\n⬜⭕⬜\n⬜⬜⬜", "⬜⬜❌\n⬜⭕⬜\n⭕⬜⬜"),
        ("the balance of the account is -500", "the balance of the account is 500"),
        ("then we turn left", "then we turn right"),
        ("Ada owes the money to me and you", "Ada owes the money to you and me"),
        ("Ich stelle die Vase unter den Tisch", "Ich stelle die Vase nicht unter den Tisch"),
        ("plan x", "plan y"),
        ("plan 17", "plan 18"),
        ("ring 44722101234567", "ring 44722101234568"),
        ("we must go", "we mustn't go"),
        ("Garden, house A; river, mountain B", "Garden, house B; river, mountain A"),
        ("`cat a > b`", "`cat a >> b`"),
        ("```\nlet x = 1;\n```", "```\nlet x = 2;\n```"),
        ("Monday suits me", "Tuesday suits me"),
    ] {
        for (one, other) in [
            (one.to_owned(), other.to_owned()),
            (format!("{one} {long}"), format!("{other} {long}")),
        ] {
            let says = [&one, &other, &one, &other].map(|text| posted(2, [text, text]).len());
            assert!(says.iter().all(|posted| *posted >= 1));
            assert_eq!(posted(1, [&one, &other]), [0, 1], "{one} | {other}");
            assert_eq!(posted(2, [&one, &other]), [0, 1], "{one} | {other}");
        }
    }
}

/// F29
#[test]
fn a_long_reply_in_which_one_word_is_another_is_a_copy_and_with_any_other_change_it_is_none() {
    let said = "river mountain window table chair lamp carpet kitchen cellar attic roof door";
    let one = said.replace("cellar", "balcony");
    assert_eq!(posted(2, [said, &one]), [0]);
    let short = |text: &str| text.replace("river ", "");
    assert_eq!(posted(2, [short(said), short(&one)]), [0, 1], "eleven words");
    let clause = |text: &str| text.replace(" attic", ", attic");
    assert_eq!(posted(2, [clause(said), clause(said).replace("roof", "gable")]), [0, 1]);
    for change in [
        one.replace("river mountain", "mountain river"),
        one.replace("table", "not table"),
        one.replace("table", "7 table"),
        one.replace("chair", "bench"),
        one.replace("window", "window,").replace("attic", "attic,"),
    ] {
        assert_eq!(posted(2, [said, &change]), [0, 1], "{change}");
    }
}

/// F29
#[test]
fn six_letters_of_a_word_count_and_a_text_says_early_that_it_repeats() {
    let pieces = |text: &str| {
        let mut found = Vec::new();
        read(text, &[], &mut found);
        found.retain(|piece| matches!(piece, Piece::Word(_)));
        found
    };
    assert_eq!(pieces("repair"), pieces("repairs"));
    assert_ne!(pieces("repaid"), pieces("repair"));
    let after = |letters: usize| says_that_it_repeats(&("x".repeat(letters) + " as I said"));
    assert!(after(190) && !after(191));
}

/// F29
#[test]
fn a_question_is_none_of_what_was_stated_and_an_answer_none_of_what_was_asked() {
    let (stated, asked) =
        ("We meet at the old harbour at noon.", "Do we meet at the old harbour at noon?");
    assert_eq!(posted(1, [stated, asked]), [0, 1]);
    assert_eq!(posted(2, [asked, stated]), [0, 1]);
}

/// LM7
#[test]
fn thanks_and_agreement_in_other_words_end_in_the_second_cycle() {
    let thanks = [
        "Thank you both, that was great!",
        "Thanks to you, it was a pleasure.",
        "You are very welcome, thank you for the kind words!",
        "Many thanks, this was wonderful.",
        "Likewise, thanks a lot.",
        "I really appreciate it. Thanks again!",
        "My pleasure, truly. Thank you!",
        "Thanks, that is so kind of you.",
        "It was lovely. Thank you all!",
    ];
    assert!(posted(3, thanks).len() <= 6, "{:?}", posted(3, thanks));
    let agreement = [
        "We should take the train.",
        "Exactly, the train is the best choice.",
        "I completely agree, the train it is.",
        "Yes, we should definitely take the train, great idea.",
        "Absolutely, as I said, the train.",
        "Then we all agree on the train, wonderful.",
        "Indeed, the train is a splendid choice.",
        "Well said, the train is perfect.",
    ];
    assert!(posted(3, agreement).len() <= 6, "{:?}", posted(3, agreement));
}

/// LM7: seen with a small model that had lost its thread.
#[test]
fn a_clause_that_fills_a_reply_is_a_copy_however_short_it_is_and_one_that_is_said_once_is_an_answer()
 {
    for clause in ["You are a tour guide.", "The poet:", "我是导游。"] {
        let filled = format!("{clause} ").repeat(6);
        assert_eq!(posted(8, [&filled, &filled, &filled]), [0], "{clause}");
        assert_eq!(posted(8, [clause, clause]), [0, 1], "{clause}");
    }
    let thanks = "Thank you all so very much, Poet, that is truly wonderful!";
    assert_eq!(posted(8, [thanks, thanks]), [0]);
    let counted = [3, 4].map(|number| format!("Round {number}: {thanks}"));
    assert_eq!(posted(8, counted), [0]);
    assert_eq!(posted(8, ["Round 3: thank you all!", "Round 4: thank you all!"]), [0, 1]);
    let two = "导游。".repeat(4);
    assert_eq!(posted(8, [&two, &two]), [0, 1], "two characters are a word");
}

/// F29
#[test]
fn each_mark_of_the_same_keeps_nothing() {
    let same = [
        ("Poet, I like the garden, house and river", "Critic, I like the garden, house and river"),
        (
            "<@123456789012345678> there is a garden, a house and a river",
            "<@876543210987654321> there is a garden, a house and a river",
        ),
        ("It’s a garden with a house at the river", "It's a garden with a house at the river"),
        ("b) a garden with a house at the river", "c) a garden with a house at the river"),
        (
            "Point 4: a garden with a house at the river",
            "Point 5: a garden with a house at the river",
        ),
        ("我们明天早上一起去公园散步看花", "我们明天早上一起去公园散步看花"),
        ("We meet at the old harbour at noon 😊", "**We meet at the old harbour at noon** 🎉"),
    ];
    for (first, second) in same {
        assert!(repeats(ONE, first, second), "{first} | {second}");
    }
}

/// F29
#[test]
fn any_text_of_some_length_repeats_itself() {
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
        "é è ê ë ē",
        "-",
        "+",
        "@",
        "Round 1: ",
    ] {
        let mut recent = Recent::default();
        for _ in 0..6 {
            recent.is_repeated(ONE, (text, None), &names());
        }
    }
    let text = "A garden with a house at the river, in which an otter lives.";
    assert!(repeats(ONE, text, text) && repeats(OTHER, text, text));
    let endless = "garden ".repeat(5_000);
    assert!(repeats(ONE, &endless, &endless));
}

/// F29
#[test]
fn what_a_reply_shows_besides_its_words_is_compared_too() {
    let mut recent = Recent::default();
    let mut says =
        |shown| recent.is_repeated(ONE, ("Here is the picture of the garden.", shown), &names());
    assert!(!says(Some(1)));
    assert!(!says(Some(2)), "another picture");
    assert!(says(Some(1)), "the same again");
}
