//! H1: no word of a person is lost.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use dirigent_core::{
    Cause, Config, Effect, Input, MessageId, MessageKind, PhaseKind, Settlement, Ticket,
    Transition, TurnId,
};

use super::observation::is_reply;
use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "H1",
    promise: 4,
    requirements: "R020, R264, R265, D62, D66, M11, rules 22-27, 53-55",
    sentence: "a person's word is handed over, answered or followed by a turn within bounded time, or kept in mind until it is, and no channel rests over a word that no turn took well",
    observer: || Box::new(HumansAreHeard::default()),
};

/// Words followed at a time; more are few enough to do without.
const FOLLOWED: usize = 16;

#[derive(Debug, Default)]
struct HumansAreHeard {
    /// The words that no agent has heard yet, and how long each has been waiting while an agent
    /// could have heard it.
    waiting: BTreeMap<MessageId, Duration>,
    /// The most agents that the list ever had.
    most: Option<usize>,
    /// How long a word may wait at most, by the most patient rules that the channel ever
    /// had: what is under way may have begun under any of them.
    patience: Duration,
    /// The rules once set no limit.
    unlimited: bool,
    /// A person's word came or was handed over, and no turn since has ended with a reply or a pass.
    untaken: bool,
    /// When that changed of late, by the channel's revisions: a channel may be brought back as it was before.
    changes: VecDeque<(u64, bool)>,
    /// The triggers of the newest turn that one was asked for.
    triggers: (TurnId, Vec<Ticket>),
}

impl Observer for HumansAreHeard {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let after = seen.after;
        if seen.rules_changed() || self.most.is_none_or(|most| most < after.seats.len()) {
            self.become_patient(seen);
        }
        let forgotten = seen.before.mode != after.mode || !after.mode.keeps_turns();
        if forgotten || after.phase == PhaseKind::Archived {
            self.waiting.clear(); // rules 4 and 38
            self.untaken = false;
            self.note_change(after.revision);
            return Ok(());
        }
        let new = word(seen);
        self.follow_untaken(seen, new);
        self.note_change(after.revision);
        self.waiting.extend(new.map(|id| (id, Duration::ZERO)));
        while self.waiting.len() > FOLLOWED {
            self.waiting.pop_first();
        }
        let reached = self.reaches_an_agent(seen);
        if let Input::Deleted(id) = seen.input {
            if seen.transitions().any(|told| told.cause == Cause::Withdrawn) {
                self.waiting.remove(id); // rule 80
            }
        }
        self.waiting.retain(|id, _| !is_heard(seen, *id, reached));
        if !self.waiting.is_empty() {
            self.wait_on(seen, new)?;
        }
        if self.untaken && !after.is_active() && !after.kept_in_mind {
            return Err(format!("{:?}, and no turn took what was said", after.phase));
        }
        Ok(())
    }

    fn restarted(&mut self, now: &Glance) {
        // A crash may have come before the word was stored; then it was not taken in at all.
        self.waiting.clear();
        self.changes.retain(|(revision, _)| *revision <= now.revision);
        self.untaken = self.changes.back().is_some_and(|(_, untaken)| *untaken);
    }
}

impl HumansAreHeard {
    fn note_change(&mut self, revision: u64) {
        if self.changes.back().is_none_or(|(_, untaken)| *untaken != self.untaken) {
            self.changes.push_back((revision, self.untaken));
            if self.changes.len() > FOLLOWED {
                self.changes.pop_front();
            }
        }
    }

    /// Takes in how long a cycle may last by the rules of now, and by those of before.
    fn become_patient(&mut self, seen: &Observation<'_>) {
        self.most = self.most.max(Some(seen.after.seats.len()));
        for rules in [seen.rules_before, seen.rules] {
            self.patience = self.patience.max(longest_cycle(rules, seen.after));
            self.unlimited |= rules.deadlines.start.is_none() || rules.deadlines.run.is_none();
        }
    }

