//! Who forgets something is told within ten seconds where one looks, in a sentence that names the remedy. The table of all that
//! is tried so is `verify/forgotten.md` of this repository.

use std::process::Stdio;
use std::time::Duration;

use dirigent::{Clock, SystemClock};
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_testkit::memory_discord::Permissions;
use tokio::io::AsyncReadExt as _;
use tokio::process::Child;

use super::PROGRAM;
use super::stage::{Inside, Result};

/// How long may pass until it is told.
const SOON: Duration = Duration::from_secs(10);

/// A bot in whose server something was forgotten.
struct Forgetful {
    inside: Inside,
    bot: Child,
}

impl Forgetful {
    async fn start(forget: impl FnOnce(&Inside)) -> Result<Self> {
        Self::start_with(forget, &[], &[]).await
    }

    async fn start_with(
        forget: impl FnOnce(&Inside),
        variables: &[(&str, &str)],
        arguments: &[&str],
    ) -> Result<Self> {
        let inside = Inside::start_all(&[], &[]).await?;
        forget(&inside);
        let bot = Self::spawn(&inside, variables, arguments)?;
        Ok(Self { inside, bot })
    }

    fn spawn(inside: &Inside, variables: &[(&str, &str)], arguments: &[&str]) -> Result<Child> {
        let mut bot = inside.command(PROGRAM);
        bot.envs(variables.iter().copied()).args(arguments).stderr(Stdio::piped());
        Ok(bot.spawn()?)
    }

    /// What the bot answers to `/set-channel-mode chat`, to `/status` and to `/why`.
    async fn answers(&self) -> Result<[String; 3]> {
        let mode = self.inside.answered("set-channel-mode", &[("mode", "chat".into())]).await?;
        let status = self.inside.answered("status", &[]).await?;
        Ok([mode, status, self.inside.answered("why", &[]).await?])
    }

    /// Each of the three answers, and the log, say it.
    async fn say(mut self, sentence: &str) -> Result {
        for answer in self.answers().await? {
            assert!(answer.contains(sentence), "{answer}");
        }
        self.bot.start_kill()?;
        let log = said(self.bot).await?;
        assert!(log.contains(sentence), "{log}");
        Ok(())
    }
}

/// All that the program writes until it ends.
async fn said(mut bot: Child) -> Result<String> {
    let mut text = String::new();
    if let Some(mut log) = bot.stderr.take() {
        log.read_to_string(&mut text).await?;
    }
    bot.wait().await?;
    Ok(text)
}

