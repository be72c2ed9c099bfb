//! How a bot is observed that runs without asking.

use std::time::Duration;

use dirigent_core::Outcome;
use dirigent_core::text::SilencePolicy;

/// How a bot takes turns that you do not change: it answers when it is mentioned, and runs without asking. Give it to
/// [`Builder::observe`](crate::host::Builder::observe).
///
/// When its turn comes, the moderator's trigger mentions it. Its first sign after that (a message, an edit, typing) begins its run.
/// The run ends once it is quiet: [`Confirmation::quiet_period`](crate::settings::Confirmation::quiet_period) after its last message,
/// and not while it types. A bot that gives no sign passes, but only after the history was read, because an event may have been
/// lost.
///
/// What it writes outside of its turn moves no turn. It counts towards the ceilings, and `/why` says how often it happened and
/// what to set at that bot ([`remedy`](Self::remedy)). Dirigent cannot hold such a bot back: what it has begun to write before a
/// stop is still posted.
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
    /// After how long without a sign the turn ends as a pass. It counts from the trigger, or from the last sign if that brought no
    /// message. Default 15 s.
    pub silent_after: Duration,
    /// For how long no trigger is posted for a turn that a person's message began which mentions the bot itself, because such a
    /// bot may answer the person at once. Zero if it answers only the moderator: then it is triggered at once. Default
    /// 5 s.
    pub answers_people_within: Duration,
    /// How long the trigger stays in the channel at least, so that a bot can react to it or answer it. Default 5 s.
    pub trigger_stays: Duration,
    /// Messages with which the bot passes, in any case; the whole message, without white space around it. So are those that
    /// [`ReadingRules::silence`](crate::settings::ReadingRules::silence) knows. The first of them is named in its trigger
    /// ([`Texts::pass_hint`](crate::settings::Texts::pass_hint)). Default `[[pass]]`.
    pub pass_words: Vec<String>,
    /// Messages with which the program around the bot says that a run failed; the whole message, or its beginning where the text ends
    /// with `*`. So are those that [`SilencePolicy::is_notice`](crate::settings::SilencePolicy::is_notice) knows. Such a turn counts as
    /// failed. Default: none.
    pub notices: Vec<String>,
    /// Whether the moderator deletes a pass word or a notice that the bot writes in its turn. It needs the permission to delete
    /// messages of others. Default: no.
    pub removes: bool,
    /// What to set at this bot so that it writes only in its turn, as a whole sentence. Default: to answer only the
    /// moderator's mentions.
    pub remedy: String,
}

/// How a run ends with a message that says nothing.
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
    /// For an agent of OpenClaw (2026.9) without a plugin: its notices, and the setting that keeps it to its turns. `silent_after` is
    /// 30 s, because its first run after a start takes long, and it is hardly ever silent.
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

    /// The same with a change: outside this crate it cannot be written with `..`.
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

    /// How the run ends with this message if the message says nothing else: a pass or a failure.
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
