//! The end of a scene.

use crate::event::CloseReason;
use crate::judge::{Judgement, SpokenLine};
use crate::machine::Machine;
use crate::machine::effect::{AbortCause, SceneEffect};
use crate::machine::stage::{AwaitedAnswer, Next, Task};

/// The state of the end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ending {
    /// True after the wind-down prompt.
    pub(super) is_nudged: bool,
    /// The number of speeches that may still follow a natural close.
    replies_left: Option<u32>,
    closed: Option<CloseReason>,
    pub(super) cause: Option<AbortCause>,
}

impl Ending {
    pub(super) const fn closed(&self) -> Option<CloseReason> {
        self.closed
    }

    /// Returns true if a speech has closed the scene, so that only replies follow.
    pub(super) const fn is_closing(&self) -> bool {
        self.replies_left.is_some()
    }

    /// Returns the reason of a natural close. After the wind-down prompt that prompt is the cause.
    const fn natural_reason(&self) -> CloseReason {
        if self.is_nudged { CloseReason::SoftCap } else { CloseReason::Natural }
    }

    /// Returns the reason of a scene in which no turn is left.
    pub(super) const fn reason_at_ceiling(&self) -> CloseReason {
        if self.is_closing() { self.natural_reason() } else { CloseReason::HardCap }
    }
}

impl Machine {
    /// Ends the scene after a speech that was routed, or goes on.
    pub(super) fn end_or_go_on(
        &mut self,
        line: SpokenLine,
        is_close: bool,
        effects: &mut Vec<SceneEffect>,
    ) {
        if let Some(left) = &mut self.ending.replies_left {
            *left = left.saturating_sub(1);
        } else if is_close {
            self.ending.replies_left = Some(self.plan.closing_replies);
        } else {
            self.stage = AwaitedAnswer::Judging;
            return effects.push(SceneEffect::Judge(line));
        }
        self.pass_on(effects);
    }

    pub(super) fn on_judged(&mut self, judgement: Judgement, effects: &mut Vec<SceneEffect>) {
        if judgement == Judgement::Ended {
            self.ending.replies_left = Some(self.plan.closing_replies);
        }
        self.pass_on(effects);
    }

    fn pass_on(&mut self, effects: &mut Vec<SceneEffect>) {
        if self.ending.replies_left == Some(0) {
            return self.close(self.ending.natural_reason(), effects);
        }
        let granted = self.floor.pass_on(self.time.now());
        self.direct(granted, effects);
    }

    /// Ends the scene. All characters present write their journals.
    pub(super) fn close(&mut self, reason: CloseReason, effects: &mut Vec<SceneEffect>) {
        self.ending.closed = Some(reason);
        self.time.begin();
        effects.push(self.events().close(reason));
        let present: Vec<Task> = self.seats.present().map(Task::Leave).collect();
        self.tasks.extend(present);
        self.next = Next::Finish;
        self.stage = AwaitedAnswer::Finished;
        self.go_on(effects);
    }

    /// Aborts the scene. No actor is asked again.
    pub(super) fn abort(&mut self, cause: AbortCause, effects: &mut Vec<SceneEffect>) {
        self.ending.cause = Some(cause);
        if self.ending.closed.is_none() {
            let is_late = cause == AbortCause::TimedOut;
            let reason = if is_late { CloseReason::TimedOut } else { CloseReason::Aborted };
            self.ending.closed = Some(reason);
            self.time.begin();
            effects.push(self.events().close(reason));
        }
        self.tasks.clear();
        self.stage = AwaitedAnswer::Finished;
        effects.push(SceneEffect::Finish);
    }
}
