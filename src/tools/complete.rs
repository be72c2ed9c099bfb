//! `discussion-complete`.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::arguments::Arguments;
use super::fields::{Fields, needed};
use super::summary::{self, Summary};
use super::{Caller, ToolError, Tools};
use crate::host::discussion::DiscussionState;
use crate::host::operate::ResultPost;
use crate::{CallError, ChannelId};
use dirigent_core::Refusal;

/// The arguments of `discussion-complete`.
///
/// ```
/// use dirigent::tools::DiscussionComplete;
/// let call: DiscussionComplete = serde_json::from_str(
///     r#"{ "discussion-channel": "123456789012345678", "summary": "discussion-summary/plan.md" }"#,
/// )?;
/// assert_eq!(call.summary, "discussion-summary/plan.md");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_structs, reason = "the seed names exactly these arguments")]
pub struct DiscussionComplete {
    /// Id of the discussion's channel, as create-discussion-channel answered it.
    pub discussion_channel: ChannelId,
    /// Path of the summary, a file that you wrote into the folder discussion-summary of your
    /// workspace, for example discussion-summary/result.md.
    #[schemars(length(min = 1, max = 1_000))]
    pub summary: String,
}

/// A discussion that was completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscussionCompleted {
    /// The discussion's channel, closed now.
    pub discussion_channel: ChannelId,
    /// The path that the callback channel is told, from the workspace on: `discussion-summary/…`.
    pub summary: String,
    /// Whether it has been told: `posted`, `queued` until that is possible, or `nowhere` without a
    /// callback channel.
    #[serde(serialize_with = "post_name")]
    pub result: ResultPost,
    /// What the initiator should know.
    pub warnings: Vec<String>,
}

impl Tools {
    /// Completes a discussion of the caller's: it is archived, and its callback channel is told
    /// where the summary is.
    ///
    /// Looks for the file on the calling thread; it is not read.
    ///
    /// # Errors
    ///
    /// [`ToolError`], the first that applies in this order: no discussion, not the
    /// initiator's, over already, and then whatever is wrong with the path.
    pub async fn discussion_complete(
        &self,
        caller: &Caller,
        arguments: DiscussionComplete,
    ) -> Result<DiscussionCompleted, ToolError> {
        let DiscussionComplete { discussion_channel, summary } = arguments.checked()?;
        self.check_may_conclude(caller, discussion_channel).await?;
        let workspace = caller.workspace.as_deref().ok_or(ToolError::NoWorkspace)?;
        let Summary { path, is_empty } = summary::find(workspace, &summary)?;
        let concluded =
            self.dirigent.channel(discussion_channel).conclude(&caller.agent, Some(&path)).await;
        let result = concluded.map_err(not_concluded)?;
        let warning = is_empty.then(|| "The summary file is empty.".to_owned());
        let warnings = warning.into_iter().collect();
        Ok(DiscussionCompleted { discussion_channel, summary: path, result, warnings })
    }

    async fn check_may_conclude(
        &self,
        caller: &Caller,
        channel: ChannelId,
    ) -> Result<(), ToolError> {
        let discussion = self.dirigent.channel(channel).discussion().await?;
        let discussion = discussion.ok_or(ToolError::NotADiscussion)?;
        if discussion.initiator.as_ref() != Some(&caller.agent) {
            return Err(ToolError::NotTheInitiator);
        }
        match discussion.state {
            DiscussionState::Open => Ok(()),
            DiscussionState::Concluded => Err(ToolError::AlreadyConcluded),
            DiscussionState::Archived => Err(ToolError::Archived),
        }
    }
}

impl Arguments for DiscussionComplete {
    const TOOL: &'static str = "discussion-complete";

    fn read(fields: &Fields<'_>) -> Result<Self, ToolError> {
        Ok(Self {
            discussion_channel: needed("discussion-channel", fields.id("discussion-channel")?)?,
            summary: needed("summary", fields.text("summary")?)?,
        })
    }

    /// What is wrong with the path is said last.
    fn checked(self) -> Result<Self, ToolError> {
        Ok(self)
    }
}

/// The machine has the last word: since it was asked, another call or an operator may have ended
/// the discussion. What it is and whose it is never changes.
fn not_concluded(error: CallError) -> ToolError {
    let refusal = if let CallError::Refused(refusal) = &error { Some(*refusal) } else { None };
    match refusal {
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
