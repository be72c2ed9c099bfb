//! `/status` and `/why`.

use std::fmt::Write;

use dirigent_core::view::Pause;
use dirigent_core::{AgentKey, Mode, Reason};

use super::{CommandAnswer, CommandCall, ELSEWHERE, NOT_RUNNING, UNREADABLE};
use crate::host::status::Status;
use crate::ports::write_bar::ModeratorLacks;
use crate::room::directory::Directory;
use crate::text::plain::{NAME_CHARS_MAX, shown};
use crate::values::mentions::mentioned;
use crate::{AgentId, CallError, UserId};

/// The longest answer, in characters. It is the longest message that Discord takes.
const ANSWER_CHARS_MAX: usize = 2_000;

/// The longest sentence about the lines that an answer leaves out, in characters.
const REST_CHARS_MAX: usize = 60;

const NO_GUILD: &str =
    "Agents take turns in the channels of a server. There are no turns in a direct message.";
const NOT_ALLOWED: &str = "You need to be able to write in this channel to use this command.";
const FREE: &str = "There are no turns in this channel: the bot calls no agent here, and agents that are bots of their \
     own answer freely. /set-channel-mode chat gives it turns.";
const NO_LIST: &str = "No agent takes turns in this channel now.";
const TOO_LATE: &str = "This takes too long at the moment. Try again in a minute.";

impl CommandCall<'_> {
    pub(super) async fn status(&self) -> CommandAnswer {
        self.answer(
            async {
                let status =
                    self.channel.status().await?.filter(|status| status.mode != Mode::None);
                let directory = self.channel.dirigent.runtime.registry.directory();
                let told = match status {
                    None => FREE.to_owned(),
                    Some(status) => {
                        let here = self.channel.participants().await?;
                        let here = here.with_names(|agent| name(&directory, agent));
                        let more = [here.missing_in_words(), here.moderator.to_string()];
                        let lines = std::iter::once(told(&status, &directory));
                        let more = more.into_iter().filter(|more| !more.is_empty());
                        lines.chain(more).collect::<Vec<_>>().join("\n")
                    }
                };
                Ok(CommandAnswer::unchanged(told))
            },
            TOO_LATE,
        )
        .await
    }

    pub(super) async fn why(&self, input: &str) -> CommandAnswer {
        self.answer(
            async {
                let agents: Vec<AgentId> = if input.trim().is_empty() {
                    let status = self.channel.status().await?;
                    let Some(status) = status.filter(|status| status.mode != Mode::None) else {
                        return Ok(CommandAnswer::unchanged(FREE.to_owned()));
                    };
                    status.list.into_iter().map(|(agent, _)| agent).collect()
                } else {
                    match self.agent(input) {
                        Ok(agent) => vec![agent],
                        Err(unknown) => return Ok(CommandAnswer::unchanged(unknown)),
                    }
                };
                // The room stays loaded until all agents are explained. Otherwise a channel at rest would be read from
                // the store for each of them.
                let _room = self.channel.dirigent.runtime.room(self.channel.id).await;
                let directory = self.channel.dirigent.runtime.registry.directory();
                let mut lines = Vec::with_capacity(agents.len());
                for agent in &agents {
                    let explanation = self.channel.explain(agent).await?;
                    lines.push(explanation.with_names(|agent| name(&directory, agent)).to_string());
                }
                if input.trim().is_empty() {
                    let mut here = self.channel.participants().await?;
                    here.missing.retain(|missing| !agents.contains(&missing.agent));
                    let here = here.with_names(|agent| name(&directory, agent));
                    // The explanation of each agent says what the moderator lacks. If no agent is listed, it is said
                    // here.
                    let own = if agents.is_empty() { here.moderator } else { ModeratorLacks::NONE };
                    let more = [here.missing_in_words(), own.to_string()];
                    lines.extend(more.into_iter().filter(|more| !more.is_empty()));
                }
                Ok(CommandAnswer::unchanged(fitting(&lines)))
            },
            TOO_LATE,
        )
        .await
    }

    /// Answers a person who may write in the channel. If the result is not there in time, the answer is `late`.
    pub(super) async fn answer(
        &self,
        answering: impl Future<Output = Result<CommandAnswer, CallError>>,
        late: &str,
    ) -> CommandAnswer {
        if self.invoker.guild.is_none() {
            return CommandAnswer::unchanged(NO_GUILD);
        }
        if !self.invoker.may_pause() {
            return CommandAnswer::unchanged(NOT_ALLOWED);
        }
        let in_time = self.channel.dirigent.runtime.within(self.within, answering).await;
        let CommandAnswer { text, changed } = match in_time {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => CommandAnswer::unchanged(refusal(&error)),
            Err(_) => CommandAnswer::unchanged(late),
        };
        CommandAnswer { text: cut(text), changed }
    }

    /// Returns the agent that a person named, or a text that there is none.
    pub(super) fn agent(&self, input: &str) -> Result<AgentId, String> {
        let directory = self.channel.dirigent.runtime.registry.directory();
        let key = named(&directory, input.trim());
        let agent = key.and_then(|key| directory.name(key)).cloned();
        agent.ok_or_else(|| format!("There is no agent {}.", shown(input, NAME_CHARS_MAX)))
    }
}

