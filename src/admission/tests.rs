//! What a claim is answered, by topic.

mod outage;
mod pacing;
mod pools;
mod rate_limits;

use dirigent_core::AgentKey;

use super::*;
use crate::settings::Pace;

const SECOND: Duration = Duration::from_secs(1);

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_000_000_000 + millis)
}

fn admission(pacing: Pacing) -> Admission {
    within(pacing, SECOND * 10)
}

fn within(pacing: Pacing, attempt_timeout: Duration) -> Admission {
    Admission::new(Limits {
        pacing,
        calls_max: 2,
        agent_calls_max: None,
        consults_max: 1,
        attempt_timeout,
    })
}

/// Until this time.
fn wait(until: Timestamp) -> Verdict {
    Verdict::Wait { until: Some(until) }
}

/// The action `id` of room `room`, by the moderator in the room itself.
fn claim(room: u64, id: u64, kind: ClaimKind) -> Claim {
    let room = ChannelId::new(room);
    let account = AccountKey::Moderator;
    Claim { room, id: ActionId(id), target: room, account, agent: None, kind }
}

fn post(room: u64, id: u64) -> Claim {
    claim(room, id, ClaimKind::Post)
}

fn read(room: u64, id: u64) -> Claim {
    claim(room, id, ClaimKind::Read)
}

fn try_again(claim: &Claim) -> Wakeup {
    Wakeup { room: claim.room, id: Some(claim.id) }
}

fn chat_back(room: u64) -> Wakeup {
    Wakeup { room: ChannelId::new(room), id: None }
}

fn only_by_channel(burst: usize, window: Duration) -> Pacing {
    Pacing { channel: Some(Pace { burst, window }), ..Pacing::off() }
}

const AWAY: Verdict = WAIT;
const REFUSED: Report = Report::Away { refused: true };
const HUNG: Report = Report::Away { refused: false };

/// Small numbers that look random, from one seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % most.max(1)
    }
}
