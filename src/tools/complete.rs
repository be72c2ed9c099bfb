//! `discussion-complete`.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::arguments::Arguments;
use super::fields::{Fields, needed};
use super::summary::{self, Found};
use super::{Caller, ToolError, Tools};
use crate::ports::request::ChannelRequest;
use crate::text::plain::is_visible;
use crate::values::summary::{ResultPost, Summary};
use crate::{CallError, ChannelId};
use dirigent_core::Refusal;

const TEXT_CHARS_MAX: usize = 6_000;

/// The arguments of `discussion-complete`.
///
/// ```
/// use dirigent::tools::DiscussionComplete;
/// let call: DiscussionComplete = serde_json::from_str(
///     r#"{ "discussion-channel": "123456789012345678", "summary": "discussion-summary/plan.md" }"#,
/// )?;
/// assert_eq!(call.summary.as_deref(), Some("discussion-summary/plan.md"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_structs, reason = "a model gives these arguments and no others")]
pub struct DiscussionComplete {
    /// Id of the discussion's channel, as create-discussion-channel answered it.
    pub discussion_channel: ChannelId,
    /// Path of the summary, a file that you wrote into the folder discussion-summary of your
    /// workspace, for example discussion-summary/result.md. Give this or summary-text.
    #[schemars(length(min = 1, max = 1_000))]
    pub summary: Option<String>,
    /// The summary itself, where you cannot write files. Give this or summary.
    #[schemars(length(min = 1, max = 6_000))]
    pub summary_text: Option<String>,
}

/// A discussion that was completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscussionCompleted {
    /// The discussion's channel, which is now closed.
    pub discussion_channel: ChannelId,
    /// The path that is posted in the callback channel, relative to the workspace: `discussion-summary/…`. `None` if
    /// the agent gave the summary itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The state of the result: `posted`, `queued` until it can be posted, or `nowhere` without a callback channel.
    #[serde(serialize_with = "post_name")]
    pub result: ResultPost,
    /// Warnings for the initiator.
    pub warnings: Vec<String>,
}

impl Tools {
    /// Completes a discussion of the caller. The discussion is archived, and the summary, or its path, is posted in its
    /// callback channel.
    ///
    /// The call looks up the file on the calling thread, but does not read it.
    ///
    /// # Errors
    ///
    /// Fails with the first [`ToolError`] that applies, in this order: the channel is no discussion, the caller is not
    /// its initiator, it is over already, and then an error of the summary.
    pub async fn discussion_complete(
        &self,
        caller: &Caller,
        arguments: DiscussionComplete,
    ) -> Result<DiscussionCompleted, ToolError> {
        let DiscussionComplete { discussion_channel, summary, summary_text } =
            arguments.checked()?;
        // It comes before the file, because a discussion that is over needs no corrected path.
        self.check_may_conclude(caller, discussion_channel).await?;
        let found = summary.map(|path| found(caller, &path)).transpose()?;
        let summary = match (&found, &summary_text) {
            (Some(found), None) => Summary::Path(found.path.clone()),
            (None, Some(text)) => Summary::Text(sound_text(text)?.to_owned()),
            (Some(_), Some(_)) => return Err(ToolError::TwoSummaries),
            (None, None) => return Err(ToolError::MissingArgument { argument: "summary" }),
        };
        let channel = self.dirigent.channel(discussion_channel);
        let concluded = channel.conclude(&caller.agent, Some(summary)).await;
        let result = concluded.map_err(not_concluded)?;
        let is_empty = found.as_ref().is_some_and(|found| found.is_empty);
        let warning = is_empty.then(|| "The summary file is empty.".to_owned());
        let warnings = warning.into_iter().collect();
        let summary = found.map(|found| found.path);
        Ok(DiscussionCompleted { discussion_channel, summary, result, warnings })
    }

    async fn check_may_conclude(
        &self,
        caller: &Caller,
        channel: ChannelId,
    ) -> Result<(), ToolError> {
        let asked = ChannelRequest::MayConclude { by: caller.agent.clone() };
        let answer = self.dirigent.channel(channel).request(&asked).await;
        answer.map(|_| ()).map_err(not_concluded)
    }
}

impl Arguments for DiscussionComplete {
    const TOOL: &'static str = "discussion-complete";

    fn read(fields: &Fields<'_>) -> Result<Self, ToolError> {
        Ok(Self {
            discussion_channel: needed("discussion-channel", fields.id("discussion-channel")?)?,
            summary: fields.text("summary")?,
            summary_text: fields.text("summary-text")?,
        })
    }

    /// Changes nothing here, because an error of the summary comes last.
    fn checked(self) -> Result<Self, ToolError> {
        Ok(self)
    }
}

fn found(caller: &Caller, path: &str) -> Result<Found, ToolError> {
    let workspace = caller.workspace.as_deref().ok_or(ToolError::NoWorkspace)?;
    summary::find(workspace, path)
}

/// Returns the summary itself, if it has a visible text and is not too long.
fn sound_text(text: &str) -> Result<&str, ToolError> {
    let is_short = text.chars().nth(TEXT_CHARS_MAX).is_none();
    if is_short && is_visible(text) { Ok(text) } else { Err(ToolError::SummaryText) }
}

/// Converts the machine's refusal. Another call or an operator may have ended the discussion since the check, so the
/// machine decides. Two things never change: whether the channel is a discussion, and who its initiator is.
fn not_concluded(error: CallError) -> ToolError {
    let refusal = if let CallError::Refused(refusal) = &error { Some(*refusal) } else { None };
    match refusal {
        Some(Refusal::NotADiscussion) => ToolError::NotADiscussion,
        Some(Refusal::NotTheInitiator) => ToolError::NotTheInitiator,
        Some(Refusal::AlreadyConcluded) => ToolError::AlreadyConcluded,
        Some(Refusal::Archived) => ToolError::Archived,
        _ => error.into(),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn post_name<S: Serializer>(post: &ResultPost, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match post {
        ResultPost::Posted => "posted",
        ResultPost::Queued => "queued",
        ResultPost::Nowhere => "nowhere",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On several threads the machine may be told between the check and the conclusion.
    #[test]
    fn who_comes_too_late_by_a_moment_is_told_the_same_as_who_comes_much_too_late() {
        let code = |refusal| not_concluded(CallError::Refused(refusal)).code();
        assert_eq!(code(Refusal::AlreadyConcluded), "already-concluded");
        assert_eq!(code(Refusal::Archived), "archived");
        assert_eq!(code(Refusal::Stopped), "channel");
        assert_eq!(not_concluded(CallError::NotRunning).code(), "not-running");
    }
}
