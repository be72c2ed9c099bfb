//! What a self-test does, step by step. Each step leaves evidence, which its probes then judge.

mod commands;
mod connecting;
mod messages;
mod posting;

use futures_util::future::BoxFuture;

use super::account::{Answer, Request};
use super::probes::limits::BAD_AGENT;
use super::probes::{self, Probe};
use super::trial::{Trial, Who};
use super::trouble::Trouble;

/// One step, and the assumptions of which it shows something.
pub(crate) struct Step {
    /// What is said before it.
    pub(crate) notice: Option<&'static str>,
    pub(crate) take: for<'a> fn(&'a mut Trial) -> BoxFuture<'a, Result<(), Trouble>>,
    pub(crate) probes: &'static [Probe],
    /// Whether nothing can be tried without it.
    pub(crate) is_needed: bool,
}

/// All steps, in their order: the first nonce must be as old as possible when it is used again at the end, and nothing is
/// deleted before the others have seen it.
pub(crate) const STEPS: &[Step] = &[
    needed(|trial| Box::pin(identify(trial)), &probes::limits::IDENTITY),
    needed(|trial| Box::pin(posting::twice(trial)), &probes::posts::TWICE),
    needed(|trial| Box::pin(connecting::connect(trial)), &probes::gateway::CONNECTION),
    step(|trial| Box::pin(posting::burst(trial)), &probes::posts::BURST),
    step(|trial| Box::pin(posting::by_second(trial)), &probes::posts::BY_SECOND),
    step(|trial| Box::pin(messages::edit(trial)), &probes::messages::EDIT),
    step(|trial| Box::pin(messages::delete(trial)), &probes::messages::DELETION),
    step(|trial| Box::pin(messages::type_a_while(trial)), &probes::messages::TYPING),
    step(|trial| Box::pin(members(trial)), &probes::members::MEMBERS),
    step(|trial| Box::pin(connecting::resume(trial)), &probes::gateway::RESUME),
    step(|trial| Box::pin(commands::register(trial)), &probes::commands::REGISTRATION),
    Step {
        notice: Some(
            "           ... use /dirigent-self-test in the channel now: without it, what needs a person is not tried",
        ),
        take: |trial| Box::pin(commands::answer(trial)),
        probes: &probes::commands::USE,
        is_needed: false,
    },
    Step {
        notice: Some("           ... waiting until the first nonce is 105 s old"),
        take: |trial| Box::pin(posting::late(trial)),
        probes: &probes::posts::LATE,
        is_needed: false,
    },
];

type Take = for<'a> fn(&'a mut Trial) -> BoxFuture<'a, Result<(), Trouble>>;

const fn step(take: Take, probes: &'static [Probe]) -> Step {
    Step { notice: None, take, probes, is_needed: false }
}

const fn needed(take: Take, probes: &'static [Probe]) -> Step {
    Step { notice: None, take, probes, is_needed: true }
}

const UNEXPECTED: &str = "which is not expected here";

fn get(route: &'static str, path: impl Into<String>) -> Request {
    Request::new(http::Method::GET, route, path)
}

/// The answer, if it is no refusal.
fn accepted(what: &'static str, answer: Answer) -> Result<Answer, Trouble> {
    let why = match answer.status {
        200..=299 => return Ok(answer),
        401 => "the token is not valid",
        403 => "the bot does not see the channel (View Channels)",
        404 => "the channel does not exist, or the bot is not in its server",
        _ => UNEXPECTED,
    };
    Err(Trouble::Refused(what, answer.status, why))
}

/// Finds out who the accounts are, and where the channel is.
async fn identify(trial: &mut Trial) -> Result<(), Trouble> {
    let me = trial.ask(Who::First, get("users/@me", "users/@me")).await?;
    trial.evidence.first = me.id().unwrap_or(0);
    let user_agent = trial.evidence.user_agent.insert(me);
    if !user_agent.is_success() {
        let why = match user_agent.status {
            401 => "the token is not valid",
            403 if user_agent.code() == Some(BAD_AGENT) => "its user agent is not accepted",
            _ => UNEXPECTED,
        };
        return Err(Trouble::Refused("the first request", user_agent.status, why));
    }
    let path = format!("channels/{}", trial.evidence.channel);
    let channel = trial.ask(Who::First, get("the channel", path.clone())).await?;
    let channel = accepted("a look at the channel", channel)?;
    let number = |name: &str| channel.body.get(name)?.as_str()?.parse().ok();
    trial.evidence.guild = number("guild_id").ok_or(Trouble::NotInGuild)?;
    trial.newest_before = number("last_message_id").unwrap_or(0);
    if trial.has_second() {
        let me = trial.ask(Who::Second, get("users/@me", "users/@me")).await?;
        let sees = trial.ask(Who::Second, get("the channel", path)).await?;
        trial.evidence.second = me.id().filter(|_| sees.is_success());
        if trial.evidence.second.is_none_or(|second| second == trial.evidence.first) {
            trial.evidence.second = None;
            trial.forget_second();
        }
    }
    let application = get("applications/@me", "applications/@me");
    let application = trial.ask(Who::First, application).await?;
    trial.evidence.application = Some(application);
    Ok(())
}

/// Asks for members.
async fn members(trial: &mut Trial) -> Result<(), Trouble> {
    let (guild, me) = (trial.evidence.guild, trial.evidence.first);
    let member = |id: u64| get("a member", format!("guilds/{guild}/members/{id}"));
    trial.evidence.members.own = Some(trial.ask(Who::First, member(me)).await?);
    // No account has the id of the guild.
    trial.evidence.members.non_member = Some(trial.ask(Who::First, member(guild)).await?);
    let list = get("the members", format!("guilds/{guild}/members?limit=1"));
    trial.evidence.members.list = Some(trial.ask(Who::First, list).await?);
    Ok(())
}
