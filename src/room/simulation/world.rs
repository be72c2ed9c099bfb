//! A room with all that is around it, driven by one number.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::config::{HumanInterrupt, TriggerCleanup};
use dirigent_core::{AgentKey, Config, Input, MessageId, Mode, RunId, Timestamp, Transition};

use super::super::Room;
use super::super::action::Signal;
use super::super::commit::Stamp;
use super::super::commit::buffers::BufferPool;
use super::super::commit::news::Announcement;
use super::super::connection::Gateway;
use super::super::context::Context;
use super::super::directory::Directory;
use super::super::doorway::Doorway;
use super::super::record::Origin;
use super::books::Books;
use super::chat::{Answers, CALLBACK, Chat, Facts, MODERATOR, ROOM, user_of};
use super::dice::Dice;
use super::flight::{Flight, What};
use super::ledger::Ledger;
use super::neighbours::OtherProcesses;
use super::store::Store;
use crate::admission::{Admission, Limits, Next};
use crate::record::discussion::Discussion;
use crate::settings::{ObservedBot, Pacing};
use crate::values::message::Began;
use crate::values::stage::DriverStage;
use crate::{AgentId, Settings};

/// What does not change while the world goes on.
#[derive(Debug)]
pub(super) struct Fixed {
    pub(super) settings: Settings,
    pub(super) config: Arc<Config>,
    pub(super) directory: Directory,
    pub(super) facts: Facts,
    pub(super) has_waker: bool,
    pub(super) has_orchestrator: bool,
    pub(super) agents: u32,
    pub(super) is_discussion: bool,
    /// When the process began.
    pub(super) up_since: Began,
}

impl Fixed {
    pub(super) fn context(&self) -> Context<'_> {
        Context {
            settings: &self.settings,
            directory: &self.directory,
            chat: &self.facts,
            record: None,
            history_max: 8,
            up_since: &self.up_since,
            stage: DriverStage::Running,
            has_waker: self.has_waker,
            has_orchestrator: self.has_orchestrator,
        }
    }
}

/// Something that an agent of the host's does later.
#[derive(Clone, Debug)]
pub(super) enum Plan {
    Ask(AgentKey),
    Say {
        agent: AgentKey,
        text: String,
    },
    /// An observed agent begins to type.
    Type(AgentKey),
    /// An observed agent edits its newest message into this.
    Edit {
        agent: AgentKey,
        text: String,
    },
    /// An observed agent deletes its newest message.
    Unsay(AgentKey),
    End {
        agent: AgentKey,
        run: RunId,
        outcome: dirigent_core::Outcome,
    },
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct World {
    pub(super) dice: Dice,
    pub(super) now: Timestamp,
    pub(super) fixed: Fixed,
    pub(super) room: Room,
    pub(super) admission: Admission,
    pub(super) buffers: BufferPool,
    pub(super) chat: Chat,
    pub(super) store: Store,
    pub(super) flights: Vec<Flight>,
    /// What other rooms ask of the same admission.
    pub(super) neighbours: OtherProcesses,
    pub(super) plans: Vec<(Timestamp, Plan)>,
    /// A gate call that was allowed and waits for the commit.
    pub(super) asking: Option<(Stamp, AgentKey, RunId)>,
    pub(super) books: Books,
    pub(super) ledger: Ledger,
    /// The deadline that the timers know.
    pub(super) due: Option<Timestamp>,
    /// Whether the driver is called.
    pub(super) ready: bool,
    /// Faults are over and everybody is quiet.
    pub(super) calm: bool,
    /// Nothing is left to chance: see `exhaustive`.
    pub(super) is_exact: bool,
    pub(super) next_round: Timestamp,
    pub(super) process: u64,
    pub(super) next_run: u64,
    pub(super) number: u64,
    /// Who does not see the channel now.
    pub(super) absent: Vec<AgentKey>,
    pub(super) ticks_at: (Timestamp, u32),
    /// Up to where the room, when it left memory, had left of a backlog what waits for a person's next word. A record does not
    /// tell that from words that are in no turn.
    pub(super) rest_up_to: Option<MessageId>,
    /// Whether people send what cannot be seen, and some speak from behind a bridge. By the world's number and not drawn, so
    /// that the worlds that once failed stay what they were.
    pub(super) sends_forms: bool,
    /// Whether hosted agents say who speaks next.
    pub(super) hands_over: bool,
    pub(super) log: Option<Vec<String>>,
}

/// Writes a line where the run is being told.
macro_rules! note {
    ($world:expr, $($arg:tt)*) => {
        if $world.log.is_some() {
            let line = format!("{:>9} {}", $world.now.as_millis().saturating_sub(super::world::START), format_args!($($arg)*));
            if let Some(log) = &mut $world.log {
                log.push(line);
            }
        }
    };
}
pub(super) use note;

/// When every world begins, in milliseconds.
pub(super) const START: u64 = 1_000_000_000;

impl World {
    pub(super) fn new(seed: u64, log: bool) -> Self {
        let mut dice = Dice::new(seed);
        let mut fixed = draw_fixed(&mut dice);
        // No number is drawn: other worlds go as they went.
        if matches!(seed % 10, 4 | 8) {
            fixed.settings.limits.agent_calls_max = Some(1);
        }
        if matches!(seed % 10, 6 | 8) {
            let mut config = Config::clone(&fixed.config);
            config.people.settle =
                Duration::from_millis([300, 2_000, 60_000][seed as usize / 10 % 3]);
            fixed.config = Arc::new(config);
        }
        if seed % 10 == 3 {
            observe(&mut fixed);
        }
        let nonce_kept = Duration::from_secs(150 + dice.below(450));
        Self::with(fixed, dice, seed, nonce_kept, log)
    }

