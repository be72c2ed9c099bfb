//! Posting letters: again and again until they have arrived, and never twice.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{Effect, Input, MessageId, PhaseKind, Timestamp, WakeCause};
use tokio::sync::oneshot;

use crate::attempt::{Known, is_forgotten};
use crate::letter::{Letter, LetterKind};
use crate::room::{Room, RoomState, Work};
use crate::shared::Shared;
use crate::{
    ApiError, CallError, ChannelId, ChatMessage, ErrorKind, HistoryRequest, Mentions, Post,
};

/// The wait after a failed attempt; doubles up to [`RETRY_MAX`].
const RETRY: Duration = Duration::from_secs(1);
/// The longest wait between two attempts.
const RETRY_MAX: Duration = Duration::from_secs(600);

/// The letters of a channel that have not arrived yet.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// In the order in which they go out. Part of the record.
    pub(crate) letters: Vec<Letter>,
    /// When the first is tried again; `None`: it is under way, or it cannot arrive.
    pub(crate) due: Option<Timestamp>,
    /// How long was waited last.
    pub(crate) wait: Duration,
    /// The summary of a discussion that is being concluded.
    pub(crate) summary: Option<String>,
    /// Who wants to know whether the first attempt succeeded.
    pub(crate) tells: Vec<oneshot::Sender<()>>,
}

/// How one step with a letter went.
enum Step {
    /// It got further.
    Further(Letter),
    /// It has arrived.
    Arrived,
}

impl RoomState {
    /// Writes a letter, to be sent once it is stored.
    pub(crate) fn write_letter(&mut self, letter: Letter) {
        let outbox = &mut self.active().outbox;
        outbox.letters.push(letter);
        let is_first = outbox.letters.len() == 1;
        self.stored_machine = None;
        if is_first {
            self.work.push_back(Work::Letter);
        }
    }

    /// A discussion that was archived owes its callback channel a result, with or without a
    /// summary.
    pub(crate) fn owe_result(&mut self, room: &Room, shared: &Shared, now: Timestamp) {
        let Some(terms) = self.discussion.clone() else {
            return;
        };
        let summary = self.active().outbox.summary.take();
        let text = shared.settings.result(room.id, summary.as_deref());
        let kind = LetterKind::Result;
        self.write_letter(Letter::new(kind, room.id, terms.callback, now, &text));
    }

    /// A letter that waited long enough is tried again.
    pub(crate) fn retry_letter(&mut self, now: Timestamp) {
        let Some(active) = &mut self.active else {
            return;
        };
        if active.outbox.due.is_some_and(|due| due <= now) {
            active.outbox.due = None;
            self.work.push_back(Work::Letter);
        }
    }
}

/// Whether this tells that the channel was archived just now.
pub(crate) fn is_archiving(effect: &Effect) -> bool {
    effect.transition().is_some_and(|transition| {
        transition.to == PhaseKind::Archived && transition.from != PhaseKind::Archived
    })
}

impl Shared {
    /// Takes the first letter one step further. What came of the step is stored before the next.
    pub(crate) async fn send_letter(self: &Arc<Self>, room: &Arc<Room>) {
        let first = room.lock().active().outbox.letters.first().cloned();
        let Some(letter) = first else {
            return;
        };
        let kind = letter.kind;
        match self.step(room, letter).await {
            Ok(Step::Further(letter)) => room.lock().letter_went_on(letter),
            Ok(Step::Arrived) => self.close_letter(room, kind),
            Err(error) => {
                tracing::warn!(channel = %room.id, ?kind, %error, "a letter has not arrived yet");
                let mut state = room.lock();
                state.letter_failed(self.clock.now(), &error);
                room.settle_down(self, &mut state);
            }
        }
    }

    async fn step(self: &Arc<Self>, room: &Room, mut letter: Letter) -> Result<Step, ApiError> {
        let Some(part) = letter.next().cloned() else {
            if letter.kind == LetterKind::Result {
                self.wake_callback(room).await?;
            }
            return Ok(Step::Arrived);
        };
        let Some(behind) = letter.behind() else {
            letter.after = Some(self.newest_in(letter.to).await?.unwrap_or(MessageId::new(0)));
            letter.at = self.clock.now();
            return Ok(Step::Further(letter));
        };
        let own = self.registry.moderator().map(|user| (user, Some(behind)));
        if is_forgotten(letter.at, self.clock.now()) {
            // It is posted only if it is certain that it is not there.
            let known = Known { own, ..Known::default() };
            if let Some(id) = self.find_part(&letter, behind, known).await? {
                letter.posted(id, self.clock.now());
                return Ok(Step::Further(letter));
            }
            letter.at = self.clock.now();
        }
        let now = self.clock.now();
        let at = self.pacer.reserve(now, letter.to, None);
        if at > now {
            self.clock.sleep_until(at).await;
        }
        tracing::debug!(channel = %room.id, to = %letter.to, "a letter is posted");
        let post = Post {
            channel: letter.to,
            content: part.content,
            nonce: part.nonce,
            mentions: Mentions::Nobody,
            reply_to: None,
        };
        let known = Known { in_doubt: Some(letter.at), own };
        let posted = self.post(self.discord.as_ref(), post, known).await?;
        letter.posted(posted.id, self.clock.now());
        Ok(Step::Further(letter))
    }

