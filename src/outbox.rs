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
    ApiError, CallError, Certainty, ChannelId, ChatMessage, ErrorKind, HistoryRequest, Mentions,
    Post,
};

/// The wait after a failed attempt; doubles up to [`RETRY_MAX`].
const RETRY: Duration = Duration::from_secs(1);
/// The longest wait between two attempts.
const RETRY_MAX: Duration = Duration::from_secs(600);
/// How many pages of a history are looked through in one attempt.
const PAGES_MAX: usize = 50;

/// The letters of a channel that have not arrived yet: at most one of each kind. None waits for
/// the other, since they may go to different channels.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: Vec<Waiting>,
    /// The summary of a discussion that is being concluded.
    pub(crate) summary: Option<String>,
    /// Who wants to know whether the first attempt at the result succeeded.
    pub(crate) tells: Vec<oneshot::Sender<()>>,
}

#[derive(Debug)]
struct Waiting {
    /// Part of the record.
    letter: Letter,
    /// When it is tried again; `None`: it is under way, or it cannot arrive.
    due: Option<Timestamp>,
    /// How long was waited last.
    wait: Duration,
    /// An attempt at its next message may have succeeded, in this process or before.
    in_doubt: bool,
}

impl Waiting {
    const fn new(letter: Letter) -> Self {
        Self { letter, due: None, wait: Duration::ZERO, in_doubt: false }
    }
}

impl Outbox {
    /// What an earlier process, or an earlier stay in memory, left.
    pub(crate) fn left(letters: Vec<Letter>) -> Self {
        let waiting = letters.into_iter().map(|letter| {
            let in_doubt = letter.tried;
            Waiting { in_doubt, ..Waiting::new(letter) }
        });
        Self { waiting: waiting.collect(), ..Self::default() }
    }

    /// The letters, as they are stored.
    pub(crate) fn letters(&self) -> impl Iterator<Item = &Letter> {
        self.waiting.iter().map(|waiting| &waiting.letter)
    }

    /// The letter of this kind, if it has not arrived.
    pub(crate) fn letter(&self, kind: LetterKind) -> Option<&Letter> {
        self.letters().find(|letter| letter.kind == kind)
    }

    /// When the next letter is tried again.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        self.waiting.iter().filter_map(|waiting| waiting.due).min()
    }

    fn waiting(&mut self, kind: LetterKind) -> Option<&mut Waiting> {
        self.waiting.iter_mut().find(|waiting| waiting.letter.kind == kind)
    }
}

/// How far one step took a letter.
enum Step {
    /// Not to its end yet.
    Further,
    /// It has arrived.
    Arrived,
}