    /// What was said is taken by a turn that ends with a reply or a pass, by a part of a reply, and by a receipt; not by one that
    /// fails, is skipped or is taken away. What the orchestrator is asked about, or what is queued, is handed over later.
    fn follow_untaken(&mut self, seen: &Observation<'_>, new: Option<MessageId>) {
        let is_speakers = |told: &Transition| told.agent == seen.before.speaker;
        // A part of its reply went out, and it cannot go on (rule 67).
        let is_cut = !matches!(seen.input, Input::Offline(_));
        let is_posted = matches!(seen.input, Input::Undelivered { posted: true, .. });
        let takes = |told: &Transition| {
            let settles = matches!(told.cause, Cause::Passed | Cause::Repeated | Cause::Withdrawn);
            // One that went silent after a part of its reply took nothing since.
            settles
                || is_reply(told.cause) && told.cause != Cause::SignalMissing
                || told.cause == Cause::Undelivered && is_posted
                || told.cause == Cause::AgentOffline && is_cut && is_speakers(told)
        };
        // In order: what is due comes before the input, and a turn may be handed something and end in one step.
        for effect in seen.effects {
            if matches!(effect, Effect::Transition(told) if takes(told)) {
                self.untaken = false;
            }
            self.untaken |= matches!(effect, Effect::Deliver { .. });
        }
        let is_kept = seen.transitions().all(|told| told.cause != Cause::ReceiptGiven);
        let is_receipt = matches!(seen.input, Input::Receipt { .. }) && seen.answer.is_ok();
        self.untaken &= !(is_receipt && is_kept && seen.after.speaker.is_some());
        let asks = seen.after.phase == PhaseKind::Waiting;
        self.untaken |= new.is_some_and(|id| !asks && !within(seen.after.held, id));
    }

    /// Whether the speaker was told of its turn in this step, or started.
    fn reaches_an_agent(&mut self, seen: &Observation<'_>) -> bool {
        let (turn, known) = &mut self.triggers;
        let is_known = |ticket| known.contains(ticket) && seen.before.turn == *turn;
        let told = matches!(
            seen.input,
            Input::Settled { ticket, settlement: Settlement::Done { .. } }
                if is_known(ticket) && seen.before.speaker.is_some()
        );
        for effect in seen.effects {
            if let Effect::Trigger { ticket, turn: asked, .. } = effect {
                if asked != turn {
                    (*turn, *known) = (*asked, Vec::new());
                }
                known.push(*ticket);
            }
        }
        let has_floor = |from| matches!(from, PhaseKind::Granted | PhaseKind::Continuing);
        let mut starts = seen.transitions();
        told || starts.any(|told| told.cause == Cause::RunStarted && has_floor(told.from))
    }

    /// Whether those who wait are kept in mind, or will be heard before long.
    fn wait_on(&mut self, seen: &Observation<'_>, new: Option<MessageId>) -> Result<(), String> {
        let after = seen.after;
        if let Some(id) = self.waiting.keys().next().filter(|_| !after.is_active()) {
            if after.kept_in_mind {
                return Ok(());
            }
            return Err(format!("{:?}, and {id} was not heard", after.phase));
        }
        let has_no_listener = !could_hear(seen.before) || !could_hear(after);
        // A timer that comes late delays one thing at a time; only the wait for it counts.
        let begun = seen.now.saturating_sub(seen.elapsed);
        let due = seen.before.deadline.map(|deadline| deadline.since(begun));
        let elapsed = due.map_or(seen.elapsed, |due| due.min(seen.elapsed));
        let goes_on = seen.transitions().any(|told| told.cause == Cause::Unfinished);
        // What waits for the chat or for the rest of a reply only pauses the wait, or a word that is
        // passed over with every reply would never have waited for long.
        let stands_still =
            seen.before.chat_away.is_some() || seen.before.phase == PhaseKind::Delivering;
        let rests = seen.before.rest.is_some() || after.rest.is_some();
        for (id, waited) in &mut self.waiting {
            if goes_on || has_no_listener || rests {
                *waited = Duration::ZERO;
            } else if !stands_still && Some(*id) != new && seen.before.is_active() {
                *waited += elapsed;
            }
            if !self.unlimited && *waited > self.patience {
                return Err(format!("{id} has waited {waited:?}"));
            }
        }
        Ok(())
    }
}

