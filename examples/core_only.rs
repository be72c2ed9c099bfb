//! The turn machine alone: no runtime, no chat, no clock.
//!
//! ```text
//! cargo run --example core_only
//! ```
//!
//! `dirigent_core::TurnMachine` is a value. Its host runs the loop in [`Simulation::run`]:
//! give it what happened and when, carry out what it asks for, and come back when something is due.
//! Here the chat is a list of inputs that are still to come, and time is a number, so that a minute
//! of waiting takes no time at all.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::time::Duration;

use clap::Command;
use dirigent_core::text::SilencePolicy;
use dirigent_core::{
    AgentKey, Author, Config, Creation, Effect, Input, Message, MessageId, MessageKind, Mode,
    Outcome, PhaseKind, RunId, Settlement, Tail, Ticket, Timestamp, Transition, TurnId,
    TurnMachine,
};

fn main() -> Result<(), Box<dyn Error>> {
    Command::new("core_only").about("The turn machine alone").get_matches();
    let mut simulation = Simulation::new();
    simulation.run()?;
    println!("\nThe channel is {} now.", simulation.channel.view().phase().as_str());
    Ok(())
}

const ADA: AgentKey = AgentKey::new(1);
const BOB: AgentKey = AgentKey::new(2);
/// Its process has died: it is woken and never starts.
const EVE: AgentKey = AgentKey::new(3);

/// From a trigger to the run, from a run to its reply, from a reply to its sight.
const MOMENT: Duration = Duration::from_millis(400);

/// The machine, and a world small enough to hold in the hand.
struct Simulation {
    channel: TurnMachine,
    /// What is going to happen, in order of time; the number keeps equal times apart.
    agenda: BTreeMap<(Timestamp, u64), Input>,
    /// The words of messages. The machine is given only their ends.
    words: BTreeMap<MessageId, &'static str>,
    /// What the agents are going to say, one reply a turn.
    replies: BTreeMap<AgentKey, VecDeque<&'static str>>,
    now: Timestamp,
    /// Numbers for messages and for the agenda.
    next: u64,
}

impl Simulation {
    fn new() -> Self {
        let mut simulation = Self {
            channel: TurnMachine::new(Config::default().into(), 7),
            agenda: BTreeMap::new(),
            words: BTreeMap::new(),
            replies: BTreeMap::from([
                (ADA, ["I would paint it green.", "Blue, then."].into()),
                (BOB, ["Green is taken. Blue?", "NO_REPLY"].into()),
            ]),
            now: Timestamp::from_millis(0),
            next: 0,
        };
        let members = vec![ADA, BOB, EVE];
        let creation = Creation { mode: Mode::Chat, members, initiator: None };
        simulation.plan(Duration::ZERO, Input::Create(creation));
        simulation.plan_message(Duration::from_secs(1), Author::Human, "Which colour?");
        simulation
    }

    /// The canonical loop: the next thing that happens goes in, effects come out. It ends when the
    /// channel rests and nothing more is going to happen.
    fn run(&mut self) -> Result<(), Box<dyn Error>> {
        let mut effects = Vec::new();
        while let Some(input) = self.next_input() {
            self.show_message(&input);
            let answer = self.channel.handle(self.now, &input, &mut effects);
            // A host stores the channel here, before it does anything.
            for effect in effects.drain(..) {
                self.carry_out(effect);
            }
            match answer {
                Ok(answer) if answer.verdict().is_some_and(|verdict| verdict.is_allowed()) => {
                    self.let_run(&input);
                }
                Ok(_) => {}
                // A refused input changed nothing; what was due has expired all the same.
                Err(refusal) => self.show(&format!("refused: {refusal}")),
            }
        }
        self.channel.audit()?;
        Ok(())
    }