impl RoomState {
    /// Writes a letter, to be sent once it is stored.
    pub(crate) fn write_letter(&mut self, letter: Letter) {
        self.work.push_back(Work::Letter(letter.kind));
        self.active().outbox.waiting.push(Waiting::new(letter));
        self.stored_machine = None;
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

    /// Whether the result of a concluded discussion is in its callback channel, as far as this
    /// process knows.
    pub(crate) fn is_result_posted(&self) -> bool {
        let outbox = self.active.as_ref().map(|active| &active.outbox);
        let result = outbox.and_then(|outbox| outbox.letter(LetterKind::Result));
        // In a room that was taken over there is nothing to be seen.
        !self.abandoned && result.is_none_or(|letter| letter.next().is_none())
    }

    /// Letters that waited long enough are tried again.
    pub(crate) fn retry_letters(&mut self, now: Timestamp) {
        let Some(active) = &mut self.active else {
            return;
        };
        for waiting in &mut active.outbox.waiting {
            if waiting.due.is_some_and(|due| due <= now) {
                waiting.due = None;
                self.work.push_back(Work::Letter(waiting.letter.kind));
            }
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
    /// Takes a letter one step further. What came of the step is stored before the next.
    pub(crate) async fn send_letter(self: &Arc<Self>, room: &Arc<Room>, kind: LetterKind) {
        let first =
            room.lock().active().outbox.waiting(kind).map(|w| (w.letter.clone(), w.in_doubt));
        let Some((mut letter, in_doubt)) = first else {
            return;
        };
        match self.step(room, &mut letter, in_doubt).await {
            Ok(Step::Further) => room.lock().letter_went_on(letter),
            Ok(Step::Arrived) => self.close_letter(room, kind),
            Err(error) => {
                tracing::warn!(channel = %room.id, ?kind, %error, "a letter has not arrived yet");
                let mut state = room.lock();
                state.letter_failed(letter, self.clock.now(), &error);
                room.settle_down(self, &mut state);
            }
        }
    }

    /// What was found out about the letter on the way is worth keeping even if the step fails.
    async fn step(
        self: &Arc<Self>,
        room: &Room,
        letter: &mut Letter,
        in_doubt: bool,
    ) -> Result<Step, ApiError> {
        let Some(part) = letter.next().cloned() else {
            if letter.kind == LetterKind::Result {
                self.wake_callback(room, letter.to).await?;
            }
            return Ok(Step::Arrived);
        };
        let Some(behind) = letter.behind() else {
            letter.after = Some(self.newest_in(letter.to).await?.unwrap_or(MessageId::new(0)));
            letter.at = self.clock.now();
            return Ok(Step::Further);
        };
        let own = self.registry.moderator().map(|user| (user, Some(behind)));
        if in_doubt && is_forgotten(letter.at, self.clock.now()) {
            // It is posted only if it is certain that it is not there.
            let known = Known { own, ..Known::default() };
            if let Some(id) = self.find_part(letter, behind, known).await? {
                letter.posted(id, self.clock.now());
                return Ok(Step::Further);
            }
            letter.at = self.clock.now();
        }
        if !letter.tried {
            // Stored before it is tried: who restarts knows whether there is a doubt.
            (letter.tried, letter.at) = (true, self.clock.now());
            return Ok(Step::Further);
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
        let known = Known { in_doubt: in_doubt.then_some(letter.at), own };
        let posted = self.post(self.discord.as_ref(), post, known).await?;
        letter.posted(posted.id, self.clock.now());
        Ok(Step::Further)
    }

    async fn newest_in(&self, channel: ChannelId) -> Result<Option<MessageId>, ApiError> {
        let request = HistoryRequest { channel, after: None, limit: 1 };
        let newest = self.repeat(|| self.discord.history(request)).await?;
        Ok(newest.iter().map(|message| message.id).max())
    }

    /// The letter's next message, if it stands in the channel already. What was looked through stays
    /// behind it, so that a long history is read in as many attempts as it takes.
    async fn find_part(
        &self,
        letter: &mut Letter,
        behind: MessageId,
        known: Known,
    ) -> Result<Option<MessageId>, ApiError> {
        let Some(part) = letter.next().cloned() else {
            return Ok(None);
        };
        let is_it = |m: &&ChatMessage| known.is_in(m, &part.content, part.nonce.as_str());
        let mut seen = behind;
        for _ in 0..PAGES_MAX {
            let (page, has_more) = self.read_page(letter.to, Some(seen)).await?;
            if let Some(message) = page.iter().find(is_it) {
                return Ok(Some(message.id));
            }
            let Some(last) = page.last() else {
                // Whoever may not read a history is shown an empty one. Only a discussion's own channel
                // was empty for certain.
                let was_empty = letter.kind == LetterKind::Guide && seen == MessageId::new(0);
                let is_certain = was_empty || self.discord.reads_history(letter.to) == Some(true);
                let is_hidden = !is_certain && self.newest_in(letter.to).await?.is_none();
                return if is_hidden { Err(unclear()) } else { Ok(None) };
            };
            seen = last.id;
            letter.after = Some(seen);
            if !has_more {
                return Ok(None);
            }
        }
        Err(unclear())
    }

    /// The result was posted: the initiator goes on, where the callback channel keeps turns (D90). Done
    /// when that is stored: a kill in between wakes twice rather than never.
    async fn wake_callback(
        self: &Arc<Self>,
        room: &Room,
        callback: ChannelId,
    ) -> Result<(), ApiError> {
        let initiator = room.lock().channel.view().initiator();
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

    /// The letter has arrived. The guide's arrival wakes the first speaker, in the same step.
    fn close_letter(&self, room: &Arc<Room>, kind: LetterKind) {
        match kind {
            LetterKind::Guide => {
                let wake = Input::Wake { first: None, cause: WakeCause::Guide };
                // Refused with too few agents to keep turns for, and when it is over already.
                let _ = room.submit_with(self, &wake, |state, _| state.letter_arrived(kind));
            }
            LetterKind::Result => room.lock().letter_arrived(kind),
        }
    }
}

/// Why a letter is not posted now.
fn unclear() -> ApiError {
    ApiError::new(ErrorKind::NoAnswer)
        .with_source("the history cannot be read, and it is not certain what was posted")
}

impl RoomState {
    fn letter_went_on(&mut self, letter: Letter) {
        self.work.push_back(Work::Letter(letter.kind));
        if let Some(waiting) = self.active().outbox.waiting(letter.kind) {
            if letter.behind() == waiting.letter.behind() {
                // About to be tried: the wait grows on if that fails.
                waiting.letter = letter;
            } else {
                *waiting = Waiting::new(letter);
            }
        }
        self.stored_machine = None;
    }

    fn letter_arrived(&mut self, kind: LetterKind) {
        let outbox = &mut self.active().outbox;
        outbox.waiting.retain(|waiting| waiting.letter.kind != kind);
        if kind == LetterKind::Result {
            outbox.tells.clear();
        }
        self.stored_machine = None;
    }

    /// It is tried again later, unless it can never arrive; then the next start tries once more.
    fn letter_failed(&mut self, letter: Letter, now: Timestamp, error: &ApiError) {
        let outbox = &mut self.active().outbox;
        if letter.kind == LetterKind::Result {
            outbox.tells.clear();
        }
        if let Some(waiting) = outbox.waiting(letter.kind) {
            waiting.letter = letter;
            waiting.in_doubt |= error.certainty() == Certainty::Unknown;
            waiting.letter.tried &= waiting.in_doubt;
            waiting.wait = (waiting.wait * 2).clamp(RETRY, RETRY_MAX);
            let wait = error.retry_after().unwrap_or_default().max(waiting.wait);
            let is_hopeless = matches!(error.kind(), ErrorKind::Gone | ErrorKind::Invalid);
            waiting.due = (!is_hopeless).then(|| now + wait);
            self.stored_machine = None;
        }
    }
}
