//! Rooms that say nothing new: a reply that repeats what was said is not posted, and counts as nothing to add.

use dirigent::Reply;
use dirigent::operate::{Cause, Heard};
use dirigent::ports::Embed;
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

/// What the first conversation with a real model said until the ceiling ended it.
const RAIN: [&str; 6] = [
    "2. The best thing about rain.",
    "3. The best thing about rain.",
    "4. The best thing about rain.",
    "5. The best thing about rain.",
    "6. The best thing about rain.",
    "7. The best thing about rain.",
];

fn lines<const N: usize>(numbers: [usize; N]) -> [Line; N] {
    numbers.map(|number| Line::from(RAIN[number]))
}

fn causes(events: &mut dirigent::operate::Events) -> Vec<Cause> {
    let mut causes = Vec::new();
    while let Some(heard) = events.try_next() {
        if let Heard::Transition(event) = heard {
            causes.push(event.transition.cause);
        }
    }
    causes
}

fn said(stage: &Stage) -> Vec<String> {
    stage.words()
}

/// F29
#[test]
fn agents_that_count_on_in_a_list_that_says_nothing_fall_asleep_and_are_told() {
    let mut stage =
        Setup::new().hosted("a", lines([0, 2, 4])).hosted("b", lines([1, 3, 5])).stage();
    stage.chat();
    let mut events = stage.dirigent().events();
    stage.say("What do you like about rain?");
    stage.until_dormant();
    assert_eq!(said(&stage), ["What do you like about rain?", RAIN[0], RAIN[1]]);
    let causes = causes(&mut events);
    // The other one spoke last, and is not even asked.
    assert!(causes.contains(&Cause::Repeated), "{causes:?}");
    assert_eq!(causes.last(), Some(&Cause::AllPassed), "{causes:?}");
    stage.say("And about snow?");
    stage.until_dormant();
    let told: Vec<_> = stage.agent("a").turns().iter().map(|turn| turn.repeated).collect();
    assert_eq!(told, [false, false, true, false], "with its next turn, once");
}

/// F29
#[test]
fn what_a_person_asks_for_again_is_said_again() {
    let mut stage = Setup::new().hosted("a", lines([0, 2])).hosted("b", []).stage();
    stage.chat();
    stage.say("What do you like about rain?");
    stage.until_dormant();
    stage.say("Say that again, please.");
    stage.until_dormant();
    let words = said(&stage);
    assert_eq!(words[1..], [RAIN[0], "Say that again, please.", RAIN[2]]);
}

/// F29
#[test]
fn agents_of_the_host_that_repeat_themselves_have_nothing_to_add_either() {
    let mut stage =
        Setup::new().hooked("a", lines([0, 2, 4])).hooked("b", lines([1, 3, 5])).stage();
    stage.chat();
    let mut events = stage.dirigent().events();
    stage.say("What do you like about rain?");
    stage.until_dormant();
    let causes = causes(&mut events);
    assert_eq!(causes.iter().filter(|cause| **cause == Cause::Repeated).count(), 2, "{causes:?}");
    // They post themselves: what was on its way arrives, and wakes nobody.
    assert_eq!(said(&stage)[1..], RAIN[..4]);
    assert_eq!(causes.last(), Some(&Cause::AllPassed), "{causes:?}");
}

/// F29
#[test]
fn repetitions_are_posted_where_the_host_wants_them() {
    let mut stage = Setup::new()
        .hosted("a", lines([0, 2]))
        .hosted("b", lines([1, 3]))
        .settings(|settings| settings.skip_repetitions = false)
        .stage();
    stage.chat();
    stage.say("What do you like about rain?");
    stage.until_dormant();
    assert_eq!(said(&stage)[1..], RAIN[..4]);
    assert!(!dirigent::Settings::seed_literal().skip_repetitions);
}

/// F29
#[test]
fn a_room_that_slept_remembers_nothing_that_was_said() {
    let mut stage = Setup::new().hosted("a", lines([0, 2])).hosted("b", []).stage();
    stage.chat();
    stage.say("What do you like about rain?");
    stage.until_dormant();
    let channel = stage.channel();
    let mut events = stage.dirigent().events();
    stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
    stage.until_dormant();
    let causes = causes(&mut events);
    assert_eq!(said(&stage)[1..], [RAIN[0], RAIN[2]], "{causes:?}");
}

/// F29
#[test]
fn a_reply_with_an_embed_is_posted_whatever_its_words() {
    let shown = |number: usize| {
        let reply = Reply::text(RAIN[number]).embed(Embed::new().title("Rain"));
        Line::from(Act::Reply(reply))
    };
    let mut stage =
        Setup::new().hosted("a", [shown(0), shown(2)]).hosted("b", ["Yes.".into()]).stage();
    stage.chat();
    stage.say("What do you like about rain?");
    stage.until_dormant();
    assert_eq!(said(&stage)[1..], [RAIN[0], "Yes.", RAIN[2]]);
}