/// Returns the answer to a person for an error.
pub(super) fn refusal(error: &CallError) -> String {
    match error {
        CallError::UnknownChannel => FREE.to_owned(),
        CallError::Refused(refusal) => format!("Nothing was changed: {refusal}."),
        CallError::NotRunning | CallError::Ended(_) => NOT_RUNNING.to_owned(),
        CallError::Elsewhere => ELSEWHERE.to_owned(),
        CallError::NotStored
        | CallError::Failed(_)
        | CallError::Unreadable(_)
        | CallError::Barred(_)
        | CallError::NoChannel
        | CallError::UnknownAgent(_)
        | CallError::Config(_) => UNREADABLE.to_owned(),
    }
}

/// Returns the registered agent with this account, mention, id or name. A name that several agents have identifies none
/// of them.
fn named(directory: &Directory, input: &str) -> Option<AgentKey> {
    let user = input.parse::<UserId>().ok().or_else(|| mentioned(input).into_iter().next());
    let by_user = user.and_then(|user| directory.of_user(user));
    by_user.or_else(|| directory.key(&AgentId::from(input))).or_else(|| {
        let accounts = directory.accounts().into_iter();
        let agents = accounts.filter_map(|user| directory.of_user(user));
        let input = input.to_lowercase();
        let has_name = |key: &AgentKey| {
            let name = directory.display_name(*key).map(|name| name.to_lowercase());
            let id = directory.name(*key).map(|id| id.as_str().to_lowercase());
            [name, id].contains(&Some(input.clone()))
        };
        let mut found = agents.filter(has_name);
        found.next().filter(|_| found.next().is_none())
    })
}

/// Returns an agent's name for people.
pub(super) fn name(directory: &Directory, agent: &AgentId) -> String {
    let known = directory.key_of_known(agent).and_then(|key| directory.display_name(key));
    shown(known.map_or_else(|| agent.as_str(), |name| &**name), NAME_CHARS_MAX)
}

/// Writes the status of a channel in a few lines.
fn told(status: &Status, directory: &Directory) -> String {
    let name = |agent: &AgentId| name(directory, agent);
    let floor = match (status.rest, &status.speaker, status.silence) {
        (Some(Pause::Stopped), ..) => "Stopped: /resume lets the agents go on.".to_owned(),
        (_, Some(speaker), None | Some(Reason::YourTurn)) => {
            format!("{} has the floor.", name(speaker))
        }
        (_, Some(speaker), Some(reason)) => {
            format!("{} has the floor, but: {reason}.", name(speaker))
        }
        (_, None, Some(Reason::Dormant)) => {
            "No agent has the floor: a person's message begins a cycle.".to_owned()
        }
        (_, None, Some(reason)) => format!("No agent has the floor: {reason}."),
        (_, None, None) => "No agent has the floor.".to_owned(),
    };
    let order: Vec<_> = status.list.iter().map(|(agent, _)| name(agent)).collect();
    let order = match order.as_slice() {
        [] => NO_LIST.to_owned(),
        order => format!("Order: {}.", order.join(", ")),
    };
    let (mode, turns) = (status.mode, status.turns_since_human);
    let mut text =
        format!("Mode: {mode}.\n{floor}\n{order}\nTurns since a person last spoke: {turns}.");
    if status.chat_away_since.is_some() {
        text.push_str("\nThe chat does not answer at the moment: turns go on when it does.");
    }
    if status.sees_no_content {
        text.push_str(
            "\nPeople's messages come without anything in them and wake no agent: switch on the Message Content Intent in \
             Discord's developer portal.",
        );
    }
    if let Some(twin) = status.twin {
        text.push_str(
            "\nAnother process posts here with the same tokens, and shares no store with this one: end one of them.",
        );
        if twin.gives_way {
            text.push_str(
                " This one began later, and grants no turns here until the other has posted nothing for ten minutes.",
            );
        }
    }
    if status.record_refused_since.is_some() {
        text.push_str(
            "\nThe state of this channel cannot be stored: no agent is called until it is.",
        );
    }
    text
}

/// Joins as many of the lines as fit into a message, and says how many do not.
fn fitting(lines: &[String]) -> String {
    let (mut text, mut left) = (String::new(), ANSWER_CHARS_MAX - REST_CHARS_MAX);
    for (told, line) in lines.iter().enumerate() {
        let length = line.chars().count() + 1;
        if length > left {
            let rest = lines.len() - told;
            // A write to a string cannot fail.
            let _ = write!(text, "And {rest} more: /why with an agent tells of one.");
            return text;
        }
        left -= length;
        text.push_str(line);
        text.push('\n');
    }
    if text.is_empty() { NO_LIST.to_owned() } else { text.trim_end().to_owned() }
}

/// Shortens the text so that it fits into a message.
pub(super) fn cut(text: String) -> String {
    if text.chars().count() <= ANSWER_CHARS_MAX {
        return text;
    }
    text.chars().take(ANSWER_CHARS_MAX - 1).chain(['…']).collect()
}
