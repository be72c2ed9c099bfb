//! Settings of a bot that runs without asking, and that the library observes.

use std::time::Duration;

use dirigent_core::Outcome;
use dirigent_core::text::SilencePolicy;

/// Settings that let a bot take turns without a change to it. The bot answers when it is mentioned, and runs without
/// asking. Pass them to [`Builder::observe`](crate::host::Builder::observe).
///
/// When the bot's turn comes, the moderator's trigger mentions it. Its first sign after that (a message, an edit,
/// typing) begins its run. The run ends when the bot is quiet, which is
/// [`Confirmation::quiet_period`](crate::settings::Confirmation::quiet_period) after its last message, and not while it
/// types. A bot without a sign passes, but only after the library has read the history, because an event may have been
/// lost.
///
/// A message that the bot writes outside of its turn moves no turn. It counts towards the ceilings. `/why` says how
/// often this happened, and which setting of that bot prevents it ([`remedy`](Self::remedy)). Dirigent cannot hold such
/// a bot back, so a message that the bot began before a stop is still posted.
///
/// ```
/// use dirigent::settings::ObservedBot;
///
/// let helper = ObservedBot::default();
/// assert_eq!(helper.silent_after.as_secs(), 15);
/// assert_eq!(helper.pass_words, ["[[pass]]"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObservedBot {
    /// The time without a sign after which the turn ends as a pass. It counts from the trigger, or from the last sign
    /// if that brought no message. The default is 15 s.
    pub silent_after: Duration,
    /// The delay of the trigger if a person's message that mentions the bot began the turn, because such a bot may
    /// answer the person at once. Set it to zero if the bot answers only the moderator, so that the trigger comes at
    /// once. The default is 5 s.
    pub answers_people_within: Duration,
    /// The shortest time that the trigger stays in the channel, so that the bot can react to it or answer it. The
    /// default is 5 s.
    pub trigger_stays: Duration,
    /// The messages with which the bot passes, in upper or lower case. The whole message must match, without white
    /// space around it. Messages that [`ReadingRules::silence`](crate::settings::ReadingRules::silence) knows are
    /// passes, too. The trigger names the first of these words
    /// ([`Texts::pass_hint`](crate::settings::Texts::pass_hint)). The default is `[[pass]]`.
    pub pass_words: Vec<String>,
    /// The messages with which the program around the bot reports that a run failed. The whole message must match, or
    /// only its beginning if the text ends with `*`. Messages that
    /// [`SilencePolicy::is_notice`](crate::settings::SilencePolicy::is_notice) knows are such notices, too. The turn
    /// then counts as failed. The default is none.
    pub notices: Vec<String>,
    /// If `true`, the moderator deletes a pass word or a notice that the bot writes in its turn. It needs the
    /// permission to delete messages of others. The default is `false`.
    pub removes: bool,
    /// The setting of this bot that makes it write only in its turn, as a whole sentence. The default tells people to
    /// let it answer only the moderator's mentions.
    pub remedy: String,
}

/// The end of a run with a message that says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EmptyEnd {
    Pass,
    Failed,
}

impl From<EmptyEnd> for Outcome {
    fn from(end: EmptyEnd) -> Self {
        match end {
            EmptyEnd::Pass => Self::Pass,
            EmptyEnd::Failed => Self::Failed,
        }
    }
}

impl Default for ObservedBot {
    fn default() -> Self {
        Self {
            silent_after: Duration::from_secs(15),
            answers_people_within: Duration::from_secs(5),
            trigger_stays: Duration::from_secs(5),
            pass_words: vec!["[[pass]]".to_owned()],
            notices: Vec::new(),
            removes: false,
            remedy: "Let this bot answer only the mentions of the moderator's account.".to_owned(),
        }
    }
}

impl ObservedBot {
    /// Settings for an agent of OpenClaw (2026.9) without a plugin. They contain its notices, and the setting that
    /// keeps it to its turns. `silent_after` is 30 s, because its first run after a start takes long, and it is rarely
    /// silent.
    ///
    /// ```
    /// use dirigent::settings::ObservedBot;
    /// assert!(ObservedBot::open_claw().remedy.contains("users"));
    /// assert_eq!(ObservedBot::open_claw().silent_after.as_secs(), 30);
    /// ```
    #[must_use]
    pub fn open_claw() -> Self {
        let remedy = "In OpenClaw's configuration give this channel `requireMention: true` and, as `users`, the moderator's \
                      account alone.";
        let notices =
            ["⚠️ *", "⚙️ Agent was aborted.", "I'm continuing your interrupted request now*"];
        Self {
            notices: notices.map(str::to_owned).into(),
            silent_after: Duration::from_secs(30),
            answers_people_within: Duration::ZERO,
            remedy: remedy.to_owned(),
            ..Self::default()
        }
    }

    /// Changes the settings and returns them. You need it because outside of this crate you cannot write them with
    /// `..`.
    ///
    /// ```
    /// let eager = dirigent::settings::ObservedBot::default().with(|bot| bot.removes = true);
    /// assert!(eager.removes);
    /// ```
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Returns how the run ends with this message, a pass or a failure, if the message says nothing else.
    pub(crate) fn says_nothing(&self, silence: SilencePolicy, text: &str) -> Option<EmptyEnd> {
        let text = text.trim();
        let is_word = |word: &String| word.trim().to_lowercase() == text.to_lowercase();
        let is_notice = |notice: &String| match notice.strip_suffix('*') {
            Some(beginning) => text.starts_with(beginning),
            None => text == notice,
        };
        if self.notices.iter().any(is_notice) || silence.is_notice(text) {
            return Some(EmptyEnd::Failed);
        }
        let passes = self.pass_words.iter().any(is_word) || silence.is_silent(text);
        // A message without words may be a picture.
        (passes && !text.is_empty()).then_some(EmptyEnd::Pass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_word_or_a_notice_is_a_whole_message() {
        let bot = ObservedBot::open_claw();
        let ends = |text| bot.says_nothing(SilencePolicy::OpenClaw, text);
        for pass in ["[[pass]]", " [[PASS]]\n", "NO_REPLY"] {
            assert_eq!(ends(pass), Some(EmptyEnd::Pass), "{pass}");
        }
        for failed in [
            "⚠️ Agent couldn't generate a response. Try again.",
            "⚠️ API rate limit reached. Please try again later.",
            "⚙️ Agent was aborted.",
            "I'm continuing your interrupted request now (the gateway has just restarted).  Don't be concerned.",
        ] {
            assert_eq!(ends(failed), Some(EmptyEnd::Failed), "{failed}");
            assert!(ObservedBot::default().says_nothing(SilencePolicy::Tolerant, failed).is_none());
        }
        for said in ["I say [[pass]]", "⚙️ Agent was aborted. Why?", "", "Hello", "I'm continuing."]
        {
            assert_eq!(ends(said), None, "{said}");
        }
    }
}