    async fn newest_in(&self, channel: ChannelId) -> Result<Option<MessageId>, ApiError> {
        let request = HistoryRequest { channel, after: None, limit: 1 };
        let newest = self.repeat(|| self.discord.history(request)).await?;
        Ok(newest.iter().map(|message| message.id).max())
    }

    /// The letter's next message, if it stands in the channel already.
    async fn find_part(
        &self,
        letter: &Letter,
        behind: MessageId,
        known: Known,
    ) -> Result<Option<MessageId>, ApiError> {
        let Some(part) = letter.next() else {
            return Ok(None);
        };
        let (since, whole) = self.read_after(letter.to, Some(behind)).await;
        let is_it = |m: &&ChatMessage| known.is_in(m, &part.content, part.nonce.as_str());
        let found = since.iter().find(is_it).map(|message| message.id);
        if found.is_some() {
            return Ok(found);
        }
        // Whoever may not read a history is shown an empty one.
        let is_hidden = since.is_empty()
            && behind > MessageId::new(0)
            && self.newest_in(letter.to).await?.is_none();
        if is_hidden || !whole {
            return Err(ApiError::new(ErrorKind::NoAnswer)
                .with_source("the history cannot be read, and it is not certain what was posted"));
        }
        Ok(None)
    }

    /// The result was posted: the initiator goes on, where the callback channel keeps turns (D90). Done
    /// when that is stored: a kill in between wakes twice rather than never.
    async fn wake_callback(self: &Arc<Self>, room: &Room) -> Result<(), ApiError> {
        let (callback, initiator) = {
            let state = room.lock();
            let callback = state.discussion.as_ref().map(|terms| terms.callback);
            (callback, state.channel.view().initiator())
        };
        let Some(callback) = callback else {
            return Ok(());
        };
        let place = match self.room(callback).await {
            Ok(Some(place)) => place,
            Ok(None) => return Ok(()),
            Err(CallError::Failed(error)) => return Err(error),
            Err(error) => return Err(ApiError::new(ErrorKind::Store).with_source(error)),
        };
        let (tell, told) = oneshot::channel();
        let wake = Input::Wake { first: initiator, cause: WakeCause::Result };
        let woken = place.submit_with(self, &wake, |state, answer| {
            if answer.is_ok() {
                state.tells.push(tell);
            }
        });
        if let Err(refusal) = woken {
            tracing::debug!(channel = %callback, %refusal, "a result wakes nobody");
            return Ok(());
        }
        let stored = self.within(self.settings.call_deadline, told).await?;
        stored.map_err(|_| ApiError::new(ErrorKind::Store))
    }

    /// The first letter has arrived. The guide's arrival wakes the first speaker, in the same step.
    fn close_letter(&self, room: &Arc<Room>, kind: LetterKind) {
        let close = |state: &mut RoomState| {
            let outbox = &mut state.active().outbox;
            outbox.letters.remove(0);
            outbox.wait = Duration::ZERO;
            outbox.tells.clear();
            let is_last = outbox.letters.is_empty();
            state.stored_machine = None;
            if !is_last {
                state.work.push_back(Work::Letter);
            }
        };
        match kind {
            LetterKind::Guide => {
                let wake = Input::Wake { first: None, cause: WakeCause::Guide };
                // Refused with too few agents to keep turns for, and when it is over already.
                let _ = room.submit_with(self, &wake, |state, _| close(state));
            }
            LetterKind::Result => close(&mut room.lock()),
        }
    }
}

impl RoomState {
    fn letter_went_on(&mut self, letter: Letter) {
        let outbox = &mut self.active().outbox;
        outbox.wait = Duration::ZERO;
        if let Some(first) = outbox.letters.first_mut() {
            *first = letter;
        }
        self.stored_machine = None;
        self.work.push_back(Work::Letter);
    }

    /// It is tried again later, unless it can never arrive; then the next start tries once more.
    fn letter_failed(&mut self, now: Timestamp, error: &ApiError) {
        let outbox = &mut self.active().outbox;
        outbox.tells.clear();
        outbox.wait = (outbox.wait * 2).clamp(RETRY, RETRY_MAX);
        let hopeless = matches!(error.kind(), ErrorKind::Gone | ErrorKind::Invalid);
        let wait = error.retry_after().unwrap_or_default().max(outbox.wait);
        outbox.due = (!hopeless).then(|| now + wait);
    }
}