    /// A world whose settings are given.
    pub(super) fn with(
        fixed: Fixed,
        dice: Dice,
        seed: u64,
        nonce_kept: Duration,
        log: bool,
    ) -> Self {
        let now = Timestamp::from_millis(START);
        let room = Room::new(ROOM, Arc::clone(&fixed.config), seed, 1, now);
        let admission = new_admission(&fixed);
        let mut world = Self {
            dice,
            now,
            fixed,
            room,
            admission,
            buffers: BufferPool::default(),
            chat: Chat::new(nonce_kept),
            store: Store::default(),
            flights: Vec::new(),
            neighbours: OtherProcesses::default(),
            plans: Vec::new(),
            asking: None,
            books: Books::default(),
            ledger: Ledger::default(),
            due: None,
            ready: false,
            calm: false,
            is_exact: false,
            next_round: now + Duration::from_secs(300),
            process: 1,
            next_run: 1,
            number: 0,
            absent: Vec::new(),
            ticks_at: (now, 0),
            rest_up_to: None,
            sends_forms: matches!(seed % 10, 2 | 7),
            hands_over: matches!(seed % 10, 6 | 9),
            log: log.then(Vec::new),
        };
        world.open();
        world
    }

    /// The channel gets its mode.
    fn open(&mut self) {
        if self.fixed.is_discussion {
            let members = (0..self.fixed.agents).map(AgentKey::new).collect();
            let initiator = Some(AgentKey::new(0));
            let creation = dirigent_core::Creation { mode: Mode::Discussion, members, initiator };
            let guide = "guide".to_owned();
            let terms = Discussion { callback: CALLBACK, callback_guild: None, guide };
            let input = Input::Create(creation);
            let created = self.room.create(&self.fixed.context(), self.now, &input, Some(terms));
            note!(self, "create {created:?}");
            self.after();
        } else {
            self.input(&Input::SetMode(Mode::Chat), true);
        }
    }

    /// An input from outside.
    pub(super) fn input(&mut self, input: &Input, for_good: bool) -> Option<dirigent_core::Answer> {
        note!(self, "input {input:?}");
        let (answer, _) = self.room.input(&self.fixed.context(), self.now, input, for_good);
        note!(self, "  {answer:?}");
        self.after();
        answer.ok()
    }