/// Whether any agent could be granted at all.
fn could_hear(glance: &Glance) -> bool {
    let mut seats = glance.seats.iter();
    seats.any(|seat| seat.is_available() && !glance.capped.contains(&seat.agent))
}

/// A person's word that was taken in now and that an agent should hear.
fn word(seen: &Observation<'_>) -> Option<MessageId> {
    let message = seen.message().filter(|_| seen.human_spoke())?;
    let orders = match message.kind {
        MessageKind::StopWord => true,
        MessageKind::ResumeWord => seen.before.rest.is_some(),
        MessageKind::Conversation | MessageKind::System | _ => false,
    };
    (!orders).then_some(message.id)
}

/// Whether this step handed the word over, had it answered, or reached an agent after it.
fn is_heard(seen: &Observation<'_>, id: MessageId, reached: bool) -> bool {
    let handed = seen.effects.iter().any(|effect| {
        let range = match effect {
            Effect::Inject { message, .. } => Some((*message, *message)),
            Effect::Deliver { first, last, .. } => Some((*first, *last)),
            Effect::FetchMembers { .. }
            | Effect::Trigger { .. }
            | Effect::Delete { .. }
            | Effect::Poll { .. }
            | Effect::Notice { .. }
            | Effect::Reminder { .. }
            | Effect::Consult { .. }
            | Effect::CancelRun { .. }
            | Effect::Transition(_) => None,
        };
        within(range, id)
    });
    let answered = seen.transitions().any(|told| told.cause == Cause::OrchestratorAnswered);
    let is_kept = within(seen.after.held, id) || within(seen.after.asked, id);
    handed || (answered && within(seen.before.asked, id)) || (reached && !is_kept)
}

/// Whether the message is one of this range.
fn within(range: Option<(MessageId, MessageId)>, id: MessageId) -> bool {
    range.is_some_and(|(first, last)| first <= id && id <= last)
}

/// How long a whole cycle may take, with the reading of the list at both ends.
fn longest_cycle(rules: &Config, glance: &Glance) -> Duration {
    let start = rules.deadlines.start.unwrap_or_default();
    let run = rules.deadlines.run.unwrap_or_default();
    let parts = start * (u32::from(rules.deadlines.retriggers) + 1) + run;
    let continued = (start + run) * u32::from(rules.order.continuations);
    let turn =
        parts + continued + rules.confirmation.delivery_timeout + rules.people.consult_deadline * 8;
    let agents = u32::try_from(glance.seats.len()).unwrap_or(u32::MAX);
    turn * agents.max(1) + rules.members.refresh_deadline * 2
}

#[cfg(test)]
mod tests {
    use dirigent_core::{AgentKey, Author, Input, Message, Tail, TurnId};

    use super::super::forged::{A, B, Forged, fresh};
    use super::*;

    fn word_in(phase: PhaseKind) -> Forged {
        let mut step = Forged {
            input: Input::Message(Message {
                id: MessageId::new(3),
                author: Author::Human,
                kind: MessageKind::Conversation,
                tail: Tail::EMPTY,
                backfilled: false,
            }),
            ..Forged::default()
        };
        step.before.phase = phase;
        step.after.phase = phase;
        step
    }

    fn told(mut step: Forged, agent: AgentKey, last: u64) -> Forged {
        let (first, last) = (MessageId::new(3), MessageId::new(last));
        step.effects.push(Effect::Deliver { agent, turn: TurnId::new(1), first, last });
        step
    }

    fn passes() -> Forged {
        Forged::default().telling(&[(PhaseKind::Running, PhaseKind::Dormant, A, Cause::Passed)])
    }

    #[test]
    fn a_word_that_wakes_nobody_is_caught() {
        word_in(PhaseKind::Dormant).rejected(fresh(&INVARIANT).as_mut(), "was not heard");
        let mut kept = word_in(PhaseKind::Dormant);
        kept.after.kept_in_mind = true;
        kept.accepted(fresh(&INVARIANT).as_mut());
    }

