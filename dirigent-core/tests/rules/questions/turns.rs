//! Turns, cycles, and who is next.

use dirigent_core::config::WakeRule;
use dirigent_core::{Input, Outcome};

use super::{Question, floor, phase, slot};
use crate::room::{A, B, D, Room, secs, spoke};

/// A chat of this number of agents to which a person has written: A has the floor.
fn woken(count: usize) -> Room {
    let mut room = Room::chat(count);
    room.human("hello");
    room
}

/// A's reply, which the library delivered and has a receipt for.
fn is_delivered(room: &mut Room, agent: dirigent_core::AgentKey) {
    room.start(agent);
    let run = Some(room.run_of(agent));
    room.tell(Input::Replied { agent, run, next: None });
    room.message += 1;
    let messages = vec![room.newest()];
    room.tell(Input::Receipt { agent, run, messages });
    room.ends(agent, spoke("delivered"));
}

pub(super) const QUESTIONS: &[Question] = &[
    Question {
        ask: "A person writes to A and B. A speaks; B is muted; the member list is read. What is the phase?",
        answer: "dormant",
        play: || {
            let mut room = woken(2);
            room.speaks(A);
            room.tell(Input::Mute(B));
            room.members();
            phase(&room)
        },
    },
    Question {
        ask: "A starts its run, posts one message through its own gateway, and its run ends with `Pass` at once. What is the phase?",
        answer: "confirming",
        play: || {
            let mut room = woken(2);
            room.start(A);
            room.says(A, "one thing");
            room.ends(A, Outcome::Pass);
            phase(&room)
        },
    },
    Question {
        ask: "A starts its run, posts one message a minute later, and its run never ends. What has become of A's slot when the run deadline has passed?",
        answer: "spoke",
        play: || {
            let mut room = woken(2);
            room.start(A);
            room.wait(secs(60));
            room.says(A, "one thing");
            room.wait(secs(600));
            slot(&room, A)
        },
    },
    Question {
        ask: "A's reply was not seen for 15 seconds, and B was granted. Ten seconds later A's message arrives after all. How many turns count since the person's word?",
        answer: "2",
        play: || {
            let mut room = woken(3);
            room.speaks_unconfirmed(A, "a reply that is late");
            room.wait(secs(10));
            room.says(A, "a reply that is late");
            room.channel.view().turns_since_human().to_string()
        },
    },
    Question {
        ask: "A person writes to A and B; both pass. When the member list is read after that, D is in it for the first time. What is the phase?",
        answer: "granted",
        play: || {
            let mut room = woken(2);
            room.passes(A);
            room.joins(D);
            room.passes(B);
            room.members();
            phase(&room)
        },
    },
    Question {
        ask: "The library delivers A's reply with a receipt; B passes; the member list is read. Who has the floor?",
        answer: "B",
        play: || {
            let mut room = woken(2);
            is_delivered(&mut room, A);
            room.passes(B);
            room.members();
            floor(&room)
        },
    },
    Question {
        ask: "A's run ends with `Repeated`, with a receipt kept. What has become of A's slot?",
        answer: "passed",
        play: || {
            let mut room = woken(2);
            room.start(A);
            room.message += 1;
            let (run, messages) = (Some(room.run_of(A)), vec![room.newest()]);
            room.tell(Input::Receipt { agent: A, run, messages });
            room.ends(A, Outcome::Repeated);
            slot(&room, A)
        },
    },
    Question {
        ask: "A runs when the host is restarted, and has said nothing (`RunsLost{rerun: false}`). B passes, and the member list is read. Who has the floor?",
        answer: "A",
        play: || {
            let mut room = woken(2);
            room.start(A);
            room.tell(Input::RunsLost { rerun: false });
            room.passes(B);
            room.members();
            floor(&room)
        },
    },
    Question {
        ask: "With `wake_rule: NextAfterSender`, A, B and C are dormant, and B posts a message. Who has the floor?",
        answer: "C",
        play: || {
            let mut room =
                Room::chat_with(3, |config| config.order.wake_rule = WakeRule::NextAfterSender);
            room.says(B, "look at this");
            floor(&room)
        },
    },
];
