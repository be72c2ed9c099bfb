//! Ceilings, budgets, outages, unknown members, discussions and the archive.

use dirigent_core::{Author, Input, MessageKind, Outcome};

use super::{Question, asked, floor, phase, verdict};
use crate::room::{A, B, Room, secs};

pub(super) const QUESTIONS: &[Question] = &[
    Question {
        ask: "With `turns_max: 2`, a person writes to A, B and C. A and B pass. What is the host asked for at the end of B's turn?",
        answer: "notice ceiling",
        play: || {
            let mut room = Room::chat_with(3, |config| config.ceilings.chat.turns = Some(2));
            room.human("hello");
            room.passes(A);
            asked(&room.passes(B))
        },
    },
    Question {
        ask: "With `budget_turns: 1`, a person writes to A and B, and A passes. A person writes again. An operator resets the budget. Who has the floor?",
        answer: "B",
        play: || {
            let mut room = Room::chat_with(2, |config| config.budget.turns = Some(1));
            room.human("hello");
            room.passes(A);
            room.human("go on");
            room.tell(Input::ResetBudget);
            floor(&room)
        },
    },
    Question {
        ask: "With `agent_turns_per_hour: 1`, a person writes to A and B. Both speak, and the member list is read. What is the phase?",
        answer: "dormant",
        play: || {
            let mut room =
                Room::chat_with(2, |config| config.budget.agent_turns_per_hour = Some(1));
            room.human("hello");
            room.speaks(A);
            room.speaks(B);
            room.members();
            phase(&room)
        },
    },
    Question {
        ask: "A was granted when the chat stopped answering. It answers again two hours later. What is the phase then, before any answer of the host?",
        answer: "refreshing",
        play: || {
            let mut room = Room::chat(2);
            room.human("hello");
            room.tell(Input::Chat { away: true });
            room.wait(secs(7_200));
            room.tell(Input::Chat { away: false });
            phase(&room)
        },
    },
    Question {
        ask: "A opened a discussion with B. A person writes, both pass, and the member list is read. B asks the gate. What is the verdict?",
        answer: "deny dormant",
        play: || {
            let mut room = Room::discussion(2);
            room.human("hello");
            room.all_pass();
            room.members();
            verdict(&room.gate(B))
        },
    },
    Question {
        ask: "A discussion of A (its initiator) and B became idle, and A was reminded. A starts its permitted run, which ends with `Pass`. What is the host asked for ten minutes after that end?",
        answer: "remind A",
        play: || {
            let mut room = Room::discussion(2);
            room.human("hello");
            room.all_pass();
            room.members();
            room.passes(A);
            asked(&room.wait(secs(600)))
        },
    },
    Question {
        ask: "A opened a discussion with B and concludes it. A minute later a person writes a resume word. What is the host asked for?",
        answer: "notice closed",
        play: || {
            let mut room = Room::discussion(2);
            room.tell(Input::Conclude { by: A });
            room.wait(secs(60));
            asked(&room.post(Author::Human, MessageKind::ResumeWord, "go on"))
        },
    },
    Question {
        ask: "A person writes to A and B. A's run ends with `Unfinished`, and A never goes on. Who has the floor 45 seconds after that end?",
        answer: "B",
        play: || {
            let mut room = Room::chat(2);
            room.human("hello");
            room.start(A);
            room.ends(A, Outcome::Unfinished { tail: dirigent_core::Tail::of("first part") });
            room.wait(secs(45));
            floor(&room)
        },
    },
];