    /// After each event: the signals are performed, the deadline is moved, the driver is called.
    pub(super) fn after(&mut self) {
        self.signals();
        self.reschedule();
        self.ready |= self.room.look().may_act();
        if !self.keeps() {
            self.ledger.forget();
        }
        self.watch();
    }

    pub(super) fn reschedule(&mut self) {
        self.due =
            self.room.look().next_deadline().filter(|_| !self.room.look().commit().is_taken_over());
        if let Some((stamp, agent, run)) = self.asking {
            if self.room.look().commit().is_committed(stamp) {
                self.asking = None;
                self.run_begins(agent, run);
            }
        }
    }

    fn signals(&mut self) -> bool {
        let mut any = false;
        loop {
            while let Some(news) = self.room.next_news() {
                any = true;
                if let Announcement::Transition(transition) = news {
                    self.hear(transition);
                }
            }
            let Some(signal) = self.room.next_signal() else {
                return any;
            };
            any = true;
            note!(self, "signal {signal:?}");
            self.perform(signal);
        }
    }

    fn hear(&mut self, transition: Transition) {
        note!(self, "-> {:?} {:?} ({:?})", transition.to, transition.agent, transition.cause);
        // It finds in the channel what people said, whether or not it comes.
        let granted = transition.to == dirigent_core::PhaseKind::Granted;
        if granted && transition.agent.is_some_and(|agent| !self.is_hosted(agent)) {
            self.books.all_seen();
        }
    }

    fn perform(&mut self, signal: Signal) {
        let now = self.now;
        match signal {
            Signal::Cancel(id) | Signal::Leave { id, .. } => {
                self.call_cancelled(id);
                if let Some(flight) = self.flights.iter_mut().find(|flight| flight.id == id) {
                    flight.cancelled.get_or_insert(now);
                    // Some agents listen.
                    if !self.is_exact && self.dice.chance(400) {
                        flight.ready_at =
                            Some(now + Duration::from_millis(self.dice.below(12_000)));
                    }
                }
            }
            Signal::Drop(id) | Signal::DropConsult(id) => {
                if let Some(flight) = self.flights.iter_mut().find(|flight| flight.id == id) {
                    flight.ready_at = Some(now);
                    flight.fate =
                        super::flight::Fate::Refused(crate::values::error::ErrorKind::NoAnswer);
                    self.books.dropped(id);
                }
            }
            Signal::Pause { .. }
            | Signal::Slow(_)
            | Signal::ReplyLost(_)
            | Signal::Overrun { .. } => {}
            Signal::Inject { id, agent, messages } => {
                let call = self.flights.iter_mut().find(|flight| flight.id == id);
                let taken = call.is_some() && (self.is_exact || self.dice.chance(700));
                let ids: Vec<_> = messages.iter().map(|message| message.id).collect();
                if taken {
                    self.books.handed(ids.iter().copied());
                } else if let Some(call) = call {
                    call.took_all = false;
                }
                let handed = if taken { ids.as_slice() } else { &[] };
                if let Some(call) = self.flights.iter_mut().find(|flight| flight.id == id) {
                    call.taken.extend(handed);
                }
                if let Some(inbox) = self.room.inbox() {
                    inbox.injected(agent, handed);
                }
            }
            Signal::TellDeferred { .. } => {
                let told = self.dice.chance(500);
                self.room.deferral_told(&self.fixed.context(), now, told);
            }
            Signal::DropDeferrals(_) => {}
        }
    }

    /// The driver starts what the room offers.
    pub(super) fn serve(&mut self) {
        self.ready = false;
        loop {
            loop {
                let (admission, buffers) = (&mut self.admission, &mut self.buffers);
                let mut started = Vec::new();
                let mut door = Doorway { admission, buffers, started: &mut started };
                let starts = self.room.next_action(&self.fixed.context(), self.now, &mut door);
                assert_eq!(usize::from(starts), started.len(), "one action at a time");
                let Some(started) = started.pop() else {
                    break;
                };
                self.begin(started);
                if self.books.broken.is_some() {
                    return;
                }
            }
            if !self.signals() {
                break;
            }
        }
        self.reschedule();
        self.watch();
    }