/// The program ends soon, with an error, and its last line says it.
async fn ends_with(bot: Child, sentence: &str) -> Result {
    let clock = SystemClock::new();
    let began = clock.now();
    let text = said(bot).await?;
    assert!(clock.now().since(began) <= SOON, "{text}");
    let last = text.lines().last().unwrap_or_default();
    assert!(last.starts_with("Error: ") && last.contains(sentence), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_bot_that_was_not_invited() -> Result {
    let forget = |it: &Inside| _ = it.discord.guild(it.guild).remove_member(it.agents[0]);
    let forgetful = Forgetful::start(forget).await?;
    forgetful.say("developer (its bot is not in this server: invite it)").await
}

#[tokio::test]
async fn an_agent_without_view_channels() -> Result {
    let (none, view) = (Permissions::default(), Permissions::VIEW_CHANNEL);
    let forget = |it: &Inside| {
        it.discord.channel(it.channel).set_member_overwrite(it.agents[0], none, view);
    };
    let forgetful = Forgetful::start(forget).await?;
    let sentence = "developer (its bot does not see this channel: give it View Channels here)";
    forgetful.say(sentence).await
}

#[tokio::test]
async fn an_agent_without_send_messages() -> Result {
    let forget = |it: &Inside| it.discord.channel(it.channel).set_read_only(it.agents[0], true);
    let forgetful = Forgetful::start(forget).await?;
    forgetful.say("its bot may not write here: give it Send Messages").await
}

#[tokio::test]
async fn an_agent_in_a_time_out() -> Result {
    let forget = |it: &Inside| {
        let minutes = Some(Duration::from_secs(600));
        it.discord.guild(it.guild).set_timed_out(it.agents[0], minutes);
    };
    let forgetful = Forgetful::start(forget).await?;
    forgetful.say("its bot is in a time-out: a moderator of the server can end that").await
}

#[tokio::test]
async fn a_moderator_without_read_message_history() -> Result {
    let forget =
        |it: &Inside| it.discord.channel(it.channel).set_history_hidden(it.moderator, true);
    let forgetful = Forgetful::start(forget).await?;
    let sentence = "The moderator may not read what was said here: give it Read Message History";
    forgetful.say(sentence).await
}

/// Of who sees a channel it is told nothing, and says nothing: the agents see it.
#[tokio::test]
async fn a_moderator_without_view_channels() -> Result {
    let (none, view) = (Permissions::default(), Permissions::VIEW_CHANNEL);
    let forget = |it: &Inside| {
        it.discord.channel(it.channel).set_member_overwrite(it.moderator, none, view);
    };
    let forgetful = Forgetful::start(forget).await?;
    for answer in forgetful.answers().await? {
        assert!(!answer.contains("its bot"), "{answer}");
    }
    forgetful.say("The moderator does not see this channel: give it View Channels here").await
}

#[tokio::test]
async fn a_moderator_without_send_messages() -> Result {
    let forget = |it: &Inside| it.discord.channel(it.channel).set_read_only(it.moderator, true);
    let forgetful = Forgetful::start(forget).await?;
    forgetful.say("The moderator may not write here: give it Send Messages").await
}

#[tokio::test]
async fn the_message_content_intent() -> Result {
    let forget = |it: &Inside| it.discord.account(it.moderator).set_content_hidden(true);
    let forgetful = Forgetful::start(forget).await?;
    let sentence = "an intent was asked for that is not switched on in the developer portal";
    ends_with(forgetful.bot, sentence).await
}

/// It is optional: nothing is missing without it.
#[tokio::test]
async fn the_members_intent() -> Result {
    let forget = |it: &Inside| it.discord.account(it.moderator).set_members_hidden(true);
    let forgetful = Forgetful::start(forget).await?;
    let [mode, ..] = forgetful.answers().await?;
    assert!(mode.ends_with("developer, reviewer, tester take turns here."), "{mode}");
    Ok(())
}

#[tokio::test]
async fn a_token_that_is_wrong_or_empty() -> Result {
    let wrong = "MTAxMDEwMTAx.abc.def";
    for (name, whose) in [("DISCORD_TOKEN", "the moderator"), ("DEVELOPER_TOKEN", "developer")] {
        let forgetful = Forgetful::start_with(|_| (), &[(name, wrong)], &[]).await?;
        let text = said(forgetful.bot).await?;
        let last = text.lines().last().unwrap_or_default();
        assert!(last.contains(whose), "{text}");
        assert!(last.contains("not valid: take a new one from the developer portal"), "{text}");
        let forgetful = Forgetful::start_with(|_| (), &[(name, "")], &[]).await?;
        ends_with(forgetful.bot, &format!("{name}: not a bot's token: it is empty")).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_token_of_another_bot_and_one_that_is_used_twice() -> Result {
    let inside = Inside::start_all(&[], &[]).await?;
    let [moderator, reviewer] =
        [inside.moderator, inside.agents[1]].map(|bot| inside.server.token(bot));
    for (token, owner) in [(moderator, "the library itself"), (reviewer, "developer")] {
        let bot = Forgetful::spawn(&inside, &[("DEVELOPER_TOKEN", &token)], &[])?;
        let sentence = format!("acts as the Discord account of {owner}; give each its own account");
        ends_with(bot, &sentence).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_mode() -> Result {
    let mut forgetful = Forgetful::start(|_| ()).await?;
    let inside = &forgetful.inside;
    for command in ["status", "why"] {
        let answer = inside.answered(command, &[]).await?;
        assert!(answer.contains("/set-channel-mode chat gives it turns"), "{answer}");
    }
    forgetful.bot.start_kill()?;
    let log = said(forgetful.bot).await?;
    assert!(log.contains("no channel has turns yet: give it some with /set-channel-mode"), "{log}");
    Ok(())
}

/// The log names the agent and what to do, and so does `/why` once the agent's turn has failed.
async fn a_model_that_fails(url: &str, sentence: &str) -> Result {
    let mut forgetful = Forgetful::start_with(|_| (), &[], &["--llm", url]).await?;
    let inside = &forgetful.inside;
    inside.ask("Who writes the parser?").await?;
    let clock = SystemClock::new();
    let asked = clock.now();
    loop {
        let why = inside.answered("why", &[]).await?;
        if why.contains(sentence) {
            break;
        }
        assert!(clock.now().since(asked) <= SOON, "{why}");
    }
    forgetful.bot.start_kill()?;
    let log = said(forgetful.bot).await?;
    let is_told = |line: &str| line.contains("a hosted agent failed") && line.contains(sentence);
    assert!(log.lines().any(is_told), "{log}");
    Ok(())
}

#[tokio::test]
async fn the_address_of_a_model() -> Result {
    let nowhere = "http://127.0.0.1:9/v1";
    a_model_that_fails(nowhere, "cannot be reached: check its address, and whether it runs").await
}

#[tokio::test]
async fn the_key_of_a_model() -> Result {
    let model = LoopbackLlm::start().await?;
    model.cycle([ScriptedAnswer::refusal(401)]);
    a_model_that_fails(&model.url(), "refused): check its key").await
}

#[tokio::test]
async fn that_the_store_is_open_already() -> Result {
    let first = Forgetful::start(|_| ()).await?;
    // It answers once it has started, with its store.
    first.inside.answered("status", &[]).await?;
    let second = Forgetful::spawn(&first.inside, &[], &[])?;
    ends_with(second, "is open already: end the other process").await
}
