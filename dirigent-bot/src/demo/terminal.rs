//! Prints who says what, and one line for each turn that says why.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::io::IsTerminal;

use dirigent::operate::{Cause, ChannelEvent};
use dirigent::snapshot::PhaseKind;
use dirigent::{AgentId, ChatMessage, UserId};

/// The reasons why an agent has the floor.
const WHY: [(Cause, &str); 6] = [
    (Cause::HumanMessage, "a person wrote"),
    (Cause::NextInList, "next in the list"),
    (Cause::NextCycle, "first of the new cycle"),
    (Cause::GuidePosted, "the guide was posted"),
    (Cause::InitiatorReminded, "asked to conclude"),
    (Cause::Resumed, "the table goes on"),
];

/// The changes that are worth a line, beside the turns in which an agent speaks.
const LINES: [(Cause, &str); 16] = [
    (Cause::Passed, "{} passes"),
    (Cause::NothingNew, "{} passes unasked: nothing was said since its own words"),
    (Cause::RunFailed, "{} fails, and passes"),
    (Cause::StartTimedOut, "{} does not answer, and is skipped"),
    (Cause::RunTimedOut, "{} takes too long, and is skipped"),
    (Cause::AgentLeft, "{} has left, and is skipped"),
    (Cause::EnoughAgents, "enough agents are here: they take turns"),
    (Cause::TooFewAgents, "too few agents to take turns"),
    (Cause::AllPassed, "dormant: no agent had anything to add"),
    (Cause::Unanswered, "dormant: no agent answered"),
    (Cause::CeilingReached, "dormant: only a person may go on from here"),
    (Cause::InitiatorReminded, "{} is asked to conclude"),
    (Cause::Stopped, "stopped: no agent may speak"),
    (Cause::Resumed, "resumed: the next message wakes the table"),
    (Cause::Concluded, "{} concludes: archived for good"),
    (Cause::Archived, "archived for good"),
];

fn words_for(cause: Cause, words: &[(Cause, &'static str)]) -> Option<&'static str> {
    words.iter().find(|(known, _)| *known == cause).map(|(_, words)| *words)
}

/// The colours of agents' names, as terminals number them.
const COLOURS: [u8; 6] = [36, 33, 35, 32, 34, 31];

/// Shows messages and changes under the names of their accounts.
pub(crate) struct Terminal {
    /// `true` if every change is shown.
    pub(crate) verbose: bool,
    people: Vec<Person>,
    /// The floor, as far as it was shown.
    floor: Option<Floor>,
}

/// An account, and the agent behind it if there is one.
struct Person {
    user: UserId,
    name: String,
    agent: Option<AgentId>,
    /// One for each agent, in the order of their introduction.
    colour: Option<u8>,
}

struct Floor {
    agent: AgentId,
    /// The reason why it has the floor.
    cause: Cause,
    /// `true` once its words were shown.
    heard: bool,
}

impl Terminal {
    pub(crate) const fn new(verbose: bool) -> Self {
        Self { verbose, people: Vec::new(), floor: None }
    }

    /// Names an account, for example that of a person.
    pub(crate) fn introduce(&mut self, user: UserId, name: &str, agent: Option<AgentId>) {
        let agents = self.people.iter().filter(|person| person.agent.is_some()).count();
        let colour = agent.as_ref().and(COLOURS.get(agents % COLOURS.len()).copied());
        self.people.push(Person { user, name: name.to_owned(), agent, colour });
    }

    /// Shows a message under the name that belongs to its author's account.
    pub(crate) fn show_message(&mut self, message: &ChatMessage) {
        // A webhook speaks for personas, under their names.
        let name = message.author_name.as_deref();
        let is_author = |it: &&Person| it.user == message.author || Some(it.name.as_str()) == name;
        let author = self.people.iter().find(is_author);
        if let Some(floor) = self.floor.as_mut().filter(|floor| !floor.heard) {
            if author.and_then(|author| author.agent.as_ref()) == Some(&floor.agent) {
                floor.heard = true;
                let why = words_for(floor.cause, &WHY).unwrap_or_else(|| floor.cause.as_str());
                note(&format!("{} speaks ({why})", floor.agent));
            }
        }
        let name = author.map_or("Unknown", |author| &author.name);
        let text = self.people.iter().fold(message.content.to_string(), |text, person| {
            text.replace(&format!("<@{}>", person.user), &format!("@{}", person.name))
        });
        match author.and_then(|author| author.colour).filter(|_| std::io::stdout().is_terminal()) {
            Some(colour) => println!("\x1b[{colour}m{name:>11}\x1b[0m: {text}"),
            None => println!("{name:>11}: {text}"),
        }
    }

    /// Shows a change: every one if `verbose` is set, or else those that tell the story. `order` is the new order after
    /// a shuffle, if it is known.
    pub(crate) fn show_change(&mut self, change: &ChannelEvent, order: &[AgentId]) {
        let cause = change.transition.cause;
        if self.verbose {
            note(&format!("[{change:#}]"));
        }
        // The floor is given by a grant or, to the initiator of an idle discussion, by a reminder.
        let is_given =
            change.transition.to == PhaseKind::Granted || cause == Cause::InitiatorReminded;
        if let Some(agent) = change.agent.clone().filter(|_| is_given) {
            self.floor = Some(Floor { agent, cause, heard: false });
        }
        if let Some(line) = words_for(cause, &LINES) {
            note(&line.replace("{}", change.agent.as_ref().map_or("an agent", AgentId::as_str)));
        }
        if cause == Cause::Reshuffled {
            let names: Vec<_> = order.iter().map(AgentId::as_str).collect();
            let colon = if names.is_empty() { "" } else { ": " };
            note(&format!("new cycle, shuffled{colon}{}", names.join(", ")));
        }
    }

    /// Returns whether this change confirms words that were not shown yet.
    pub(crate) fn lacks_words_for(&self, change: &ChannelEvent) -> bool {
        matches!(change.transition.cause, Cause::ReceiptGiven | Cause::PermitUsed)
            && self.floor.as_ref().is_some_and(|floor| !floor.heard)
    }
}

/// Prints a line that is not part of the conversation.
pub(crate) fn note(text: &str) {
    let is_terminal = std::io::stdout().is_terminal();
    let (dim, plain) = if is_terminal { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
    println!("{dim}{:>11}  · {text}{plain}", "");
}
