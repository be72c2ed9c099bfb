//! What must hold in a bad world, stated through the public API alone. `verify/findings.md` lists the
//! promises by number (P1 …, M1 …), and a test here names the number of its promise. Those without a
//! number hold what a simulation or a review found since.

mod blocking;
mod bounds;
mod cancelled_calls;
mod clean_up;
mod clocks;
mod commands;
mod damage;
mod discussions;
mod erasure;
mod files;
mod first_hour;
mod gaps;
mod heard;
mod held_back;
mod kept_in_mind;
mod kept_runs;
mod kit;
mod lost_events;
mod lost_gateway;
mod members;
mod new_sessions;
mod once_failed;
mod outages;
mod own_wakes;
mod panics;
mod pending_words;
mod permits;
mod refused_records;
mod registry;
mod replies;
mod replies_in_doubt;
mod rich_replies;
mod rights;
mod shutdown;
mod stored_first;
mod surroundings;
mod sweep;
mod takeover;
mod told;
mod twins;
mod unhosted;
mod unsent;
mod words;
mod words_while_down;
