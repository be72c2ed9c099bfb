//! The rules of a turn once more: slow, obvious, and written without a look at the machine.
//!
//! [`Model`] is the page `docs/rules.md` as a program. Numbers in its comments are the page's rule
//! numbers. It keeps everything in plain lists, looks everything up anew, and predicts what
//! `dirigent_core::TurnMachine` answers and does; [`check`](crate::check) compares the two. Chance is
//! the one thing it does not predict: where the rules shuffle, it looks at the order the machine
//! arrived at, complains if the rules forbid it, and goes on with it.

mod answer;
mod away;
mod budget;
mod caps;
mod choice;
mod clock;
mod confirm;
mod cycle;
mod gate;
mod held;
mod members;
mod memory;
mod message;
mod operate;
mod outage;
mod overdue;
mod pending;
mod permit;
mod quiet;
mod reply;
mod rest;
mod resting;
mod rounds;
mod run;
mod state;
mod unknown;
mod waiting;
mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dirigent_core::view::{Budget, Pause};
use dirigent_core::{
    AgentKey, Answer, Cause, Config, Effect, Input, MessageId, Mode, Refusal, Timestamp,
};

pub use self::answer::{EndedTurn, ModelAnswer};
use self::memory::Memory;
use self::resting::Range;
use self::state::{
    Away, ChatAway, Closing, Cycle, Pending, Permit, Phase, Refresh, Slot, StaleTrigger,
};

/// Agents a channel holds at most, and muted ones beside them.
const AGENTS_MAX: usize = 64;

/// A channel, as the rules describe it.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_core::{AgentKey, Answer, Config, Input, Reason, Timestamp};
/// use dirigent_verify::model::Model;
///
/// let mut model = Model::new(Arc::new(Config::default()));
/// let gate = Input::Gate { agent: Some(AgentKey::new(1)), run: None, latest: None };
/// let step = model.step(Timestamp::from_millis(5), &gate, &[]);
/// let verdict = step.answer.ok().and_then(Answer::verdict);
/// assert_eq!(verdict.map(|verdict| verdict.reason()), Some(Reason::Unmanaged));
/// ```
#[expect(clippy::struct_excessive_bools, reason = "each says one thing that the rules name")]
#[derive(Clone, Debug)]
pub struct Model {
    /// The rules a host may choose.
    config: Arc<Config>,
    /// The time of the last input.
    now: Timestamp,
    /// What the channel is for.
    mode: Mode,
    /// Whether a mode was ever set (rule 5).
    mode_was_set: bool,
    /// Who opened the discussion.
    initiator: Option<AgentKey>,
    /// What archiving left behind.
    closing: Option<Closing>,
    /// Stopped or held.
    rest: Option<Pause>,
    /// Whether a qualifying message waits for the resume or the second agent (rules 25, 26).
    kept_in_mind: bool,
    /// Until when a wake waits for people to be quiet, and until when at the latest (rule 79).
    settling: Option<(Timestamp, Timestamp)>,
    /// The one message for which the channel wakes (rule 80).
    question: Option<MessageId>,
    /// Whether a human's word woke the channel, came between turns or was handed over, and no turn since has ended with a
    /// reply or a pass (rule 54).
    untaken: bool,
    /// The messages held (rule 54).
    held: Option<Range>,
    /// The agent that is to speak next (rule 61).
    choice: Option<AgentKey>,
    /// To whom the agent that has the floor hands over (rule 78).
    handed_to: Option<AgentKey>,
    /// The round that has not begun (rule 62).
    round_to_come: Option<Vec<AgentKey>>,
    /// The round that this cycle is (rule 62).
    round: Option<Vec<AgentKey>>,
    /// With whom the next cycle begins, where the last one was cut (rule 33).
    cut: Option<AgentKey>,
    /// Who spoke last, if nothing is new since (rule 76).
    last_word: Option<AgentKey>,
    /// Whether a person is awaited (rule 63).
    awaits_human: bool,
    /// Who is away (rule 56).
    away: BTreeMap<AgentKey, Away>,
    /// Whether the chat does not answer (rule 70).
    chat_away: Option<ChatAway>,
    /// What was spent (rule 65).
    budget: Budget,
    /// Where it is.
    phase: Phase,
    /// When the phase was entered (rule 41).
    phase_since: Timestamp,
    /// The speaking order.
    list: Vec<Slot>,
    /// When the list was read.
    list_read: Option<Timestamp>,
    /// The muted agents, listed or not.
    muted: BTreeSet<AgentKey>,
    /// Who may not write, listed or not, and until when where that is known (rule 81).
    may_not_write: BTreeMap<AgentKey, Option<Timestamp>>,
    /// What became of the cycle so far.
    cycle: Cycle,
    /// The outstanding refresh.
    refresh: Option<Refresh>,
    /// When the last refresh of any kind was asked.
    refresh_asked: Option<Timestamp>,
    /// Turns since a human spoke.
    turns: u32,
    /// Cycles since a human spoke.
    cycles: u32,
    /// Whether the ceiling's notice was posted since a human spoke.
    ceiling_announced: bool,
    /// Since when the discussion goes on without a human (rule 47).
    talk_since: Timestamp,
    /// Grants so far.
    turn: u64,
    /// The initiator's leave to run once.
    permit: Option<Permit>,
    /// When the last reminder was sent.
    reminded: Option<Timestamp>,
    /// When the reminder that was held back is due.
    reminder_due: Option<Timestamp>,
    /// Reminders sent since anything was said (rule 36).
    reminders: u32,
    /// Messages and runs.
    memory: Memory,
    /// The next ticket.
    ticket: u64,
    /// What is pending, oldest first.
    pending: Vec<Pending>,
    /// Trigger messages to be removed.
    stale_triggers: Vec<StaleTrigger>,
    /// What this step emitted so far.
    emitted: Vec<Effect>,
    /// The turns that ended in this step.
    ended: Vec<EndedTurn>,
    /// Why the channel went to sleep, was enabled or disabled in this step.
    causes: Vec<Cause>,
    /// What the machine did that the rules forbid, in this step.
    violations: Vec<String>,
    /// The machine's list after this step.
    order: Vec<AgentKey>,
    /// Whether this step's input may put agents first after a shuffle that it found due (rule 62).
    addresses: bool,
    /// Whom this step's input may send to the end of the list (rule 56).
    assigned: Option<AgentKey>,
}

