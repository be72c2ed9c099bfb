//! What a claim is answered, by topic.

mod lines;
mod outage;
mod pacing;
mod pools;
mod rate_limits;

use std::time::Duration;

use dirigent_core::AgentKey;

use super::*;
use crate::ChannelId;
use crate::settings::Pace;

const SECOND: Duration = Duration::from_secs(1);

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_000_000_000 + millis)
}

fn admission(pacing: Pacing) -> Admission {
    Admission::new(Limits { pacing, calls_max: 2, agent_calls_max: None, consults_max: 1 })
}

/// An action of room `room`, by the moderator in the room itself.
fn claim(room: u64, kind: ClaimKind) -> Claim {
    Claim::new(ChannelId::new(room), AccountKey::Moderator, kind)
}

fn post(room: u64) -> Claim {
    claim(room, ClaimKind::Post)
}

fn read(room: u64) -> Claim {
    claim(room, ClaimKind::Read)
}

fn by_agent(agent: u32, claim: Claim) -> Claim {
    Claim { account: AccountKey::Agent(AgentKey::new(agent)), ..claim }
}

const GO: Result<(), Wait> = Ok(());
const LINE: Result<(), Wait> = Err(Wait::Line);

fn again(claim: Claim) -> Claim {
    Claim { has_waited: true, ..claim }
}

const fn wait(until: Timestamp) -> Result<(), Wait> {
    Err(Wait::Until(until))
}

impl Admission {
    fn ask(&mut self, now: Timestamp, claim: Claim) -> Result<(), Wait> {
        self.admit(now, claim).map(|_| ())
    }

    /// The room whose turn has come in the line of an account.
    fn next_for_chat(&mut self, now: Timestamp) -> Option<u64> {
        self.next(now).map(|next| {
            assert!(next.is_for_chat);
            next.room.get()
        })
    }

    /// The room whose turn has come in the line before a pool.
    fn next_for_pool(&mut self, now: Timestamp) -> Option<u64> {
        self.next(now).map(|next| {
            assert!(!next.is_for_chat);
            next.room.get()
        })
    }
}

fn only_by_channel(burst: usize, window: Duration) -> Pacing {
    Pacing { channel: Some(Pace { burst, window }), ..Pacing::off() }
}

const REFUSED: Report = Report::Away { refused: true };
const HUNG: Report = Report::Away { refused: false };

/// Small numbers that look random, from one seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % most.max(1)
    }

    fn place(&mut self, most: usize) -> usize {
        usize::try_from(self.below(most as u64)).unwrap()
    }
}
