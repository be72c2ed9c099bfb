//! May this agent run?

use dirigent_core::{Input, Mode, Outcome, RunId};

use super::{Question, phase, refused, verdict};
use crate::room::{A, B, Room, ended, gate, secs};

pub(super) const QUESTIONS: &[Question] = &[
    Question {
        ask: "A chat has only one agent, A, and is put on hold. A asks the gate. What is the verdict?",
        answer: "allow too-few-agents",
        play: || {
            let mut room = Room::chat(1);
            room.tell(Input::Hold);
            verdict(&room.gate(A))
        },
    },
    Question {
        ask: "A report channel is stopped by an operator. A asks the gate. What is the verdict?",
        answer: "deny stopped",
        play: || {
            let mut room = Room::unknown();
            room.tell(Input::SetMode(Mode::Report));
            room.tell(Input::Stop);
            verdict(&room.gate(A))
        },
    },
    Question {
        ask: "In a chat of A and B a person writes. B asks the gate with run 7, and is denied. A passes, and B gets the floor. \
              B asks again with run 7. What is the verdict?",
        answer: "deny run-already-denied",
        play: || {
            let mut room = Room::chat(2);
            room.human("hello");
            room.tell(gate(B, Some(RunId::new(700))));
            room.passes(A);
            verdict(&room.tell(gate(B, Some(RunId::new(700)))))
        },
    },
    Question {
        ask: "In a chat on hold, A (which does not have the floor) asks the gate with run 7. The hold is ended. A person writes, and \
              A gets the floor and asks with run 7. What is the verdict?",
        answer: "deny run-already-denied",
        play: || {
            let mut room = Room::chat(2);
            room.tell(Input::Hold);
            room.tell(gate(A, Some(RunId::new(700))));
            room.tell(Input::Resume);
            room.human("hello");
            verdict(&room.tell(gate(A, Some(RunId::new(700)))))
        },
    },
    Question {
        ask: "In a stopped chat A asks the gate with run 7. The chat is resumed, a person writes, and A gets the floor and asks with \
              run 7. What is the verdict?",
        answer: "allow your-turn",
        play: || {
            let mut room = Room::chat(2);
            room.tell(Input::Stop);
            room.tell(gate(A, Some(RunId::new(700))));
            room.tell(Input::Resume);
            room.human("hello");
            verdict(&room.tell(gate(A, Some(RunId::new(700)))))
        },
    },
    Question {
        ask: "A has the floor and runs with run 1. It asks the gate with run 2, and then run 1 ends with nothing to say. What is the \
              answer to that end?",
        answer: "refused: stale-run",
        play: || {
            let mut room = Room::chat(2);
            room.human("hello");
            room.start(A);
            let first = room.run_of(A);
            room.start(A);
            refused(&mut room, ended(A, Some(first), Outcome::Pass))
        },
    },
    Question {
        ask: "A chat was created with A and B. Three minutes later a person writes. What is the phase, before any answer of the host?",
        answer: "refreshing",
        play: || {
            let mut room = Room::chat(2);
            room.wait(secs(180));
            room.human("hello");
            phase(&room)
        },
    },
];
