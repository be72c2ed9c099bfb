//! The rules of a turn, told as stories: a file a topic, a sentence a test.
//!
//! Doc comments name the requirements; `verify/requirements.md` lists them all with their tests.

#![cfg(test)]

mod alone;
mod archive;
mod away;
mod bad_input;
mod budgets;
mod ceilings;
mod choices;
mod cycle;
mod delivery;
mod discussion;
mod dormancy;
mod forgery;
mod gate;
mod interruption;
mod interrupts;
mod last_word;
mod late_messages;
mod lengths;
mod lost_runs;
mod members;
mod memory;
mod mentions;
mod modes;
mod operator;
mod outages;
mod questions;
mod reminders;
mod repeated;
mod replies;
mod restart;
mod room;
mod rotation;
mod rounds;
mod run_end;
mod scenarios;
mod settings;
mod signal;
mod silence;
mod status;
mod ticks;
mod unasked;
mod unheard;
mod unknown_members;
mod wake;
mod words;
mod writing;
