//! An evening on this machine: a person gives the channel its mode, says something, hears the agents out,
//! and wakes them once more.

use std::time::Duration;

use dirigent::operate::{Cause, ChannelEvent, EventOrLag};
use dirigent::{AgentId, Clock, Dirigent, Mode, command};
use dirigent_loopback::CommandError;
use dirigent_testkit::memory_discord::{Event, GatewayEvents};

use serde_json::json;

use crate::Result;
use crate::agents::CHARACTERS;
use crate::loopback::Practice;
use crate::terminal::{Terminal, note};

/// How long nothing may happen, by the clock of the evening.
const PATIENCE: Duration = Duration::from_secs(180);

/// What there is to be seen, and its two sources.
struct Watch<'a> {
    practice: &'a Practice,
    dirigent: &'a Dirigent,
    terminal: Terminal,
    pushed: GatewayEvents,
    changes: dirigent::operate::Events,
}

impl Practice {
    /// Plays it, and fails if it does not go as it should.
    pub(crate) async fn evening(&self, dirigent: &Dirigent) -> Result {
        let mut terminal = Terminal::new(self.is_verbose);
        terminal.introduce(self.moderator, "Moderator", None);
        terminal.introduce(self.person, "You", None);
        for (user, character) in self.agents.iter().zip(CHARACTERS) {
            terminal.introduce(*user, character.name, Some(AgentId::from(character.name)));
        }
        let (pushed, changes) = (self.server.discord().events(), dirigent.events());
        let mut watch = Watch { practice: self, dirigent, terminal, pushed, changes };
        watch.play().await
    }
}

impl Watch<'_> {
    async fn play(&mut self) -> Result {
        scene("A person gives the channel its mode.");
        self.give_mode().await?;
        scene("A person asks; the agents speak in turn until none has anything to add.");
        self.ask("Should we build the new search?").await?;
        scene("Silence costs nothing: dormant, until a person writes again.");
        self.ask("And what would be the first step?").await
    }

    /// Uses the bot's slash command, as soon as there is one.
    async fn give_mode(&self) -> Result {
        let Practice { server, clock, channel, moderator, person, .. } = self.practice;
        let patience = clock.now() + PATIENCE;
        let options = [("mode", json!(Mode::Chat.as_str()))];
        let used = loop {
            match server.use_command(
                *channel,
                *person,
                *moderator,
                command::SlashCommand::SetChannelMode.name(),
                &options,
            ) {
                Ok(used) => break used,
                Err(CommandError::NoCommand) if clock.now() < patience => self.wait().await,
                Err(error) => return Err(error.into()),
            }
        };
        loop {
            let answers = server.answers(used);
            if let Some(answer) = answers.iter().find(|answer| !answer.content.is_empty()) {
                note(&format!(
                    "/{} {}: {}",
                    command::SlashCommand::SetChannelMode.name(),
                    Mode::Chat,
                    answer.content
                ));
                return Ok(());
            }
            if clock.now() >= patience {
                return Err("the slash command was not answered".into());
            }
            self.wait().await;
        }
    }

    async fn wait(&self) {
        let clock = self.practice.clock;
        clock.sleep_until(clock.now() + Duration::from_millis(100)).await;
    }

    async fn ask(&mut self, question: &str) -> Result {
        let Practice { server, channel, person, .. } = self.practice;
        server.discord().say(*channel, *person, question);
        self.until_asleep().await
    }

    /// Whether the agents have nothing more to say. Models may talk up to the ceiling.
    fn is_asleep(&self, cause: Cause) -> bool {
        let is_cut = matches!(cause, Cause::CeilingReached | Cause::Unanswered);
        cause == Cause::AllPassed || (is_cut && self.practice.has_model)
    }

    /// Shows what happens, until the agents have fallen silent.
    async fn until_asleep(&mut self) -> Result {
        let clock = self.practice.clock;
        loop {
            let patience = clock.now() + PATIENCE;
            let change = tokio::select! {
                biased;
                event = self.pushed.next() => {
                    if let Some(Event::MessageCreated(message)) = event {
                        self.terminal.show_message(&message);
                    }
                    continue;
                }
                heard = self.changes.next() => match heard {
                    Some(EventOrLag::Transition(change)) => change,
                    Some(EventOrLag::AgentFailed(failure)) if self.practice.has_model => {
                        note(&failure.to_string());
                        continue;
                    }
                    Some(other) => return Err(format!("an unexpected event: {other:?}").into()),
                    None => return Err("the library is gone".into()),
                },
                () = clock.sleep_until(patience) => return Err("nothing happens any more".into()),
            };
            // A reply is pushed before the library confirms it, but the chat is another stream.
            if self.terminal.lacks_words_for(&change)
                && let Some(Event::MessageCreated(message)) = self.pushed.try_next()
            {
                self.terminal.show_message(&message);
            }
            let order = self.order_after(&change).await?;
            self.terminal.show_change(&change, &order);
            if self.is_asleep(change.transition.cause) {
                return Ok(());
            }
        }
    }

    /// The speaking order after a shuffle, unless that cycle is over by now.
    async fn order_after(&self, change: &ChannelEvent) -> Result<Vec<AgentId>> {
        if change.transition.cause != Cause::Reshuffled {
            return Ok(Vec::new());
        }
        let status = self.dirigent.channel(change.channel).status().await?;
        Ok(status.map_or_else(Vec::new, |status| {
            status.list.into_iter().map(|(agent, _)| agent).collect()
        }))
    }
}

/// The headline of what follows.
#[expect(clippy::print_stdout, reason = "this is what one came to see")]
fn scene(text: &str) {
    println!("\n--- {text}\n");
}
