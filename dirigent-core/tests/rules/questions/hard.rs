//! Where several rules meet.

use std::time::Duration;

use dirigent_core::config::{HumanInterrupt, MentionRule};
use dirigent_core::{
    AgentKey, Author, Config, Input, Message, MessageKind, Outcome, PhaseKind, Settlement, Tail,
    WakeCause,
};

use super::people::mention;
use super::{Question, asked, floor, phase, refused};
use crate::room::{A, B, Room, message, millis, secs};

/// The alphabet, again and again, until there are this many letters.
fn letters(count: u8) -> String {
    (0..count).map(|at| char::from(b'a' + at % 26)).collect()
}

/// How long a reply of 100 letters is waited for after this much of it has arrived with the run's end.
fn waits_for_reply(arrived: &Tail) -> String {
    let mut room = Room::chat(2);
    room.human("hello");
    room.talks(A, &letters(100));
    room.message += 1;
    let id = room.newest();
    let kind = MessageKind::Conversation;
    let piece = Message { id, author: Author::Agent(A), kind, tail: *arrived, backfilled: false };
    room.tell(Input::Message(piece));
    let mut waited = Duration::ZERO;
    while room.phase() == PhaseKind::Confirming {
        room.wait(millis(100));
        waited += millis(100);
    }
    format!("{} s", waited.as_secs_f64())
}

/// An idle discussion of A and B: A was reminded.
fn idle_discussion() -> Room {
    let mut room = Room::discussion(2);
    room.human("hello");
    room.all_pass();
    room.members();
    room
}

/// A was granted for a person's word; its trigger is settled or not; then a stop and a resume.
fn stopped_and_resumed(settled: bool) -> String {
    let mut room = Room::chat(2);
    room.human("hello");
    if settled {
        let ticket = room.trigger.take().expect("A is triggered");
        room.settle(ticket, Settlement::Done { message: None });
    }
    room.tell(Input::Stop);
    room.tell(Input::Resume);
    floor(&room)
}

/// The agent goes offline, comes back and is assigned.
fn comes_back(room: &mut Room, agent: AgentKey) {
    room.tell(Input::Offline(agent));
    room.tell(Input::Online(agent));
    room.tell(Input::Assign(agent));
}

