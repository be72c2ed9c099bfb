//! The meaning of a text of an agent or a person.

use dirigent_core::text::{CompletionPolicy, HumanMarker, SilencePolicy};
use dirigent_core::{Outcome, Tail, text};

use crate::record::channel::ReplyEnd;

/// Settings for the meaning of a text: whether an agent has nothing to say, whether it is done, and whether a person
/// stops the channel.
///
/// ```
/// let reading = dirigent::settings::ReadingRules::default();
/// assert!(reading.skip_repetitions && reading.stop_words.contains(&"stop".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadingRules {
    /// The texts that count as silence. The default is [`SilencePolicy::Tolerant`], which accepts `NO_REPLY`, also in
    /// quotation marks or emphasis, or with final punctuation.
    pub silence: SilencePolicy,
    /// The completion of a turn: the end of its run (the default), or a signal in a reply. A hosted reply is posted
    /// without the signal, unless the signal says otherwise.
    pub completion: CompletionPolicy,
    /// The mark at the end of a reply with which an agent asks for a person. All agents then wait until a person
    /// writes. The default is `None`.
    pub human_marker: Option<HumanMarker>,
    /// If `true`, a hosted agent's reply that says nothing new since a person last wrote is not posted. It counts as a
    /// pass ([`Cause::Repeated`](crate::operate::Cause::Repeated)), and the agent learns of it. The default is `true`.
    ///
    /// A copy of what this or another agent said is left out at once. A reply that says the same in other words, thanks
    /// or agrees is left out if its agent has already done so, and no reply since then said anything new. New words
    /// count as new. So do numbers, letters, code, negations, directions and pictures of boards in another order.
    /// Votes, questions and their answers are never left out.
    ///
    /// If a person asks for a song, or for another form in which words come back, a copy is left out only when its
    /// agent says it for the third time. `verify/evenings` measures how well this works.
    ///
    /// Messages that an agent posts itself, through a gateway of its own, count in the same way. They are compared by
    /// the text that the host reports or by the messages, but they stay in the channel, because the library sees them
    /// only after they are posted.
    ///
    /// For a hosted reply the library also compares the texts and addresses of its embeds, and the name, size and
    /// beginning of each file. Messages with an embed or a file that an agent posts itself are not compared. The
    /// library keeps only hashes of what was said, in about 5 KB for each channel that talks.
    pub skip_repetitions: bool,
    /// If `true`, agents stay silent while people talk to each other. A person's message then wakes no agent if it
    /// mentions none and is for another person, for example `<@bob> lunch?` or a reply to what Bob said. Agents read it
    /// with the next question.
    ///
    /// Such a message resets no ceiling, because it asks no agent. Words that stop or resume the channel still work. A
    /// message for a bot wakes agents, as far as the chat tells which accounts are bots
    /// ([`ChatMessage::mentioned_bots`](crate::ChatMessage::mentioned_bots)). The default is `false`.
    pub skip_talk_of_people: bool,
    /// The stop words. A person's message that is only one of these stops the channel. [`ReadingRules::is_stop_word`]
    /// says how it is read. The default is `stop`, `停` and `停止`.
    pub stop_words: Vec<String>,
    /// The resume words. A person's message that is only one of these resumes a channel that is stopped or on hold. In
    /// any other channel it is an ordinary message. The default is `resume`, `继续` and `恢复`.
    pub resume_words: Vec<String>,
}

impl Default for ReadingRules {
    fn default() -> Self {
        Self {
            silence: SilencePolicy::default(),
            completion: CompletionPolicy::default(),
            human_marker: None,
            skip_repetitions: true,
            skip_talk_of_people: false,
            stop_words: ["stop", "停", "停止"].map(str::to_owned).into(),
            resume_words: ["resume", "继续", "恢复"].map(str::to_owned).into(),
        }
    }
}

impl ReadingRules {
    /// Returns how a run with this text ended, by the policies of silence and completion, and by the mark.
    pub fn outcome(&self, text: &str) -> Outcome {
        match &self.human_marker {
            Some(marker) => marker.outcome(&self.completion, self.silence, text),
            None => self.completion.outcome(self.silence, text),
        }
    }

    /// Returns the tail by which a text is recognised, whether it is reported or posted.
    pub(crate) fn tail(&self, text: &str) -> Tail {
        self.completion.tail(text)
    }

    /// Returns the part of a hosted agent's text that is posted, and how the turn ends then. `None` if the agent has
    /// nothing to say.
    pub(crate) fn reply<'a>(&self, text: &'a str, has_more: bool) -> Option<(&'a str, ReplyEnd)> {
        let text::Reading { delivered, is_complete } = self.completion.read(self.silence, text);
        let asks = |mark: &HumanMarker| mark.asks(&self.completion, delivered);
        let end = match is_complete {
            // A reply of only embeds or files says something, too.
            _ if delivered.is_empty() && !has_more => return None,
            _ if self.human_marker.as_ref().is_some_and(asks) => ReplyEnd::AwaitsHuman,
            true => ReplyEnd::Finished,
            false => ReplyEnd::Unfinished,
        };
        Some((delivered, end))
    }
}
