//! Tells settings, inputs and effects in sentences: a failure is read by a person who has never seen the check.

use std::fmt::Display;

use dirigent_core::{
    AgentKey, Answer, Author, Config, Creation, DeadlineReason, Effect, Input, Message,
    MessageKind, Notice, Outcome, Refusal, ReminderPlace, RunId, Settlement, Tail, Verdict,
    WakeCause,
};

use super::walk::START;

/// Names the settings that are not the defaults.
pub(super) fn settings(config: &Config) -> String {
    let (defaults, ours) = (format!("{:?}", Config::default()), format!("{config:?}"));
    let pairs = defaults.split(", ").zip(ours.split(", "));
    let differing = pairs.filter(|(default, field)| default != field);
    let fields: Vec<&str> = differing
        .map(|(_, field)| field.trim_start_matches("Config { ").trim_end_matches(" }"))
        .collect();
    if fields.is_empty() {
        return "the defaults".to_owned();
    }
    format!("the defaults, but {}", fields.join(", "))
}

/// Tells an input.
#[expect(clippy::too_many_lines, reason = "a sentence for each input")]
pub(super) fn input(input: &Input) -> String {
    match input {
        Input::Create(Creation { mode, members, initiator }) => {
            let initiator = initiator.map_or(String::new(), |it| format!(", opened by {it}"));
            format!("the channel is created as {mode} with {}{initiator}", agents(members))
        }
        Input::SetMode(mode) => format!("an operator sets the mode to {mode}"),
        Input::Gate { agent: asking, run, latest } => {
            let asking =
                asking.map_or("an agent that is not registered".to_owned(), |it| it.to_string());
            let latest = latest.map_or(String::new(), |id| format!(", having read up to {id}"));
            format!("{asking} asks whether its {} may start{latest}", named(*run))
        }
        Input::RunEnded { agent, run, outcome } => {
            format!("the {} of {agent} ends: {}", named(*run), end(outcome))
        }
        Input::Receipt { agent, run, messages } => {
            let ids = listed(messages);
            format!(
                "the {} of {agent} is said to have posted {}",
                named(*run),
                or(ids, "no message")
            )
        }
        Input::Replied { agent, run, next } => {
            let next = next.map_or(String::new(), |next| format!(", and hands over to {next}"));
            format!(
                "the {} of {agent} has made its reply, which the host posts now{next}",
                named(*run)
            )
        }
        Input::Undelivered { agent, run, posted } => {
            let part = if *posted { "a part of it was posted" } else { "nothing of it was posted" };
            format!("the host gives up posting the reply of {agent}, {}: {part}", named(*run))
        }
        Input::Chat { away } => {
            if *away { "the chat no longer answers" } else { "the chat answers again" }.to_owned()
        }
        Input::TriggerAgain => {
            "the agent that has the floor is to be triggered once more".to_owned()
        }
        Input::Message(message) => said(message),
        Input::Addressed { message, agents: addressed } => {
            format!("{}, and addresses {}", said(message), agents(addressed))
        }
        Input::MessageEdited { id, author, tail } => {
            format!("{id} of {} is edited to {}", by(*author), quoted(tail))
        }
        Input::Members { ticket, agents: members } => {
            format!("the member list of {ticket} is {}", agents(members))
        }
        Input::MemberJoined(agent) => format!("{agent} joins the channel"),
        Input::MemberLeft(agent) => format!("{agent} leaves the channel"),
        Input::Settled { ticket, settlement } => {
            format!("the effect with {ticket} {}", settled(*settlement))
        }
        Input::Wake { first, cause } => {
            let first = first.map_or(String::new(), |it| format!(", beginning with {it}"));
            format!("{} wakes the channel{first}", waker(*cause))
        }
        Input::Conclude { by } => format!("{by} concludes the discussion"),
        Input::Archive => "an operator archives the channel".to_owned(),
        Input::Stop => "an operator stops the channel".to_owned(),
        Input::Deleted(message) => format!("{message} is deleted"),
        Input::Removed(agent) => format!("the host removes a message of {agent}"),
        Input::EditedToStop(message) => format!("a person edits {message} into a stop word"),
        Input::Hold => "an operator holds the channel".to_owned(),
        Input::Resume => "an operator resumes the channel".to_owned(),
        Input::Mute(agent) => format!("an operator mutes {agent}"),
        Input::Unmute(agent) => format!("an operator unmutes {agent}"),
        Input::MayNotWrite { agent, until } => {
            let until = until.map(|until| format!(" until {}", seconds(until)));
            format!("{agent} may not write{}", until.unwrap_or_default())
        }
        Input::MayWrite(agent) => format!("{agent} may write"),
        Input::SpeakNext(agent) => format!("an operator lets {agent} speak next"),
        Input::Finish => "an operator says that the work is finished".to_owned(),
        Input::Offline(agent) => format!("{agent} goes offline"),
        Input::Online(agent) => format!("{agent} comes online"),
        Input::Assign(agent) => format!("an operator assigns {agent}"),
        Input::Spent { cost } => format!("a cost of {cost} is spent"),
        Input::ResetBudget => "an operator resets the budget".to_owned(),
        Input::RunsLost { rerun } => {
            format!("all runs are lost{}", if *rerun { ", and are to run again" } else { "" })
        }
        Input::Reconfigure(config) => format!("the settings become {}", settings(config)),
        Input::Tick => "the clock ticks".to_owned(),
        _ => format!("{input:?}"),
    }
}