    /// The driver polls the rooms whose turn has come in a line.
    pub(super) fn move_lines(&mut self) {
        while let Some(Next { room, is_for_chat }) = self.admission.next(self.now) {
            if room != ROOM {
                self.poll_neighbour(room);
                continue;
            }
            note!(self, "its turn");
            if is_for_chat {
                self.room.retry_now();
            }
            self.serve();
        }
    }

    /// The timers tell the room that its time has come, and the admission those that wait.
    pub(super) fn keep_time(&mut self) {
        if self.due.is_some_and(|due| due <= self.now) {
            self.ticks_at = if self.ticks_at.0 == self.now {
                (self.now, self.ticks_at.1 + 1)
            } else {
                (self.now, 1)
            };
            if self.ticks_at.1 > 20 {
                self.books.fail(format!("the timers spin: due {:?} at {:?}", self.due, self.now));
            }
            self.due = None;
            note!(self, "tick");
            let named = self.named();
            self.room.tick(&self.fixed.context(), self.now);
            self.after();
            self.check_named(named);
        }
        self.move_lines();
        self.check_is_ahead();
    }

    /// Agents that the room has not met need not be handed what was said so far.
    pub(super) fn excuse_strangers(&mut self) {
        for agent in (0..self.fixed.agents).map(AgentKey::new) {
            let inbox = self.room.active.as_ref().map(|active| &active.inbox);
            if !inbox.is_some_and(|inbox| inbox.knows(agent)) {
                self.ledger.excuse(agent);
            }
        }
    }

    /// The process is killed; the next one takes the channel up from its record.
    pub(super) fn kill(&mut self) {
        note!(self, "KILL");
        self.settle_flights();
        self.asking = None;
        self.plans.retain(|(_, plan)| !matches!(plan, Plan::End { .. }));
        self.admission = new_admission(&self.fixed);
        self.neighbours = OtherProcesses::default();
        self.books.killed();
        self.process += 1;
        self.fixed.up_since = Began::new(self.now);
        self.due = None;
        self.ready = false;
        self.chat.events.clear();
        self.load(Origin::EarlierProcess);
    }

    pub(super) fn load(&mut self, origin: Origin) {
        let config = Arc::clone(&self.fixed.config);
        let before = self.room.active.as_ref().map(|active| &active.inbox);
        let had_rest = before.filter(|inbox| inbox.wakes_for(true) <= self.rest_up_to);
        self.rest_up_to = had_rest.and_then(|inbox| inbox.wakes_for(false));
        match self.store.load() {
            Some(stored) => {
                let restored = Room::restore(ROOM, config, self.process, self.now, stored);
                match restored {
                    Ok(room) => self.room = room,
                    Err(error) => {
                        return self.books.fail(format!("the record cannot be restored: {error}"));
                    }
                }
                self.books.loaded();
                self.room.resume_after_restart(&self.fixed.context(), self.now, origin, false);
                let inbox = self.room.active.as_ref().map(|active| &active.inbox);
                let marks = &self.room.marks;
                // What the record does not know is read again, and handed over again.
                let was_handed = |agent, word| {
                    marks.is_known(word) && inbox.is_some_and(|inbox| inbox.was_handed(agent, word))
                };
                self.ledger.restored(was_handed);
                self.excuse_strangers();
                self.after();
                self.ready = true;
            }
            None => {
                self.room = Room::new(ROOM, config, self.number, self.process, self.now);
                self.books.loaded();
                // Nothing was ever stored: the channel's conversation begins anew.
                self.ledger.forget();
                self.open();
            }
        }
    }

    /// Whether it runs without asking.
    pub(super) fn is_observed(&self, agent: AgentKey) -> bool {
        self.fixed.directory.observed(agent).is_some()
    }

    pub(super) fn is_hosted(&self, agent: AgentKey) -> bool {
        self.fixed.directory.is_hosted(agent)
    }

