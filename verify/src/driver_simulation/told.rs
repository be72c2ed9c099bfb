//! What those are told who ask why nobody speaks: it is what the gate says, and what is named comes true.

use dirigent::operate::{Cause, Explanation, Reason, Status};
use dirigent::ports::Timestamp;
use dirigent::snapshot::Pause;
use dirigent::{AgentId, ChannelId, Clock, Denial, Dirigent};
use dirigent_core::{Deadline, DeadlineReason, PhaseKind, TurnId};

use super::{Call, DriverWorld, SECOND};
use crate::stage::Stage;

/// Who is asked about: the agents of the rooms, one that is in none of them, and one that is not registered.
const EVERYBODY: [&str; 5] = ["ann", "bob", "cis", "dan", "nobody"];

/// What was named, and how its room looked then.
#[derive(Debug)]
pub(super) struct Named {
    room: ChannelId,
    at: Timestamp,
    why: String,
    seen: Seen,
    /// How often the process had died.
    deaths: usize,
    /// How often something was to be posted.
    posts: u64,
}

/// What is seen of a room's turns.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    turn: TurnId,
    phase: PhaseKind,
    speaker: Option<AgentId>,
    rest: Option<Pause>,
    is_chat_away: bool,
    /// When the agent is called once more.
    starts_by: Option<Deadline>,
    /// The newest change, if the store tells it. In world 20261487 a late list began a cycle in which no agent had anything new, and
    /// the next list was read within the same millisecond: the room looked as before, and had gone on.
    newest: Option<(Timestamp, Cause)>,
}

impl Seen {
    fn of(stage: &mut Stage, room: ChannelId) -> Option<Self> {
        let status: Status = stage.status_of(room)?;
        let history = stage
            .try_call(move |dirigent| async move { dirigent.channel(room).history().await.ok() });
        let newest = history.flatten().and_then(|history| history.last().cloned());
        let is_start = |deadline: &Deadline| deadline.reason == DeadlineReason::Start;
        Some(Self {
            turn: status.turn,
            phase: status.phase,
            speaker: status.speaker,
            rest: status.rest,
            is_chat_away: status.chat_away_since.is_some(),
            starts_by: status.deadline.filter(is_start),
            newest: newest.map(|newest| (newest.transition.at, newest.transition.cause)),
        })
    }
}

/// What an agent was told, and what the gate said between the two.
type Answers = (Explanation, Result<(bool, Reason), ()>, Explanation);

async fn ask(dirigent: &Dirigent, room: ChannelId, agent: &AgentId) -> Option<Answers> {
    let channel = dirigent.channel(room);
    let before = channel.explain(agent).await.ok()?;
    if matches!(before.reason, Reason::YourTurn | Reason::InitiatorPermit) {
        // Its run would begin.
        return None;
    }
    let said = match channel.may_speak(agent, None).await {
        Ok(permit) => Ok((true, permit.reason())),
        Err(Denial::Denied { reason, .. }) => Ok((false, reason)),
        Err(_) => Err(()),
    };
    Some((before, said, channel.explain(agent).await.ok()?))
}

impl DriverWorld {
    /// In one world of four everybody asks. Those worlds that once failed are none of them.
    pub(super) const fn asks_in(seed: u64) -> bool {
        matches!(seed % 8, 0 | 7)
    }

    /// Everybody asks in one room why, and asks the gate. Gives what was named.
    pub(super) fn ask_everybody(&mut self) -> Result<Option<Named>, String> {
        let room = self.room_of_step();
        let told = self.stage.try_call(move |dirigent| async move {
            let mut told = Vec::new();
            for agent in EVERYBODY.map(AgentId::from) {
                told.extend(ask(&dirigent, room, &agent).await);
            }
            told
        });
        for (before, said, after) in told.unwrap_or_default() {
            let is_said = |why: &Explanation| said == Ok((why.allows(), why.reason));
            if said.is_ok() && !is_said(&before) && !is_said(&after) {
                return Err(format!("the gate says {said:?} in {room}: {before}, {after}"));
            }
        }
        let clock = self.stage.clock().clone();
        let before = Seen::of(&mut self.stage, room);
        let why = self.stage.try_call(move |dirigent| async move {
            let why = dirigent.channel(room).explain(&"ann".into()).await.ok()?;
            Some((clock.now() + why.within?, why.to_string()))
        });
        let Some((at, why)) = why.flatten() else {
            return Ok(None);
        };
        let deaths = self.stage.points().deaths().len();
        let seen = Seen::of(&mut self.stage, room);
        let posts = self.stage.discord().calls().of(Call::Post);
        // In world 2891980776 the turn that was named had begun by then.
        let seen = seen.filter(|seen| before.as_ref() == Some(seen));
        Ok(seen.map(|seen| Named { room, at, why, seen, deaths, posts }))
    }

    fn room_of_step(&self) -> ChannelId {
        let rooms = self.stage.rooms();
        let at = usize::try_from(self.tally.steps).unwrap_or_default() % rooms.len().max(1);
        rooms.get(at).copied().unwrap_or(ChannelId::new(0))
    }

    /// Only time has passed: what was said went on when that was said to happen.
    pub(super) fn check_named(&mut self, named: &Named) -> Result<(), String> {
        let late = named.at + SECOND;
        let is_alive = self.stage.points().deaths().len() == named.deaths;
        if self.stage.clock().now() < late || !is_alive {
            return Ok(());
        }
        let seen = Seen::of(&mut self.stage, named.room);
        let is_alive = self.stage.points().deaths().len() == named.deaths;
        let goes_on = seen.is_none_or(|seen| seen != named.seen);
        // In world 2711400296 the post went when the chat had said that it may, and was told to wait once more.
        let tried = self.stage.discord().calls().of(Call::Post) > named.posts;
        if goes_on || !is_alive || named.seen.is_chat_away && tried {
            Ok(())
        } else {
            Err(format!(
                "{} In {} nothing went on by {:?}: {:?}",
                named.why, named.room, named.at, named.seen
            ))
        }
    }
}
