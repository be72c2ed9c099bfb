//! The texts of the moderator's messages.

use dirigent_core::Notice;
use dirigent_core::text::IDLE_REMINDER;

use crate::text::plain::{is_visible, literal};
use crate::values::summary::Summary;

/// The texts of all the moderator's messages. You can replace each of them.
///
/// ```
/// let texts = dirigent::settings::Texts::default();
/// assert_eq!(texts.trigger_template, "<@{discordUserId}>{identifier}");
/// assert_eq!(texts.trigger_identifier, "➡️");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Texts {
    /// The reminder in a discussion in which no agent has anything to say.
    pub idle_reminder: String,
    /// The reminder in a discussion whose agents have talked as long as they may without a person. The default is
    /// [`CEILING_REMINDER`](Self::CEILING_REMINDER).
    pub ceiling_reminder: String,
    /// The notice in an archived channel.
    pub archived_notice: String,
    /// The notice in a concluded discussion.
    pub closed_notice: String,
    /// The notice at a ceiling.
    pub ceiling_notice: String,
    /// The notice when an agent's turn timed out. `{agent}` is the agent's name for people, or its id if it is no
    /// longer registered. It is plain text that mentions no account.
    pub timeout_notice: String,
    /// The notice when an agent went offline. `{agent}` is the same name as in `timeout_notice`.
    pub disconnect_notice: String,
    /// The notice when a budget is spent.
    pub budget_notice: String,
    /// The notice when a person or an operator stopped the channel.
    pub stopped_notice: String,
    /// The notice when a stop or a hold was ended, and the agents go on.
    pub resumed_notice: String,
    /// The notice when a stop or a hold was ended and the agents have no work left, for example because each of them
    /// had finished. It says what is needed.
    pub resumed_idle_notice: String,
    /// The text at the end of a reply that is not posted completely, as far as one message takes it. Leave it empty for
    /// no such text.
    pub cut_notice: String,
    /// An addition to the trigger message for an agent whose newest reply repeated what was said. Leave it empty for no
    /// addition.
    pub repetition_hint: String,
    /// An addition to the trigger message for an observed agent ([`ObservedBot`](crate::settings::ObservedBot)).
    /// `{passWord}` is the first of its pass words. Leave it empty for no addition.
    pub pass_hint: String,
    /// The trigger message. `{discordUserId}` is the agent's account, and `{identifier}` is the next setting.
    pub trigger_template: String,
    /// The replacement for `{identifier}`. The default is `➡️`.
    pub trigger_identifier: String,
    /// The result of a discussion. `{discussionChannel}` is its channel. `{summary}` is the path that the initiator
    /// gave, as plain text, with a backslash before each character that Discord would read as Markdown, a mention or a
    /// link. Put no backticks around it.
    pub result_template: String,
    /// The result of a discussion if the initiator gave the summary itself. `{summary}` is its text without changes. It
    /// pings no account.
    pub result_text_template: String,
    /// The result of a discussion that ended without a summary. It has the same field `{discussionChannel}`.
    pub unfinished_template: String,
    /// The result of a discussion that its initiator did not conclude after the reminder. It has the same field
    /// `{discussionChannel}`.
    pub overdue_template: String,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            idle_reminder: IDLE_REMINDER.to_owned(),
            ceiling_reminder: Self::CEILING_REMINDER.to_owned(),
            archived_notice: Notice::Archived.text().to_owned(),
            closed_notice: Notice::Closed.text().to_owned(),
            ceiling_notice: Notice::Ceiling.text().to_owned(),
            timeout_notice: Self::TIMEOUT_NOTICE.to_owned(),
            disconnect_notice: Self::DISCONNECT_NOTICE.to_owned(),
            budget_notice: Notice::Budget.text().to_owned(),
            stopped_notice: Self::STOPPED_NOTICE.to_owned(),
            resumed_notice: Self::RESUMED_NOTICE.to_owned(),
            resumed_idle_notice: Self::RESUMED_IDLE_NOTICE.to_owned(),
            cut_notice: Self::CUT_NOTICE.to_owned(),
            repetition_hint: Self::REPETITION_HINT.to_owned(),
            pass_hint: Self::PASS_HINT.to_owned(),
            trigger_template: "<@{discordUserId}>{identifier}".to_owned(),
            trigger_identifier: "➡️".to_owned(),
            result_template: "Discussion <#{discussionChannel}> is concluded. Summary: {summary}"
                .to_owned(),
            result_text_template:
                "Discussion <#{discussionChannel}> is concluded. Summary:\n{summary}".into(),
            unfinished_template: "Discussion <#{discussionChannel}> was closed without a summary."
                .to_owned(),
            overdue_template: "Discussion <#{discussionChannel}> was closed without a summary: \
                                   its initiator did not conclude it in time."
                .to_owned(),
        }
    }
}

impl Texts {
    /// The default reminder in a discussion that has reached a ceiling.
    pub const CEILING_REMINDER: &str = "The agents have talked as long as they may without a person. \
                                        Please summarize and call discussion-complete.";
    /// The default notice when an agent's turn timed out.
    pub const TIMEOUT_NOTICE: &str = "⏱️ {agent} turn timed out, moving to next agent";
    /// The default notice when an agent went offline.
    pub const DISCONNECT_NOTICE: &str = "⚠️ {agent} disconnected";
    /// The default text at the end of a reply that is not posted completely.
    pub const CUT_NOTICE: &str = "✂️ The rest of this reply was too long and was not posted.";
    /// The default addition to a trigger message for an agent that repeated what was said.
    pub const REPETITION_HINT: &str =
        "Your newest message repeated what was said: say something new, or nothing.";
    /// The default addition to a trigger message for an observed agent.
    pub const PASS_HINT: &str = "If you have nothing to add, answer only {passWord}";
    /// The default notice when the channel was stopped.
    pub const STOPPED_NOTICE: &str = "⏹️ Stopped. Write \"resume\" to go on.";
    /// The default notice when a stop or a hold was ended, and the agents go on.
    pub const RESUMED_NOTICE: &str = "▶️ Resumed.";
    /// The default notice when a stop or a hold was ended and the agents have no work left.
    pub const RESUMED_IDLE_NOTICE: &str = "▶️ Resumed. Write a message to go on.";

    /// Writes the trigger message for an account.
    pub(crate) fn trigger(&self, user: crate::UserId) -> String {
        self.trigger_template
            .replace("{discordUserId}", &user.to_string())
            .replace("{identifier}", &self.trigger_identifier)
    }

    /// Writes the addition to an observed agent's trigger that says how to pass.
    pub(crate) fn hint_to_pass(&self, word: &str) -> String {
        self.pass_hint.replace("{passWord}", word)
    }

    /// Writes the result message for the callback channel of a discussion.
    pub(crate) fn result(&self, discussion: crate::ChannelId, summary: Option<&Summary>) -> String {
        let (template, summary) = match summary {
            Some(Summary::Path(path)) => (&self.result_template, literal(path)),
            Some(Summary::Text(text)) if is_visible(text) => {
                (&self.result_text_template, text.trim().to_owned())
            }
            Some(Summary::Text(_)) | None => (&self.unfinished_template, String::new()),
        };
        template
            .replace("{discussionChannel}", &discussion.to_string())
            .replace("{summary}", &summary)
    }

    /// Writes the message for the callback channel of a discussion that was not concluded in time.
    pub(crate) fn overdue_result(&self, discussion: crate::ChannelId) -> String {
        self.overdue_template.replace("{discussionChannel}", &discussion.to_string())
    }
}
