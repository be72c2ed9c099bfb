//! Renders an effect as the moderator's message: its place, its text and the accounts that it may ping.

use dirigent_core::{AgentKey, Effect, MessageId, Notice, ReminderPlace};

use super::context::Context;
use super::turns::Turns;
use crate::ChannelId;
use crate::ports::discord::Mentions;
use crate::record::discussion::Discussion;
use crate::text::plain::{NAME_CHARS_MAX, literal, shown};
use crate::text::split::{first_message, fits};

/// A post of the moderator, without its nonce.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) place: ChannelId,
    pub(super) content: String,
    pub(super) mentions: Mentions,
    /// The agent that it counts for in the pace of triggers.
    pub(super) paced: Option<AgentKey>,
    pub(super) reply_to: Option<MessageId>,
}

/// Returns the post for this effect, cut to one message of the chat. `None` if its agent no longer has an account.
/// `terms` are the terms of the discussion.
pub(super) fn words_for(
    cx: &Context<'_>,
    turns: &Turns,
    terms: Option<&Discussion>,
    effect: &Effect,
) -> Option<Words> {
    let (here, longest) = (turns.channel, cx.chat.longest_message());
    match *effect {
        Effect::Trigger { agent, .. } => {
            let user = cx.directory.user(agent)?;
            // The mention wakes the agent, so a text that does not fit is left out and not cut.
            let whole = Some(cx.settings.texts.trigger(user)).filter(|it| fits(it, longest));
            let content = whole.unwrap_or_else(|| format!("<@{user}>"));
            let (mentions, paced) = (Mentions::User(user), Some(agent));
            Some(Words { place: here, content, mentions, paced, reply_to: None })
        }
        Effect::Notice { notice, .. } => {
            let (content, reply_to) = notice_words(cx, notice);
            let content = first_message(content, longest);
            let (mentions, paced) = (Mentions::None, None);
            Some(Words { place: here, content, mentions, paced, reply_to })
        }
        Effect::Reminder { initiator, place, .. } => {
            let place = match place {
                ReminderPlace::Discussion => here,
                ReminderPlace::Callback => terms.map_or(here, |terms| terms.callback),
            };
            let words = reminder_words(cx, turns, initiator, place);
            Some(Words { content: first_message(words.content, longest), ..words })
        }
        Effect::FetchMembers { .. }
        | Effect::Delete { .. }
        | Effect::Poll { .. }
        | Effect::Inject { .. }
        | Effect::Deliver { .. }
        | Effect::Consult { .. }
        | Effect::CancelRun { .. }
        | Effect::Transition(_) => None,
    }
}

fn reminder_words(cx: &Context<'_>, turns: &Turns, initiator: AgentKey, place: ChannelId) -> Words {
    let user = cx.directory.user(initiator);
    let settings = cx.settings;
    let is_at_ceiling = turns.view().is_at_ceiling();
    let words = if is_at_ceiling {
        &settings.texts.ceiling_reminder
    } else {
        &settings.texts.idle_reminder
    };
    // The initiator may have left. The reminder is then for everyone in the channel.
    let content = user.map_or_else(|| words.clone(), |user| format!("<@{user}> {words}"));
    let mentions = user.map_or(Mentions::None, Mentions::User);
    Words { place, content, mentions, paced: None, reply_to: None }
}

fn notice_words(cx: &Context<'_>, notice: Notice) -> (String, Option<MessageId>) {
    let settings = cx.settings;
    let about = |words: &str, agent| {
        // An agent's id is the host's choice, and must not become Markdown or a ping.
        let name = cx.directory.display_name(agent).map_or("an agent", |name| &**name);
        words.replace("{agent}", &literal(&shown(name, NAME_CHARS_MAX)))
    };
    let words = match notice {
        Notice::Closed => settings.texts.closed_notice.clone(),
        Notice::Ceiling => settings.texts.ceiling_notice.clone(),
        Notice::Budget => settings.texts.budget_notice.clone(),
        Notice::TimedOut { agent } => about(&settings.texts.timeout_notice, agent),
        Notice::Disconnected { agent } => about(&settings.texts.disconnect_notice, agent),
        Notice::Stopped { message } => {
            return (settings.texts.stopped_notice.clone(), Some(message));
        }
        Notice::Resumed { message } => {
            return (settings.texts.resumed_notice.clone(), Some(message));
        }
        Notice::ResumedIdle { message } => {
            return (settings.texts.resumed_idle_notice.clone(), Some(message));
        }
        Notice::Archived | _ => settings.texts.archived_notice.clone(),
    };
    (words, None)
}
