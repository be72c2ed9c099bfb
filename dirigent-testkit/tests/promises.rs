//! What must hold in a bad world, stated through the public API alone. `docs/findings.md` lists the
//! promises by number (P1 …, M1 …), and a test here names the number of its promise. Those without a
//! number hold what a simulation or a review found since.
#![cfg(test)]

#[path = "promises/bounds.rs"]
mod bounds;
#[path = "promises/cancelled_calls.rs"]
mod cancelled_calls;
#[path = "promises/clean_up.rs"]
mod clean_up;
#[path = "promises/clocks.rs"]
mod clocks;
#[path = "promises/commands.rs"]
mod commands;
#[path = "promises/damage.rs"]
mod damage;
#[path = "promises/discussions.rs"]
mod discussions;
#[path = "promises/erasure.rs"]
mod erasure;
#[path = "promises/gaps.rs"]
mod gaps;
#[path = "promises/held_back.rs"]
mod held_back;
#[path = "promises/kept_in_mind.rs"]
mod kept_in_mind;
#[path = "promises/kept_runs.rs"]
mod kept_runs;
#[path = "promises/kit.rs"]
mod kit;
#[path = "promises/lost_events.rs"]
mod lost_events;
#[path = "promises/lost_gateway.rs"]
mod lost_gateway;
#[path = "promises/members.rs"]
mod members;
#[path = "promises/new_sessions.rs"]
mod new_sessions;
#[path = "promises/once_failed.rs"]
mod once_failed;
#[path = "promises/outages.rs"]
mod outages;
#[path = "promises/pending_words.rs"]
mod pending_words;
#[path = "promises/permits.rs"]
mod permits;
#[path = "promises/refused_records.rs"]
mod refused_records;
#[path = "promises/registry.rs"]
mod registry;
#[path = "promises/replies.rs"]
mod replies;
#[path = "promises/replies_in_doubt.rs"]
mod replies_in_doubt;
#[path = "promises/shutdown.rs"]
mod shutdown;
#[path = "promises/stored_first.rs"]
mod stored_first;
#[path = "promises/sweep.rs"]
mod sweep;
#[path = "promises/takeover.rs"]
mod takeover;
#[path = "promises/told.rs"]
mod told;
#[path = "promises/unhosted.rs"]
mod unhosted;
#[path = "promises/unsent.rs"]
mod unsent;
#[path = "promises/words_while_down.rs"]
mod words_while_down;