pub(super) const QUESTIONS: &[Question] = &[
    Question {
        ask: "A's run ends with a reply of 100 letters. At once a message with the first 80 of them arrives, and nothing after it. How long after the run's end is the turn over?",
        answer: "7.5 s",
        play: || waits_for_reply(&Tail::of(&letters(80))),
    },
    Question {
        ask: "A's run ends with a reply of 100 letters. At once a message with the first 60 of them and a picture arrives, and nothing after it. How long after the run's end is the turn over?",
        answer: "1.5 s",
        play: || waits_for_reply(&Tail::of(&letters(60)).with_attachment()),
    },
    Question {
        ask: "A person writes to A and B. A is granted; its trigger is not settled, and it does not start. An operator stops the chat and resumes it. Who has the floor?",
        answer: "A",
        play: || stopped_and_resumed(false),
    },
    Question {
        ask: "A person writes to A and B. A is granted; its trigger is settled as done, and it does not start. An operator stops the chat and resumes it. Who has the floor?",
        answer: "A",
        play: || stopped_and_resumed(true),
    },
    Question {
        ask: "A's reply was confirmed with `QuietAfterMessage`. Then B, A and B pass (the member list is read in between and after), and the chat is dormant. Ten seconds after A's turn A posts another message. What is the phase?",
        answer: "dormant",
        play: || {
            let mut room = Room::chat(2);
            room.human("hello");
            room.talks(A, "a reply that the host changes on its way");
            room.says(A, "a reply that the host has changed on its way, in other words");
            room.wait(secs(2));
            room.passes(B);
            room.members();
            room.all_pass();
            room.members();
            room.wait(secs(10));
            room.says(A, "one thing more");
            phase(&room)
        },
    },
    Question {
        ask: "A discussion of A (its initiator) and B became idle, and A was reminded; A never runs, and nothing else happens. What is the phase a day later?",
        answer: "dormant",
        play: || {
            let mut room = idle_discussion();
            room.wait(secs(86_400));
            phase(&room)
        },
    },
    Question {
        ask: "A discussion of A (its initiator) and B is idle. A runs after each reminder, and each run ends with `Pass`. What is the phase half an hour after the third of these runs?",
        answer: "archived",
        play: || {
            let mut room = idle_discussion();
            for _ in 0..3 {
                room.passes(A);
                room.wait(secs(600));
            }
            room.wait(secs(1_200));
            phase(&room)
        },
    },
    Question {
        ask: "With `Config::message_flow` (`turn_deadline` 60 s, no start deadline), A is granted and never starts. 30 s after the grant the chat is put on hold, and 70 s later it is resumed. Who has the floor 50 s after the resume?",
        answer: "A",
        play: || {
            let mut room = Room::chat_with(2, |config| *config = Config::message_flow());
            room.human("hello");
            room.wait(secs(30));
            room.tell(Input::Hold);
            room.wait(secs(70));
            room.tell(Input::Resume);
            room.wait(secs(50));
            floor(&room)
        },
    },
    Question {
        ask: "With `agent_turns_per_hour: 1`, a person writes to A, B and C. A speaks, B and C pass. While the member list is read, an operator chooses A; then it is read. Who has the floor?",
        answer: "A",
        play: || {
            let mut room =
                Room::chat_with(3, |config| config.budget.agent_turns_per_hour = Some(1));
            room.human("hello");
            room.speaks(A);
            room.passes(B);
            room.passes(AgentKey::new(3));
            room.tell(Input::SpeakNext(A));
            room.members();
            floor(&room)
        },
    },
    Question {
        ask: "With `mentions: Only`, A, B and C are dormant, and a person mentions B. B speaks, and the member list is read. Who has the floor?",
        answer: "A",
        play: || {
            let mut room = Room::chat_with(3, |config| config.people.mentions = MentionRule::Only);
            mention(&mut room, &[B]);
            room.speaks(B);
            room.members();
            floor(&room)
        },
    },
    Question {
        ask: "A person writes to A, B and C. While A runs, B goes offline, comes back and is assigned. A passes. Who has the floor?",
        answer: "C",
        play: || {
            let mut room = Room::chat(3);
            room.human("hello");
            room.start(A);
            comes_back(&mut room, B);
            room.ends(A, Outcome::Pass);
            floor(&room)
        },
    },
    Question {
        ask: "A's run ends with `Unfinished`; A starts again, and then the host is restarted (`RunsLost{rerun: true}`). What is the phase?",
        answer: "continuing",
        play: || {
            let mut room = Room::chat(2);
            room.human("hello");
            room.start(A);
            room.ends(A, Outcome::Unfinished { tail: Tail::of("first part") });
            room.start(A);
            room.tell(Input::RunsLost { rerun: true });
            phase(&room)
        },
    },
    Question {
        ask: "A person writes message 1001 to A and B, both pass, the member list is read, and nothing happens for an hour. Then message 900, never seen before, is pushed. What is the answer?",
        answer: "refused: repeated-message",
        play: || {
            let mut room = Room::chat(2);
            room.human("hello");
            room.all_pass();
            room.members();
            room.wait(secs(3_600));
            refused(&mut room, message(900, Author::Human, MessageKind::Conversation, "late"))
        },
    },
    Question {
        ask: "With `human_interrupt: Interrupt`, A runs. A person writes message 1002, A's run ends with `Pass`, and then the orchestrator fails. What is the host asked for at that failure?",
        answer: "deliver 1002 to 1002 to B, trigger B",
        play: || {
            let mut room = Room::chat_with(2, |config| {
                config.people.human_interrupt = HumanInterrupt::Interrupt;
            });
            room.human("hello");
            room.start(A);
            room.human("and this");
            room.ends(A, Outcome::Pass);
            let ticket = room.consult.take().expect("the orchestrator is asked");
            asked(&room.settle(ticket, Settlement::Failed { retry_at: None }))
        },
    },
    Question {
        ask: "A was granted, then the chat was put on hold, and then it stopped answering. What is the phase two hours later?",
        answer: "granted",
        play: || {
            let mut room = Room::chat(2);
            room.human("hello");
            room.tell(Input::Hold);
            room.tell(Input::Chat { away: true });
            room.wait(secs(7_200));
            phase(&room)
        },
    },
    Question {
        ask: "A, B and C are dormant. An operator wakes the chat with C first (`Wake{first: C, cause: Operator}`). C passes, and the member list is read. What is the phase?",
        answer: "granted",
        play: || {
            let mut room = Room::chat(3);
            let first = Some(AgentKey::new(3));
            room.tell(Input::Wake { first, cause: WakeCause::Operator });
            room.passes(AgentKey::new(3));
            room.members();
            phase(&room)
        },
    },
];