    /// All services work from now on, and no new action begins.
    pub(super) fn calm_down(&mut self) {
        note!(self, "CALM");
        self.calm = true;
        // Or the rest of a long backlog would take as many cycles.
        self.fixed.settings.limits.missed_max = 500;
        self.chat.answers = Answers::Up;
        self.chat.reads_hang = false;
        self.store.answers = Answers::Up;
        if !self.chat.gateway {
            self.chat.gateway = true;
            self.room.gateway(&self.fixed.context(), self.now, Gateway::Reconnected);
            self.after();
        }
        if self.room.look().machine().view().pause().is_some() {
            self.input(&Input::Resume, true);
        }
        for agent in 0..self.fixed.agents {
            self.input(&Input::MayWrite(AgentKey::new(agent)), false);
        }
        for flight in &mut self.flights {
            if flight.is_call() || matches!(flight.what, What::Consult) {
                flight.ready_at = Some(flight.ready_at.map_or(self.now, |at| at.min(self.now)));
            }
        }
    }
}

/// An agent that the library does not call runs without asking, and is observed.
fn observe(fixed: &mut Fixed) {
    let bot = ObservedBot::default().with(|bot| bot.removes = fixed.agents % 2 == 0);
    let bot = Arc::new(bot);
    let names = (0..fixed.agents).map(|number| AgentId::from(format!("agent-{number}")));
    let bots = names.map(|name| (name, Arc::clone(&bot))).collect();
    fixed.directory = fixed.directory.clone().with_observed(&bots);
    fixed.settings.hooks.notify = true;
}

fn new_admission(fixed: &Fixed) -> Admission {
    let settings = &fixed.settings;
    Admission::new(Limits {
        pacing: settings.limits.pacing,
        calls_max: settings.limits.calls_max,
        agent_calls_max: settings.limits.agent_calls_max,
        consults_max: settings.limits.calls_max,
    })
}

fn draw_fixed(dice: &mut Dice) -> Fixed {
    let agents = 2 + dice.below(3) as u32;
    let hosted: Vec<bool> = (0..agents).map(|_| dice.chance(600)).collect();
    let known: Vec<AgentId> =
        (0..agents).map(|number| AgentId::from(format!("agent-{number}"))).collect();
    let users: HashMap<_, _> = known.iter().cloned().zip((0..agents).map(user_of)).collect();
    let names = known.clone();
    let is_hosted =
        |id: &AgentId| names.iter().position(|known| known == id).is_some_and(|at| hosted[at]);
    let directory = Directory::new(MODERATOR, known, &users).with_hosted(is_hosted);
    let mut settings = Settings::default();
    if dice.chance(500) {
        settings.limits.pacing = Pacing::off();
    }
    if dice.chance(200) {
        settings.limits.missed_max = 1 + dice.place(3);
    }
    settings.limits.calls_max = 1 + dice.place(3);
    if dice.chance(200) {
        settings.hooks.notify = false;
    }
    let is_discussion = dice.chance(300);
    let mut config = Config::default();
    config.people.human_interrupt = match dice.below(4) {
        0 => HumanInterrupt::Queue,
        1 => HumanInterrupt::Interrupt,
        _ => HumanInterrupt::Inject,
    };
    config.trigger_cleanup = match dice.below(4) {
        0 => TriggerCleanup::OnNext,
        1 => TriggerCleanup::After(Duration::from_secs(30)),
        2 => TriggerCleanup::Never,
        _ => TriggerCleanup::Immediate,
    };
    config.deadlines.retriggers = dice.below(3) as u8;
    config.order.auto_requeue = dice.chance(200);
    config.order.single_agent = dice.chance(300);
    config.announce_timeouts = dice.chance(200);
    config.deadlines.run = Some(Duration::from_secs(120 + dice.below(480)));
    config.ceilings.chat.turns = Some(8 + dice.below(50) as u32);
    config.ceilings.discussion.turns = config.ceilings.chat.turns;
    config.ceilings.discussion.cycles = config.ceilings.chat.cycles;
    Fixed {
        settings,
        config: Arc::new(config),
        directory,
        facts: Facts { reads_history: dice.chance(800).then_some(true) },
        has_waker: dice.chance(300),
        has_orchestrator: dice.chance(300),
        agents,
        is_discussion,
        up_since: Began::new(Timestamp::default()),
    }
}
