//! The text that a model reads: the briefing, the channel's messages, and this turn's rounds of tools.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use dirigent::ports::Lines;
use dirigent::{ChatMessage, MessageId, Turn, UserId};

use crate::calls::ModelToolCall;
use crate::client::limits::Limits;
use crate::client::names::Names;
use crate::client::pictures::Pictures;
use crate::client::tokens::{OF_A_CALL, OF_A_MESSAGE, OF_AN_IMAGE, estimate};
use crate::message::{Image, ModelMessage};

/// The prompt of a turn. It grows with each round of tools.
pub(crate) struct Prompt {
    system: String,
    /// The messages of the channel, oldest first.
    said: Vec<Said>,
    rounds: Vec<Round>,
    me: UserId,
    /// The number of people's messages that this agent will never get ([`Turn::left_out`]).
    lost: usize,
    /// The messages that the prompt has or had.
    known: Vec<MessageId>,
    lines: Lines,
    /// The names that are known in this channel.
    pub(crate) names: Names,
}

/// A message of the channel, as the model reads it.
struct Said {
    id: MessageId,
    is_mine: bool,
    /// True if a person said it and the agent has not seen it before this turn.
    is_owed: bool,
    line: String,
    /// The pictures of the message.
    images: Vec<Image>,
    tokens: usize,
}

/// A round of tools: the model's calls, their answers, and what was said in the channel during it.
#[derive(Default)]
struct Round {
    text: String,
    calls: Vec<ModelToolCall>,
    /// The answer to each call, in the order of the calls.
    answers: Vec<String>,
    heard: Vec<String>,
    tokens: usize,
}

/// Sent if the channel has no message, or if the newest one is the agent's own. Many models answer only to another
/// speaker.
const NOTHING_SAID: &str = "(No message has been written yet.)";
const NOTHING_NEW: &str = "(No message has been written since. It is your turn.)";
/// Sent before the agent's own words if those are the first. Many models want another speaker to begin.
const EARLIER: &str = "(What was said before is left out.)";

impl Prompt {
    /// Creates the prompt at the beginning of a turn, from the transcript and from the messages that came with the
    /// turn. If the transcript cannot be read, it has only the latter.
    pub(crate) async fn of(turn: &Turn, persona: &str, limits: &Limits) -> Self {
        let messages = match turn.transcript(limits.messages.max(1)).await {
            Ok(messages) => messages,
            Err(error) => {
                tracing::debug!(channel = %turn.channel(), %error, "the transcript cannot be read");
                Vec::new()
            }
        };
        let mut prompt = Self::from_messages(turn, persona, &messages, limits);
        if limits.pictures > 0 {
            prompt.look_at_pictures(turn, &messages, limits).await;
        }
        prompt
    }

    /// Reads the pictures of the messages, newest first.
    async fn look_at_pictures(
        &mut self,
        turn: &Turn,
        transcript: &[Arc<ChatMessage>],
        limits: &Limits,
    ) {
        let mut pictures = Pictures::new(turn, limits);
        let (all, _) = joined(transcript, turn.missed());
        for said in self.said.iter_mut().rev().filter(|said| !said.is_mine) {
            let message = all.iter().find(|message| message.id == said.id);
            if let Some(message) = message.filter(|message| !message.attachments.is_empty()) {
                said.images = pictures.of(message).await;
                said.tokens += said.images.len() * OF_AN_IMAGE;
            }
        }
    }

    pub(crate) fn from_messages(
        turn: &Turn,
        persona: &str,
        messages: &[Arc<ChatMessage>],
        limits: &Limits,
    ) -> Self {
        let mut prompt = Self {
            system: system(turn, persona),
            said: Vec::new(),
            rounds: Vec::new(),
            me: turn.me().discord_user_id,
            lost: turn.left_out(),
            known: Vec::with_capacity(messages.len()),
            lines: turn.lines(),
            names: Names::of(turn),
        };
        let (all, owed) = joined(messages, turn.missed());
        let first = all.len().saturating_sub(limits.messages.max(1));
        for (at, message) in all.into_iter().enumerate() {
            let is_owed = owed.binary_search(&message.id).is_ok();
            if at >= first || is_owed {
                prompt.add(message, is_owed);
            }
        }
        prompt
    }

    fn add(&mut self, message: &ChatMessage, is_owed: bool) {
        if let Some((is_mine, line)) = self.line(message) {
            let tokens = estimate(&line) + OF_A_MESSAGE;
            self.said.push(Said {
                id: message.id,
                is_mine,
                is_owed,
                line,
                images: Vec::new(),
                tokens,
            });
        }
    }