/// Tells an answer.
pub(super) fn answer(answer: &Result<Answer, Refusal>) -> String {
    match answer {
        Ok(Answer::Accepted) => "accepted".to_owned(),
        Ok(Answer::Verdict(Verdict::Allow { reason, turn, anchor })) => {
            let turn = turn.map_or(String::new(), |turn| format!(", {turn}"));
            let anchor = anchor.map_or(String::new(), |id| format!(", anchor {id}"));
            format!("the agent may run: {reason} ({}{turn}{anchor})", reason.as_str())
        }
        Ok(Answer::Verdict(Verdict::Deny { reason })) => {
            format!("the agent may not run: {reason} ({})", reason.as_str())
        }
        Err(refusal) => format!("refused: {refusal} ({})", refusal.as_str()),
    }
}

/// Tells effects in their order.
pub(super) fn effects<'a>(effects: impl IntoIterator<Item = &'a Effect>) -> String {
    let told: Vec<String> = effects.into_iter().map(effect).collect();
    or(told.join("; "), "no effect")
}

/// Tells one effect.
pub(super) fn effect(effect: &Effect) -> String {
    match effect {
        Effect::FetchMembers { ticket } => format!("read the member list ({ticket})"),
        Effect::Trigger { ticket, agent, turn, attempt } => {
            format!("trigger {agent} for {turn}, attempt {attempt} ({ticket})")
        }
        Effect::Delete { ticket, message } => {
            format!("delete the trigger {message} ({ticket})")
        }
        Effect::Poll { ticket, after } => {
            let after = after.map_or(String::new(), |id| format!(" after {id}"));
            format!("read the history{after} ({ticket})")
        }
        Effect::Notice { ticket, notice } => {
            format!("post the notice {} ({ticket})", notice_name(*notice))
        }
        Effect::Reminder { ticket, initiator, place } => {
            let place = match place {
                ReminderPlace::Discussion => "in the discussion",
                ReminderPlace::Callback => "in the callback channel",
            };
            format!("remind {initiator} {place} ({ticket})")
        }
        Effect::Inject { agent, turn, message } => {
            format!("show {message} to {agent}, which runs in {turn}")
        }
        Effect::Deliver { agent, turn, first, last } => {
            format!("hand {first} to {last} to {agent} with {turn}")
        }
        Effect::Consult { ticket, agent, turn, first, last } => format!(
            "ask the orchestrator about {first} to {last} while {agent} waits in {turn} \
             ({ticket})"
        ),
        Effect::CancelRun { agent, run, .. } => format!("cancel the {} of {agent}", named(*run)),
        Effect::Transition(change) if change.from == change.to => {
            format!("stays {} because of {}", change.to, change.cause)
        }
        Effect::Transition(change) => {
            format!("{} to {} because of {}", change.from, change.to, change.cause)
        }
    }
}

/// Tells what a deadline is for.
pub(super) const fn deadline(reason: DeadlineReason) -> &'static str {
    match reason {
        DeadlineReason::Start => "the triggered agent has not started",
        DeadlineReason::Run => "the run takes too long",
        DeadlineReason::Slow => "the run is slow",
        DeadlineReason::Consult => "the orchestrator has not answered",
        DeadlineReason::Delivery => "the reply was not seen in the channel",
        DeadlineReason::Quiet => "the agent has written nothing more",
        DeadlineReason::Poll => "the history is to be read again",
        DeadlineReason::Members => "the member list did not come",
        DeadlineReason::MembersRetry => "the member list is to be read again",
        DeadlineReason::Outage => "the chat has been away for too long",
        DeadlineReason::Reminder => "the discussion is idle",
        DeadlineReason::Permit => "the initiator's permit ends",
        DeadlineReason::Overdue => "the discussion is overdue",
        DeadlineReason::Cap => "an agent has turns of this hour again",
        DeadlineReason::Cleanup => "a trigger message is to be deleted",
        DeadlineReason::Forget => "an effect that nobody settled is forgotten",
        DeadlineReason::Settle => "the wait until people are quiet",
        DeadlineReason::MayWrite => "an agent may write again",
        _ => "another deadline",
    }
}

