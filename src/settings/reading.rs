//! What a text means, of an agent or of a person.

use dirigent_core::text::{CompletionPolicy, HumanMarker, SilencePolicy};
use dirigent_core::{Outcome, Tail, text};

use crate::record::channel::ReplyEnd;

/// What a text means: whether an agent has nothing to say, whether it is done, and whether a person stops the channel.
///
/// ```
/// let reading = dirigent::settings::ReadingRules::default();
/// assert!(reading.skip_repetitions && reading.stop_words.contains(&"stop".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadingRules {
    /// What counts as silence. Default [`SilencePolicy::Tolerant`]: `NO_REPLY`, also in quotation marks or emphasis or with
    /// final punctuation.
    pub silence: SilencePolicy,
    /// What completes a turn: the end of its run (default), or a signal in a reply. A hosted reply
    /// is posted without the signal, unless the signal says otherwise.
    pub completion: CompletionPolicy,
    /// The mark at a reply's end with which an agent asks for a person: everybody waits until one writes.
    /// Default: there is none.
    pub human_marker: Option<HumanMarker>,
    /// Whether a hosted agent's reply is left out that says nothing new since a person last wrote: it counts as having nothing to add
    /// ([`Cause::Repeated`](crate::operate::Cause::Repeated)), and the agent learns of it. A copy of what this or another agent said is
    /// left out at once. What says the same in other words, thanks or agrees is left out when its agent has done that already and no reply has
    /// said anything new meanwhile. New are words that were not said, and numbers, letters, code, negations, directions and pictures of boards in
    /// another order; votes, questions and their answers are never left out. If a person asks for a song or another form in which words come
    /// back, a copy is left out only when its agent says the third one. How well that works is measured in `verify/evenings`.
    ///
    /// What an agent posts itself, through a gateway of its own, counts in the same way, by the text that its host reports or by its
    /// messages, but stays in the channel: the library does not see it before it is posted. Of a hosted reply the texts and addresses of its
    /// embeds are compared too, and the name, size and beginning of each file; what an agent posts itself with an embed or a file is not
    /// compared. Of what was said hashes are kept, never a text, in about 5 KB of a channel that talks. Default true.
    pub skip_repetitions: bool,
    /// If you set this, agents stay silent while people talk to each other: a person's message wakes no agent if it mentions
    /// none and is for another person, for example `<@bob> lunch?` or a reply to what Bob said. Agents read it with the next
    /// question. It resets no ceiling, because it asks no agent. Words that stop or resume the channel still act. A
    /// message for a bot wakes agents, as far as the chat tells who is one ([`ChatMessage::mentioned_bots`](crate::ChatMessage::mentioned_bots)).
    /// Default false.
    pub skip_talk_of_people: bool,
    /// A person's message that is one of these and nothing else stops the channel; see
    /// [`ReadingRules::is_stop_word`] for how it is read. Default `stop`, `停` and `停止`.
    pub stop_words: Vec<String>,
    /// A person's message that is one of these and nothing else resumes a channel that is stopped or
    /// held; elsewhere it is conversation. Default `resume`, `继续` and `恢复`.
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
    /// How a run ended whose text this is, by the policies of silence and completion and the mark.
    pub fn outcome(&self, text: &str) -> Outcome {
        match &self.human_marker {
            Some(marker) => marker.outcome(&self.completion, self.silence, text),
            None => self.completion.outcome(self.silence, text),
        }
    }

    /// The tail by which a text is recognised, reported or posted.
    pub(crate) fn tail(&self, text: &str) -> Tail {
        self.completion.tail(text)
    }

    /// What of a hosted agent's text is posted, and what becomes of its turn then; nothing when it has
    /// nothing to say.
    pub(crate) fn reply<'a>(&self, text: &'a str, has_more: bool) -> Option<(&'a str, ReplyEnd)> {
        let text::Reading { delivered, is_complete } = self.completion.read(self.silence, text);
        let asks = |mark: &HumanMarker| mark.asks(&self.completion, delivered);
        let end = match is_complete {
            _ if delivered.is_empty() && !has_more => return None,
            _ if self.human_marker.as_ref().is_some_and(asks) => ReplyEnd::AwaitsHuman,
            true => ReplyEnd::Finished,
            false => ReplyEnd::Unfinished,
        };
        Some((delivered, end))
    }
}