impl Model {
    /// A channel that was never seen before.
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            config,
            now: Timestamp::default(),
            mode: Mode::None,
            mode_was_set: false,
            initiator: None,
            closing: None,
            rest: None,
            kept_in_mind: false,
            settling: None,
            question: None,
            untaken: false,
            held: None,
            choice: None,
            handed_to: None,
            round_to_come: None,
            round: None,
            cut: None,
            last_word: None,
            awaits_human: false,
            away: BTreeMap::new(),
            chat_away: None,
            budget: Budget::default(),
            phase: Phase::Disabled,
            phase_since: Timestamp::default(),
            list: Vec::new(),
            list_read: None,
            muted: BTreeSet::new(),
            may_not_write: BTreeMap::new(),
            cycle: Cycle::default(),
            refresh: None,
            refresh_asked: None,
            turns: 0,
            cycles: 0,
            ceiling_announced: false,
            talk_since: Timestamp::default(),
            turn: 0,
            permit: None,
            reminded: None,
            reminder_due: None,
            reminders: 0,
            memory: Memory::default(),
            ticket: 0,
            pending: Vec::new(),
            stale_triggers: Vec::new(),
            emitted: Vec::new(),
            ended: Vec::new(),
            causes: Vec::new(),
            violations: Vec::new(),
            order: Vec::new(),
            addresses: false,
            assigned: None,
        }
    }

    /// Predicts what the machine does with an input. `order` is the machine's list after the
    /// input: where the rules shuffle, it is checked and adopted.
    pub fn step(&mut self, now: Timestamp, input: &Input, order: &[AgentKey]) -> ModelAnswer {
        self.order = order.to_vec();
        self.assigned = None;
        self.addresses = matches!(input, Input::Addressed { .. });
        if let Input::Online(agent) | Input::Assign(agent) = input {
            self.assigned = Some(*agent);
        }
        self.turn_back_to(now); // rule 2
        self.stand_still(now.since(self.now)); // rule 70
        self.now = now;
        self.expire(); // rule 1
        let answer = self.consider(input);
        self.expire(); // rule 1
        ModelAnswer {
            answer,
            effects: std::mem::take(&mut self.emitted),
            ended: std::mem::take(&mut self.ended),
            causes: std::mem::take(&mut self.causes),
            violations: std::mem::take(&mut self.violations),
        }
    }

    /// What the rules say about this input.
    #[expect(clippy::too_many_lines, reason = "an arm for each input")]
    fn consider(&mut self, input: &Input) -> Result<Answer, Refusal> {
        match input {
            Input::Gate { agent, run, latest } => {
                return Ok(Answer::Verdict(self.on_gate(*agent, *run, *latest)));
            }
            Input::Create(creation) => self.on_create(creation),
            Input::SetMode(mode) => self.on_set_mode(*mode),
            Input::RunEnded { agent, run, outcome } => self.on_run_ended(*agent, *run, outcome),
            Input::Replied { agent, run, next } => self.on_replied(*agent, *run, *next),
            Input::Undelivered { agent, run, posted } => self.on_undelivered(*agent, *run, *posted),
            Input::Chat { away } => {
                self.on_chat(*away);
                Ok(())
            }
            Input::TriggerAgain => {
                self.on_trigger_again();
                Ok(())
            }
            Input::Receipt { agent, run, messages } => self.on_receipt(*agent, *run, messages),
            Input::Message(message) => self.on_message(message, None),
            Input::Addressed { message, agents } => self.on_message(message, Some(agents)),
            Input::MessageEdited { id, author, tail } => {
                self.on_edit(*id, *author, tail);
                Ok(())
            }
            Input::Members { ticket, agents } => self.on_members(*ticket, agents),
            Input::MemberJoined(agent) => {
                self.on_joined(*agent);
                Ok(())
            }
            Input::MemberLeft(agent) => {
                self.on_left(*agent);
                Ok(())
            }
            Input::Settled { ticket, settlement } => self.on_settled(*ticket, *settlement),
            Input::Wake { first, cause } => self.on_wake(*first, *cause),
            Input::Conclude { by } => self.on_conclude(*by),
            Input::Archive => self.on_archive(),
            Input::Stop => self.on_stop(),
            Input::EditedToStop(message) => self.on_stop_word(*message),
            Input::Deleted(message) => {
                self.on_deleted(*message);
                Ok(())
            }
            Input::Removed(_) => self.on_removed(),
            Input::Hold => self.on_hold(),
            Input::Resume => self.on_resume(None),
            Input::Mute(agent) => self.on_mute(*agent),
            Input::Unmute(agent) => {
                self.on_unmute(*agent);
                Ok(())
            }
            Input::MayNotWrite { agent, until } => self.on_may_not_write(*agent, *until),
            // As an end that is now (rule 81).
            Input::MayWrite(agent) => self.on_may_not_write(*agent, Some(self.now)),
            Input::SpeakNext(agent) => self.on_speak_next(*agent),
            Input::Finish => self.on_finish(),
            Input::Offline(agent) => self.on_offline(*agent),
            Input::Online(agent) => {
                self.on_online(*agent);
                Ok(())
            }
            Input::Assign(agent) => self.on_assign(*agent),
            Input::Spent { cost } => self.on_spent(*cost),
            Input::ResetBudget => self.on_reset_budget(),
            Input::Reconfigure(config) => self.on_reconfigure(config),
            Input::RunsLost { rerun } => {
                self.on_runs_lost(*rerun);
                Ok(())
            }
            Input::Tick | _ => Ok(()),
        }?;
        Ok(Answer::Accepted)
    }

    /// Rule 44: other rules; what they say about past moments holds at once.
    fn on_reconfigure(&mut self, config: &Arc<Config>) -> Result<(), Refusal> {
        if config.validate().is_err() {
            return Err(Refusal::BadConfig);
        }
        self.config = Arc::clone(config);
        self.trim_spoken_turns(); // rule 64
        Ok(())
    }

    /// Goes to a phase, remembering since when.
    fn enter(&mut self, phase: Phase) {
        self.phase_since = self.now;
        self.phase = phase;
        let rests = matches!(self.phase, Phase::Dormant | Phase::Disabled | Phase::Unknown { .. });
        if rests && !self.kept_in_mind {
            self.question = None; // rule 80
        }
    }
}
