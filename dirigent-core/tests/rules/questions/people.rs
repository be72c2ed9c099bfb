//! What people and operators do during a turn and between turns.

use dirigent_core::config::HumanInterrupt;
use dirigent_core::{
    AgentKey, Author, Input, Message, MessageId, MessageKind, Outcome, Settlement, Tail,
};

use super::{Question, asked, floor, phase, verdict};
use crate::room::{A, B, C, Room, secs};

/// A chat of this number of agents to which a person has written, with this answer to people's words.
fn woken(count: usize, human_interrupt: HumanInterrupt) -> Room {
    let mut room = Room::chat_with(count, |config| config.people.human_interrupt = human_interrupt);
    room.human("hello");
    room
}

/// A person mentions these agents.
pub(super) fn mention(room: &mut Room, agents: &[AgentKey]) {
    room.message += 1;
    let message = Message {
        id: MessageId::new(room.message),
        author: Author::Human,
        kind: MessageKind::Conversation,
        tail: Tail::of("you there"),
        backfilled: false,
    };
    room.tell(Input::Addressed { message, agents: agents.to_vec() });
}

pub(super) const QUESTIONS: &[Question] = &[
    Question {
        ask: "With `human_interrupt: Queue`, A runs and a person writes message 1002. Then A's run ends with `Pass`. What is the host asked for at that end?",
        answer: "deliver 1002 to 1002 to B, trigger B",
        play: || {
            let mut room = woken(2, HumanInterrupt::Queue);
            room.start(A);
            room.human("and this");
            asked(&room.ends(A, Outcome::Pass))
        },
    },
    Question {
        ask: "With `human_interrupt: Queue`, A's run ended with a reply that has not arrived. A person writes. What is the phase?",
        answer: "confirming",
        play: || {
            let mut room = woken(2, HumanInterrupt::Queue);
            room.talks(A, "this is on its way into the channel");
            room.human("wait");
            phase(&room)
        },
    },
    Question {
        ask: "With `human_interrupt: Interrupt`, A runs. A person writes message 1002, and the orchestrator does not answer for 30 seconds. What is the host asked for then?",
        answer: "deliver 1002 to 1002 to A",
        play: || {
            let mut room = woken(2, HumanInterrupt::Interrupt);
            room.start(A);
            room.human("and this");
            asked(&room.wait(secs(30)))
        },
    },
    Question {
        ask: "With `human_interrupt: Interrupt`, A runs. A person writes messages 1002, 1003 and 1004; then the orchestrator answers the first. What is the host asked for then?",
        answer: "consult about 1003 to 1004 for A",
        play: || {
            let mut room = woken(2, HumanInterrupt::Interrupt);
            room.start(A);
            room.human("this");
            room.human("and this");
            room.human("and that");
            let ticket = room.consult.take().expect("the orchestrator is asked");
            asked(&room.settle(ticket, Settlement::Done { message: None }))
        },
    },
    Question {
        ask: "In a dormant chat, agent B posts a message that is exactly a stop word. What is the phase?",
        answer: "granted",
        play: || {
            let mut room = Room::chat(2);
            room.post(Author::Agent(B), MessageKind::StopWord, "stop");
            phase(&room)
        },
    },
    Question {
        ask: "In a chat that an operator has stopped, a person writes a stop word. What is the host asked for?",
        answer: "nothing",
        play: || {
            let mut room = Room::chat(2);
            room.tell(Input::Stop);
            asked(&room.post(Author::Human, MessageKind::StopWord, "stop"))
        },
    },
    Question {
        ask: "A, B and C are dormant. A person mentions C. C passes. Who has the floor?",
        answer: "A",
        play: || {
            let mut room = Room::chat(3);
            mention(&mut room, &[C]);
            room.passes(C);
            floor(&room)
        },
    },
    Question {
        ask: "A person writes to A, B and C. While A runs, a person mentions C. A passes, and C passes. Who has the floor?",
        answer: "B",
        play: || {
            let mut room = woken(3, HumanInterrupt::Inject);
            room.start(A);
            mention(&mut room, &[C]);
            room.ends(A, Outcome::Pass);
            room.passes(C);
            floor(&room)
        },
    },
    Question {
        ask: "A person writes to A, B and C. While A runs, an operator chooses C (`SpeakNext`). A passes, and C passes. Who has the floor?",
        answer: "B",
        play: || {
            let mut room = woken(3, HumanInterrupt::Inject);
            room.start(A);
            room.tell(Input::SpeakNext(C));
            room.ends(A, Outcome::Pass);
            room.passes(C);
            floor(&room)
        },
    },
    Question {
        ask: "A's run ends with `AwaitsHuman`, and its reply arrives. Then B posts a message. B asks the gate. What is the verdict?",
        answer: "deny awaiting-human",
        play: || {
            let mut room = woken(2, HumanInterrupt::Inject);
            room.start(A);
            room.ends(A, Outcome::AwaitsHuman { tail: Tail::of("please decide, a person") });
            room.says(A, "please decide, a person");
            room.says(B, "I think so too");
            verdict(&room.gate(B))
        },
    },
];
