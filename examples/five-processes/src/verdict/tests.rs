//! What the verdict must notice, in lines and replies made up for it.

use super::*;

const HERE: u64 = 7;

fn ledger(lines: &[&str]) -> Ledger {
    let mut ledger = Ledger::default();
    for line in lines {
        ledger.note(line);
    }
    ledger
}

fn verdict(lines: &[&str], replies: &[(u64, &str)]) -> Verdict {
    verdict_of(lines, replies, &[])
}

fn verdict_of(lines: &[&str], replies: &[(u64, &str)], words: &[Word]) -> Verdict {
    let replies: Vec<_> = replies
        .iter()
        .filter_map(|(at, text)| Reply::read(text, Timestamp::from_millis(*at)))
        .collect();
    let mut verdict = Verdict::default();
    verdict.judge(ChannelId::new(HERE), &replies, words.iter(), &ledger(lines));
    verdict
}

#[test]
fn one_after_the_other_is_right() {
    let lines = ["called 7 1 100", "allowed 7 50 300 310", "accepted 7 50 400", "called 7 2 420"];
    let seen = verdict(
        &lines,
        &[(200, "turn 1 heard w0"), (410, "run 50 heard w1"), (500, "turn 2 heard w2")],
    );
    assert_eq!(
        (seen.posted, seen.two_allowed.len(), seen.lost_turns.len(), seen.doubled),
        (3, 0, 0, 0)
    );
}

#[test]
fn a_turn_that_is_called_before_the_reply_of_who_asked_stands_there_is_noticed() {
    let lines = ["allowed 7 50 300 310", "accepted 7 50 400", "called 7 2 405"];
    let seen = verdict(&lines, &[(410, "run 50 heard w1"), (500, "turn 2 heard w2")]);
    assert_eq!(seen.two_allowed.len(), 1);
}

#[test]
fn permission_during_anothers_is_noticed_even_if_its_end_is_refused_or_never_told() {
    let first = ["allowed 7 50 300 310", "passed 7 50 900"];
    for end in [None, Some("refused 7 51")] {
        let lines: Vec<_> = first.into_iter().chain(["allowed 7 51 500 510"]).chain(end).collect();
        assert_eq!(verdict(&lines, &[]).two_allowed.len(), 1, "{end:?}");
    }
}

#[test]
fn permission_that_may_have_been_given_before_the_others_is_not_called_wrong() {
    // The process stood still between the permission and the moment at which it knew.
    let lines = ["allowed 7 50 300 30400", "refused 7 50", "called 7 2 20000"];
    assert_eq!(verdict(&lines, &[(31_000, "turn 2 heard w2")]).two_allowed.len(), 0);
}

#[test]
fn a_reply_that_comes_after_its_time_to_arrive_holds_the_floor_no_longer_than_that() {
    let lines =
        ["allowed 7 50 300 310", "accepted 7 50 400", "called 7 2 15399", "called 7 3 15401"];
    let late = (40_000, "run 50 heard w1");
    assert_eq!(verdict(&lines, &[(15_500, "turn 2 heard w2"), late]).two_allowed.len(), 1);
    assert_eq!(verdict(&lines, &[(15_500, "turn 3 heard w2"), late]).two_allowed.len(), 0);
}

#[test]
fn turns_that_posted_nothing_are_lost_and_those_that_passed_are_not() {
    let lines = [
        "called 7 1 100",
        "allowed 7 50 300 310",
        "refused 7 50",
        "allowed 7 51 500 510",
        "passed 7 51 600",
    ];
    assert_eq!(verdict(&lines, &[]).lost_turns.len(), 2);
}

#[test]
fn a_turn_that_stands_twice_or_late_is_doubled() {
    let twice = [
        (1, "turn 2 heard w0"),
        (2, "turn 2 heard w0"),
        (3, "run 9 heard w1"),
        (4, "run 9 heard w1"),
    ];
    assert_eq!(verdict(&[], &twice).doubled, 2);
    assert_eq!(verdict(&[], &[(1, "turn 3 heard w0"), (2, "turn 2 heard w1")]).doubled, 1);
}

#[test]
fn a_person_who_speaks_before_the_reply_gives_the_floor_away() {
    let lines = ["allowed 7 50 300 310", "accepted 7 50 400", "called 7 2 405"];
    let replies = [(410, "run 50 heard w1"), (500, "turn 2 heard w2")];
    for (at, count) in [(399, 1), (402, 0), (407, 1)] {
        let at = Timestamp::from_millis(at);
        let word =
            Word { channel: ChannelId::new(HERE), text: "w2".to_owned(), at, change: Change::None };
        let seen = verdict_of(&lines, &replies, &[word]);
        assert_eq!(seen.two_allowed.len(), count, "{at:?}");
    }
}

/// Once under load: the word was said at 616,150, before the end of the run was told, and its event came behind it.
#[test]
fn a_word_that_was_said_before_the_end_and_is_heard_behind_it_gives_the_floor_away() {
    let lines = [
        "allowed 7 50 616020 616030",
        "accepted 7 50 616200",
        "interrupted 7 616240",
        "allowed 7 51 616255 616269",
        "passed 7 51 616400",
    ];
    let without = lines.iter().copied().filter(|line| !line.starts_with("interrupted"));
    let without: Vec<_> = without.collect();
    let word = |at| Word {
        channel: ChannelId::new(HERE),
        text: "w1".to_owned(),
        at: Timestamp::from_millis(at),
        change: Change::None,
    };
    let replies = [(616_290, "run 50 heard w1")];
    let count =
        |lines: &[&str], words: &[Word]| verdict_of(lines, &replies, words).two_allowed.len();
    assert_eq!(count(&lines, &[word(616_150)]), 0);
    assert_eq!(count(&without, &[word(616_150)]), 1, "it was heard before the end");
    assert_eq!(count(&lines, &[]), 1, "there was no word");
    assert_eq!(count(&lines, &[word(616_280)]), 1, "it was said later");
    // The only word has taken the floor before.
    let before = [&["interrupted 7 616000"], &lines[..]].concat();
    assert_eq!(count(&before, &[word(615_990)]), 1);
    assert_eq!(count(&before, &[word(615_990), word(616_150)]), 0);
    // Who gets the floor between the end and the word has it beside the other one.
    let early = lines.map(|line| match line {
        "interrupted 7 616240" => "interrupted 7 616275",
        line => line,
    });
    assert_eq!(count(&early, &[word(616_150)]), 1);
}

#[test]
fn what_was_edited_counts_as_heard_in_either_form_and_what_was_deleted_need_not_be() {
    let word = |text: &str, change| {
        let (channel, at) = (ChannelId::new(HERE), Timestamp::from_millis(1));
        Word { channel, text: text.to_owned(), at, change }
    };
    let words = [
        word("w1", Change::Edited),
        word("w2", Change::Edited),
        word("w3", Change::Edited),
        word("w4", Change::Deleted),
        word("w5", Change::None),
    ];
    let seen = verdict_of(&[], &[(2, "turn 1 heard w1 w2!")], &words);
    assert_eq!(seen.lost.len(), 2, "{:?}", seen.lost);
}
