//! What an explanation says: the same as the gate, and a time that comes true.

use dirigent_core::snapshot::PendingEffect;
use dirigent_core::{
    AgentKey, Answer, Effect, Input, PhaseKind, RunId, Ticket, Timestamp, TurnId, TurnMachine,
};

use super::world::World;

/// After how many events everybody is asked.
const ASKS_EVERY: u64 = 16;

/// What was named when the time came for something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    goes_on_at: Option<Timestamp>,
    /// Whether an agent has begun its turn. Where it has not, the room may have waited for a read before it calls it.
    in_turn: bool,
    /// The reply that waits for the chat, and when it is given up.
    reply: Option<(u64, Timestamp)>,
    seen: Seen,
}

/// What is seen of turns from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    phase: PhaseKind,
    turn: TurnId,
    is_chat_away: bool,
    /// The newest call of an agent.
    called: Option<Ticket>,
    /// The newest question for the members, with which a cycle begins.
    asked: Option<Ticket>,
}

impl Seen {
    fn of(machine: &TurnMachine) -> Self {
        let view = machine.view();
        let called = |it: &PendingEffect| match it.effect {
            Effect::Trigger { ticket, .. } => Some(ticket),
            _ => None,
        };
        Self {
            phase: view.phase(),
            turn: view.turn(),
            is_chat_away: view.chat_away_since().is_some(),
            called: machine.pending().iter().filter_map(called).next_back(),
            asked: machine.snapshot().state.roster.refresh.map(|refresh| refresh.ticket),
        }
    }
}

impl World {
    /// What is named now.
    pub(super) fn named(&self) -> Named {
        let look = self.room.look();
        let given_up_at = look.outage().and_then(|outage| outage.given_up_at);
        Named {
            goes_on_at: look.goes_on_at(look.machine()),
            in_turn: matches!(
                look.machine().view().phase(),
                PhaseKind::Running | PhaseKind::Waiting | PhaseKind::Confirming
            ),
            reply: self.books.reply.map(|reply| reply.name).zip(given_up_at),
            seen: Seen::of(look.machine()),
        }
    }

    /// The time that was named has come: what was said goes on, and nothing went on before by time alone.
    pub(super) fn check_named(&mut self, named: Named) {
        let (now, was, is) = (self.now, named.seen, Seen::of(self.room.look().machine()));
        let Some(at) = named.goes_on_at else {
            return self.check_given_up(named);
        };
        let is_called = is.called > was.called;
        let is_over = (was.phase, was.turn) != (is.phase, is.turn) || is_called;
        let is_back = was.is_chat_away && !is.is_chat_away;
        if at <= now && !is_over && !is_back && is.asked <= was.asked {
            self.books.fail(format!("it was to go on at {at:?}, and does not: {named:?}"));
        }
        if at > now && is_over && named.in_turn {
            self.books.fail(format!("it goes on at {now:?}, and said {at:?}: {named:?}"));
        }
        self.check_given_up(named);
    }

    fn check_given_up(&mut self, named: Named) {
        let now = self.now;
        let left = self.books.reply.map(|reply| reply.name);
        if let Some((reply, at)) = named.reply.filter(|(reply, _)| left == Some(*reply)) {
            if at <= now {
                self.books.fail(format!("reply {reply:#x} was to be given up at {at:?}"));
            }
        }
    }

    /// No time that is named passes.
    pub(super) fn check_is_ahead(&mut self) {
        let look = self.room.look();
        let named = look.goes_on_at(look.machine());
        let given_up_at = look.outage().and_then(|outage| outage.given_up_at);
        let now = self.now;
        if let Some(at) = named.into_iter().chain(given_up_at).find(|at| *at <= now) {
            self.books.fail(format!("{at:?} is named at {now:?}"));
        }
    }

    /// Now and then everybody asks why, and asks the gate: agents of the channel, and one that no channel knows.
    pub(super) fn watch_explanations(&mut self) {
        self.books.looks += 1;
        if self.books.looks % ASKS_EVERY != 0 {
            return;
        }
        let now = self.now;
        let run = Some(RunId::new(u64::MAX - self.books.looks));
        let look = self.room.look();
        let explained = look.machine_at(now);
        for agent in (0..=self.fixed.agents).map(AgentKey::new) {
            let mut gate = look.machine().clone();
            let asked = Input::Gate { agent: Some(agent), run, latest: None };
            let answer = gate.handle(now, &asked, &mut Vec::new());
            let said = answer.ok().and_then(Answer::verdict).map(|it| it.reason());
            let why = explained.explain(agent);
            if said != Some(why) {
                let told = format!("{agent:?} hears {why:?}, and the gate says {said:?}");
                return self.books.fail(told);
            }
        }
    }
}

fn broken(world: World) -> String {
    world.books.broken.unwrap_or_default()
}

#[test]
fn a_time_at_which_nothing_goes_on_is_noticed() {
    let mut world = World::new(3, false);
    let named = Named { goes_on_at: Some(world.now), ..world.named() };
    world.check_named(named);
    assert!(broken(world).contains("was to go on"));
}

#[test]
fn a_turn_that_goes_on_before_the_time_that_was_named_is_noticed() {
    let mut world = World::new(3, false);
    let named = world.named();
    let seen = Seen { turn: TurnId::new(9), ..named.seen };
    let goes_on_at = Some(world.now + std::time::Duration::from_secs(1));
    world.check_named(Named { goes_on_at, in_turn: true, seen, ..named });
    assert!(broken(world).contains("and said"));
}

#[test]
fn a_reply_that_is_not_given_up_as_said_is_noticed() {
    let mut world = World::new(3, false);
    let agent = AgentKey::new(0);
    world.books.reply = Some(super::books::OpenReply { agent, name: 7, parts: 1 });
    let named = Named { reply: Some((7, world.now)), ..world.named() };
    world.check_named(named);
    assert!(broken(world).contains("was to be given up"));
}