    #[test]
    fn a_word_that_is_forgotten_is_caught() {
        let mut observer = fresh(&INVARIANT);
        word_in(PhaseKind::Refreshing).accepted(observer.as_mut());
        Forged::default().rejected(observer.as_mut(), "was not heard");
    }

    #[test]
    fn a_word_with_which_an_agent_failed_is_not_forgotten() {
        for (cause, is_taken) in
            [(Cause::RunFailed, false), (Cause::RunTimedOut, false), (Cause::Passed, true)]
        {
            let mut observer = fresh(&INVARIANT);
            let grant = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::HumanMessage)];
            word_in(PhaseKind::Granted).telling(&grant).accepted(observer.as_mut());
            let start = [(PhaseKind::Granted, PhaseKind::Running, A, Cause::RunStarted)];
            Forged::default().telling(&start).accepted(observer.as_mut());
            let end = [(PhaseKind::Running, PhaseKind::Dormant, A, cause)];
            let mut rests = Forged::default().telling(&end);
            rests.after.phase = PhaseKind::Dormant;
            if is_taken {
                rests.accepted(observer.as_mut());
            } else {
                rests.rejected(observer.as_mut(), "no turn took what was said");
            }
        }
    }

    /// An input, and what it made of the turn.
    type Told = (Input, &'static [Cause]);

    /// A granted agent started with the word; then this ends its turn, and the channel rests.
    fn rests_after(steps: &[Told]) -> (Box<dyn Observer>, Forged) {
        let mut observer = fresh(&INVARIANT);
        let grant = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::HumanMessage)];
        word_in(PhaseKind::Granted).telling(&grant).accepted(observer.as_mut());
        let start = [(PhaseKind::Granted, PhaseKind::Running, A, Cause::RunStarted)];
        Forged::default().telling(&start).accepted(observer.as_mut());
        let mut last = Forged::default();
        for (at, (input, causes)) in steps.iter().enumerate() {
            let told: Vec<_> = causes
                .iter()
                .map(|cause| (PhaseKind::Running, PhaseKind::Running, A, *cause))
                .collect();
            last = Forged { input: input.clone(), ..Forged::default() }.telling(&told);
            (last.before.speaker, last.after.phase) = (Some(A), PhaseKind::Running);
            if at + 1 == steps.len() {
                last.after.phase = PhaseKind::Dormant;
            } else {
                last.after.speaker = Some(A);
                last.accepted(observer.as_mut());
            }
        }
        (observer, last)
    }

    #[test]
    fn what_takes_a_word_and_what_does_not() {
        let undelivered = |posted| Input::Undelivered { agent: A, run: None, posted };
        let messages = vec![MessageId::new(7)];
        let receipt = Input::Receipt { agent: A, run: None, messages };
        let part: Told = (Input::Tick, &[Cause::Unfinished]);
        let cut: Told = (Input::Offline(A), &[Cause::AgentOffline]);
        let late: Told = (Input::Tick, &[Cause::SignalMissing]);
        let word: Told = (word_in(PhaseKind::Running).input, &[]);
        let stories: [(&str, &[Told], bool); 9] = [
            ("posted in part", &[(undelivered(true), &[Cause::Undelivered])], true),
            ("not posted", &[(undelivered(false), &[Cause::Undelivered])], false),
            (
                "another word was answered",
                &[(Input::Tick, &[Cause::OrchestratorAnswered]), cut.clone()],
                false,
            ),
            ("cut off", std::slice::from_ref(&cut), false),
            ("a receipt", &[(receipt.clone(), &[]), cut.clone()], true),
            ("a word after it", &[(receipt, &[]), word.clone(), cut.clone()], false),
            ("a part", &[part.clone(), late.clone()], true),
            ("a word after it", &[part, word, late], false),
            ("gone while its part went out", &[(Input::Tick, &[Cause::AgentOffline])], true),
        ];
        for (name, steps, is_taken) in stories {
            let (mut observer, rests) = rests_after(steps);
            assert_eq!(rests.show(observer.as_mut()).is_ok(), is_taken, "{name}");
        }
    }

    #[test]
    fn a_word_that_was_stored_outlasts_a_restart() {
        for (stored, is_lost) in [(4, false), (5, true)] {
            let mut observer = fresh(&INVARIANT);
            let mut word = word_in(PhaseKind::Granted);
            word.after.revision = 5;
            word.accepted(observer.as_mut());
            observer.restarted(&Glance { revision: stored, ..Glance::default() });
            if is_lost {
                Forged::default().rejected(observer.as_mut(), "no turn took what was said");
            } else {
                Forged::default().accepted(observer.as_mut());
            }
        }
    }

    #[test]
    fn a_word_that_is_held_and_not_handed_over_is_caught() {
        let mut observer = fresh(&INVARIANT);
        word_in(PhaseKind::Running).accepted(observer.as_mut());
        let mut other = told(Forged::default(), B, 3);
        other.after.phase = PhaseKind::Granted;
        other.accepted(observer.as_mut());
        passes().accepted(observer.as_mut());

        let mut observer = fresh(&INVARIANT);
        word_in(PhaseKind::Running).accepted(observer.as_mut());
        let start = [(PhaseKind::Granted, PhaseKind::Running, A, Cause::RunStarted)];
        let mut holds = Forged::default().telling(&start);
        holds.after.held = Some((MessageId::new(3), MessageId::new(3)));
        holds.accepted(observer.as_mut());
        Forged::default().rejected(observer.as_mut(), "was not heard");
    }

    #[test]
    fn a_word_for_which_an_agent_was_granted_and_not_reached_is_caught() {
        let mut observer = fresh(&INVARIANT);
        let grant = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::HumanMessage)];
        word_in(PhaseKind::Granted).telling(&grant).accepted(observer.as_mut());
        Forged::default().rejected(observer.as_mut(), "was not heard");

        let mut observer = fresh(&INVARIANT);
        word_in(PhaseKind::Granted).telling(&grant).accepted(observer.as_mut());
        let start = [(PhaseKind::Granted, PhaseKind::Running, A, Cause::RunStarted)];
        Forged::default().telling(&start).accepted(observer.as_mut());
        passes().accepted(observer.as_mut());
    }

    #[test]
    fn a_word_that_waits_for_ever_is_caught() {
        let mut observer = fresh(&INVARIANT);
        word_in(PhaseKind::Refreshing).accepted(observer.as_mut());
        let mut later = Forged { elapsed: Duration::from_secs(72_000), ..Forged::default() };
        later.before.phase = PhaseKind::Refreshing;
        later.after.phase = PhaseKind::Refreshing;
        later.rejected(observer.as_mut(), "has waited");
    }

    /// A step of that long in one phase, and then into another one.
    fn lasting(seconds: u64, from: PhaseKind, to: PhaseKind) -> Forged {
        let mut step = Forged { elapsed: Duration::from_secs(seconds), ..Forged::default() };
        (step.before.phase, step.after.phase) = (from, to);
        step
    }

    #[test]
    fn a_word_that_every_reply_passes_over_is_caught() {
        let mut observer = fresh(&INVARIANT);
        word_in(PhaseKind::Running).accepted(observer.as_mut());
        // The chat's part of the wait is no wait of its own.
        lasting(72_000, PhaseKind::Delivering, PhaseKind::Delivering).accepted(observer.as_mut());
        let mut away = lasting(72_000, PhaseKind::Granted, PhaseKind::Granted);
        let since = Some(dirigent_core::Timestamp::default());
        (away.before.chat_away, away.after.chat_away) = (since, since);
        away.accepted(observer.as_mut());
        for _ in 0..2 {
            lasting(2_500, PhaseKind::Running, PhaseKind::Delivering).accepted(observer.as_mut());
            lasting(9, PhaseKind::Delivering, PhaseKind::Granted).accepted(observer.as_mut());
        }
        let last = lasting(2_500, PhaseKind::Running, PhaseKind::Delivering);
        last.rejected(observer.as_mut(), "has waited");
    }
}