    /// Adds a message that arrives during the turn. The next request contains it.
    pub(crate) fn hear(&mut self, message: &ChatMessage) {
        let Some((is_mine, line)) = self.line(message) else {
            return;
        };
        let tokens = estimate(&line) + OF_A_MESSAGE;
        if let Some(round) = self.rounds.last_mut() {
            round.tokens += tokens;
            round.heard.push(line);
        } else {
            let (id, is_owed) = (message.id, message.is_by_person());
            self.said.push(Said { id, is_mine, is_owed, line, images: Vec::new(), tokens });
        }
    }

    /// Adds a round of calls with their answers. `text` is what the model said beside the calls.
    pub(crate) fn add_round(
        &mut self,
        text: String,
        calls: Vec<ModelToolCall>,
        answers: Vec<String>,
    ) {
        let of_calls = |call: &ModelToolCall| {
            let kept = call.kept.as_ref().map_or(0, |kept| kept.bytes() / 4);
            estimate(&call.name)
                + estimate(&call.arguments_text())
                + kept
                + OF_A_CALL
                + OF_A_MESSAGE
        };
        let of_answers = |answer: &String| estimate(answer) + OF_A_MESSAGE;
        let tokens = estimate(&text)
            + calls.iter().map(of_calls).sum::<usize>()
            + answers.iter().map(of_answers).sum::<usize>();
        self.rounds.push(Round { text, calls, answers, heard: Vec::new(), tokens });
    }

    /// Returns the messages that fit, with `others` tokens reserved for other things.
    pub(crate) fn messages(&self, limits: &Limits, others: usize) -> Vec<ModelMessage<'_>> {
        let mut left = limits.prompt_tokens;
        left = left.saturating_sub(estimate(&self.system) + OF_A_MESSAGE + others);
        let rounds = fitting(self.rounds.iter().map(|round| round.tokens), &mut left);
        // Rounds come before words, because they tell the model more.
        let rounds = self.rounds.get(rounds..).unwrap_or_default();
        let (said, left_out) = self.said_within(&mut left);

        let mut messages = Vec::with_capacity(said.len() + 3 * rounds.len() + 2);
        messages.push(ModelMessage::system(self.system.as_str()));
        let left_out = left_out + self.lost;
        if left_out > 0 {
            messages.push(ModelMessage::user(left_out_line(left_out)));
        } else if said.first().is_some_and(|first| first.is_mine) {
            messages.push(ModelMessage::user(EARLIER));
        }
        for said in said.chunk_by(|one, next| one.is_mine == next.is_mine) {
            let is_mine = said.first().is_some_and(|first| first.is_mine);
            match messages.last() {
                Some(ModelMessage::User { .. }) if !is_mine => {
                    for said in said {
                        push(&mut messages, &said.line);
                        if let Some(ModelMessage::User { images, .. }) = messages.last_mut() {
                            images.to_mut().extend_from_slice(&said.images);
                        }
                    }
                }
                _ => messages.push(told(said)),
            }
        }
        match said.last() {
            None => messages.push(ModelMessage::user(NOTHING_SAID)),
            Some(last) if last.is_mine => messages.push(ModelMessage::user(NOTHING_NEW)),
            Some(_) => {}
        }
        for round in rounds {
            round.push(&mut messages);
        }
        messages
    }

    /// Returns the lines that fit, and how many of people's lines since the agent's last turn do not fit. Those lines
    /// come before all others, newest first, because no later turn brings them again. The newest line always fits.
    fn said_within(&self, left: &mut usize) -> (Vec<&Said>, usize) {
        let Some((newest, before)) = self.said.split_last() else {
            return (Vec::new(), 0);
        };
        *left = left.saturating_sub(newest.tokens);
        let owed = || before.iter().filter(|said| said.is_owed);
        if self.lost > 0 || owed().map(|said| said.tokens).sum::<usize>() > *left {
            *left = left.saturating_sub(estimate(&left_out_line(usize::MAX)) + OF_A_MESSAGE);
        }
        let (mut fits_owed, mut fits_other, mut left_out) = (*left, true, 0);
        let mut is_taken = vec![false; before.len()];
        for (said, is_taken) in
            before.iter().zip(&mut is_taken).rev().filter(|(said, _)| said.is_owed)
        {
            if left_out > 0 || said.tokens > fits_owed {
                left_out += 1;
            } else {
                fits_owed -= said.tokens;
                *is_taken = true;
            }
        }
        *left = fits_owed;
        for (said, is_taken) in
            before.iter().zip(&mut is_taken).rev().filter(|(said, _)| !said.is_owed)
        {
            fits_other &= said.tokens <= *left;
            if fits_other {
                *left -= said.tokens;
                *is_taken = true;
            }
        }
        let taken = before.iter().zip(is_taken).filter(|(_, is_taken)| *is_taken);
        (taken.map(|(said, _)| said).chain([newest]).collect(), left_out)
    }

    /// Returns the message as a line, and whether it is the agent's own. It returns `None` if the line is known already
    /// or says nothing.
    fn line(&mut self, message: &ChatMessage) -> Option<(bool, String)> {
        let words = message.content.trim();
        let says_nothing = words.is_empty() && !shows(message) && message.quoted.is_none();
        if says_nothing || self.known.contains(&message.id) {
            return None;
        }
        self.known.push(message.id);
        let is_mine = message.author == self.me;
        let line = match words {
            "" if is_mine => own_things(message),
            words if is_mine => words.to_owned(),
            _ => {
                self.names.add_author(message);
                self.names.add(self.lines.name(message));
                self.lines.line(message)
            }
        };
        Some((is_mine, line))
    }
}