    /// Moves time to the next entry of the agenda, or to the machine's deadline if that is sooner.
    fn next_input(&mut self) -> Option<Input> {
        let planned = self.agenda.first_key_value().map(|((at, _), _)| *at);
        let due = self.channel.next_deadline().map(|deadline| deadline.at);
        match (planned, due) {
            (Some(planned), due) if due.is_none_or(|due| planned <= due) => {
                let ((at, _), input) = self.agenda.pop_first()?;
                self.now = at;
                Some(input)
            }
            // No input is to come, and no deadline is set.
            (None, _) if self.channel.view().phase() == PhaseKind::Dormant => None,
            (_, due) => {
                self.now = due?;
                Some(Input::Tick)
            }
        }
    }

    /// Carries out what the machine asks for. The match has no `_`: to skip an effect would stall a
    /// room, so that a new one must not compile unseen.
    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Transition(transition) => self.show_transition(&transition),
            Effect::Trigger { ticket, agent, turn, .. } => {
                self.settle(ticket);
                if agent != EVE {
                    self.wake(agent, turn);
                }
            }
            Effect::FetchMembers { ticket } => {
                let agents = vec![ADA, BOB, EVE];
                self.plan(MOMENT, Input::Members { ticket, agents });
            }
            // Every message is pushed here, so there is nothing to be found by looking.
            Effect::Poll { ticket, .. }
            | Effect::Delete { ticket, .. }
            | Effect::Notice { ticket, .. }
            | Effect::Consult { ticket, .. }
            | Effect::Reminder { ticket, .. } => self.settle(ticket),
            Effect::Inject { .. } | Effect::Deliver { .. } | Effect::CancelRun { .. } => {}
        }
    }

    /// An effect with a ticket is pending until it is settled, exactly once.
    fn settle(&mut self, ticket: Ticket) {
        let settlement = Settlement::Done { message: None };
        self.plan(Duration::ZERO, Input::Settled { ticket, settlement });
    }

    /// The agent was woken and asks whether it may run.
    fn wake(&mut self, agent: AgentKey, turn: TurnId) {
        let run = Some(RunId::new(turn.get()));
        self.plan(MOMENT, Input::Gate { agent: Some(agent), run, latest: None });
    }

    /// The machine said yes: the agent runs, and what it says arrives a little later.
    fn let_run(&mut self, gate: &Input) {
        let Input::Gate { agent: Some(agent), run, .. } = *gate else { return };
        let reply = self.replies.get_mut(&agent).and_then(VecDeque::pop_front);
        let outcome = SilencePolicy::Strict.outcome(reply.unwrap_or("NO_REPLY"));
        self.plan(MOMENT, Input::RunEnded { agent, run, outcome });
        if let (Outcome::Spoke { .. }, Some(text)) = (outcome, reply) {
            self.plan_message(MOMENT * 2, Author::Agent(agent), text);
        }
    }

    fn plan_message(&mut self, after: Duration, author: Author, text: &'static str) {
        self.next += 1;
        let message = Message {
            id: MessageId::new(self.next),
            author,
            kind: MessageKind::Conversation,
            tail: Tail::of(text),
            backfilled: false,
        };
        self.words.insert(message.id, text);
        self.plan(after, Input::Message(message));
    }

    fn plan(&mut self, after: Duration, input: Input) {
        self.next += 1;
        self.agenda.insert((self.now + after, self.next), input);
    }

    fn show_message(&self, input: &Input) {
        if let Input::Message(Message { id, author, .. }) = input {
            let author = if let Author::Agent(agent) = author { name(*agent) } else { "You" };
            let words = self.words.get(id).copied().unwrap_or_default();
            self.show(&format!("        {author}: {words}"));
        }
    }

    fn show_transition(&self, transition: &Transition) {
        let Transition { from, to, cause, agent, .. } = *transition;
        let mut phase = from.as_str().to_owned();
        if to != from {
            phase = format!("{phase} -> {}", to.as_str());
        }
        self.show(&format!("{phase:<24} {:<16} {}", cause.as_str(), agent.map_or("", name)));
    }

    fn show(&self, text: &str) {
        let ms = self.now.as_millis();
        println!("{:>4}.{:01} s  {text}", ms / 1_000, ms % 1_000 / 100);
    }
}

fn name(agent: AgentKey) -> &'static str {
    match agent {
        ADA => "Ada",
        BOB => "Bob",
        EVE => "Eve",
        _ => "an unknown account",
    }
}