/// Tells a time as the seconds since the check began.
pub(super) fn seconds(now: dirigent_core::Timestamp) -> String {
    let (now, start) = (now.as_millis(), START.as_millis());
    let sign = if now < start { "-" } else { "" };
    let millis = now.abs_diff(start);
    format!("{sign}{}.{:03} s", millis / 1_000, millis % 1_000)
}

fn said(message: &Message) -> String {
    let Message { id, author, kind, tail, backfilled } = message;
    let kind = match kind {
        MessageKind::System => " (a system message)",
        MessageKind::StopWord => " (a stop word)",
        MessageKind::ResumeWord => " (a resume word)",
        MessageKind::Unasked => " (unasked)",
        MessageKind::OutOfTurn => " (out of turn)",
        MessageKind::Conversation | _ => "",
    };
    let late = if *backfilled { ", read from the history" } else { "" };
    format!("{} writes {id}{kind}: {}{late}", by(*author), quoted(tail))
}

fn by(author: Author) -> String {
    match author {
        Author::Human => "a person".to_owned(),
        Author::Agent(key) => key.to_string(),
        Author::Bot => "a bot that is no agent".to_owned(),
        Author::Moderator => "the moderator".to_owned(),
        _ => format!("{author:?}"),
    }
}

fn end(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Pass => "it has nothing to say".to_owned(),
        Outcome::Spoke { tail } => format!("its reply ends with {}", quoted(tail)),
        Outcome::Unfinished { tail } => {
            format!("its reply ends with {}, and it has more to say", quoted(tail))
        }
        Outcome::AwaitsHuman { tail } => {
            format!("its reply ends with {}, and it asks for a person", quoted(tail))
        }
        Outcome::Repeated => "it said what was said before".to_owned(),
        Outcome::Failed => "it failed".to_owned(),
        _ => format!("{outcome:?}"),
    }
}

fn settled(settlement: Settlement) -> String {
    match settlement {
        Settlement::Done { message } => {
            let id = message.map_or(String::new(), |id| format!(", as {id}"));
            format!("is done{id}")
        }
        Settlement::Failed { retry_at } => {
            let again = |at| format!(", and may be tried again at {}", seconds(at));
            format!("failed{}", retry_at.map_or(String::new(), again))
        }
        Settlement::Doubtful => "may have been done".to_owned(),
        Settlement::Dropped => "is dropped".to_owned(),
        _ => format!("{settlement:?}"),
    }
}

const fn waker(cause: WakeCause) -> &'static str {
    match cause {
        WakeCause::Operator => "an operator",
        WakeCause::Guide => "a discussion's guide",
        WakeCause::Result => "a discussion's result",
        WakeCause::Unheard => "a person's message that no agent has heard",
        _ => "something else",
    }
}

const fn notice_name(notice: Notice) -> &'static str {
    match notice {
        Notice::Archived => "\"archived\"",
        Notice::Closed => "\"closed\"",
        Notice::Ceiling => "\"ceiling reached\"",
        Notice::TimedOut { .. } => "\"timed out\"",
        Notice::Disconnected { .. } => "\"disconnected\"",
        Notice::Budget => "\"budget spent\"",
        Notice::Stopped { .. } => "\"stopped\"",
        Notice::Resumed { .. } => "\"resumed\"",
        Notice::ResumedIdle { .. } => "\"resumed, write a message\"",
        _ => "of another kind",
    }
}

fn quoted(tail: &Tail) -> String {
    let file = if tail.has_attachment() { " with a file" } else { "" };
    format!("\"{}\"{file}", tail.as_str())
}

fn named(run: Option<RunId>) -> String {
    run.map_or("run without a name".to_owned(), |run| run.to_string())
}

fn agents(keys: &[AgentKey]) -> String {
    match keys {
        [] => "no agent".to_owned(),
        [one] => one.to_string(),
        _ => listed(keys),
    }
}

fn listed(items: impl IntoIterator<Item = impl Display>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    items.join(", ")
}

fn or(text: String, instead: &str) -> String {
    if text.is_empty() { instead.to_owned() } else { text }
}