/// Returns a text in place of the agent's own message if that has no words.
fn own_things(message: &ChatMessage) -> String {
    let shown: Vec<_> = message.shown.iter().map(ToString::to_string).collect();
    match message.attachments.is_empty() {
        true if shown.is_empty() => "(an embed)".to_owned(),
        true => shown.join(" "),
        false => "(a file)".to_owned(),
    }
}

/// Returns true if the message has more than words.
fn shows(message: &ChatMessage) -> bool {
    !message.attachments.is_empty() || message.embeds > 0 || !message.shown.is_empty()
}

impl Round {
    fn push<'a>(&'a self, messages: &mut Vec<ModelMessage<'a>>) {
        let (text, calls) = (self.text.as_str().into(), self.calls.as_slice().into());
        messages.push(ModelMessage::Assistant { text, calls });
        for (call, answer) in self.calls.iter().zip(&self.answers) {
            let (call, text) = (call.id.as_str().into(), answer.as_str().into());
            messages.push(ModelMessage::Tool { call, text });
        }
        self.heard.iter().for_each(|line| push(messages, line));
    }
}

/// Merges both lists, oldest first, and returns the ids of people's messages that the agent has not received before.
fn joined<'m>(
    transcript: &'m [Arc<ChatMessage>],
    missed: &'m [Arc<ChatMessage>],
) -> (Vec<&'m ChatMessage>, Vec<MessageId>) {
    let mut all: Vec<&ChatMessage> = transcript.iter().chain(missed).map(|one| &**one).collect();
    all.sort_by_key(|message| message.id);
    all.dedup_by_key(|message| message.id);
    let by_people = missed.iter().filter(|message| message.is_by_person());
    let mut owed: Vec<_> = by_people.map(|message| message.id).collect();
    owed.sort_unstable();
    (all, owed)
}

/// Tells the model that words are missing, so that it does not answer as if it knew them.
fn left_out_line(count: usize) -> String {
    format!("(Messages of people that are left out here: {count}.)")
}

/// Joins lines of one side into one message, because many models want the roles to alternate.
fn told<'a>(said: &[&'a Said]) -> ModelMessage<'a> {
    let is_mine = said.first().is_some_and(|first| first.is_mine);
    let text = match said {
        [one] => Cow::Borrowed(one.line.as_str()),
        _ => said.iter().map(|said| said.line.as_str()).collect::<Vec<_>>().join("\n").into(),
    };
    if is_mine {
        return ModelMessage::assistant(text);
    }
    let images = match said {
        [one] => Cow::Borrowed(one.images.as_slice()),
        _ => said.iter().flat_map(|said| &said.images).cloned().collect(),
    };
    ModelMessage::User { text, images }
}

/// Adds a line of another speaker, to the message before it if that is also of others.
fn push<'a>(messages: &mut Vec<ModelMessage<'a>>, line: &'a str) {
    match messages.last_mut() {
        Some(ModelMessage::User { text, .. }) => {
            let text = text.to_mut();
            text.push('\n');
            text.push_str(line);
        }
        _ => messages.push(ModelMessage::user(line)),
    }
}

/// Returns the index of the oldest entry that still fits into `left`. The newest entry always fits.
fn fitting(
    tokens: impl DoubleEndedIterator<Item = usize> + ExactSizeIterator,
    left: &mut usize,
) -> usize {
    let mut first = tokens.len();
    let newest = first.saturating_sub(1);
    for tokens in tokens.rev() {
        if first <= newest && tokens > *left {
            break;
        }
        *left = left.saturating_sub(tokens);
        first -= 1;
    }
    first
}

fn system(turn: &Turn, persona: &str) -> String {
    let mut text = String::new();
    let persona = persona.trim();
    if !persona.is_empty() {
        text.push_str(persona);
        text.push_str("\n\n");
    }
    text.push_str(&turn.briefing());
    if let Some(late) = turn.late_answer() {
        let why = match turn.post_failure() {
            None => "came too late and was not posted".to_owned(),
            Some(failure) => format!("was not posted: {failure}"),
        };
        let again = match turn.post_failure() {
            Some(failure) if failure.is_for_its_words() => {
                "If it still holds, say it in other words. It was"
            }
            _ => "Say it now if it still holds, or what of it does",
        };
        let _ = write!(text, "\nYour last answer {why}. {again}:\n");
        text.push_str(late);
    }
    text
}

#[cfg(test)]
mod tests;
