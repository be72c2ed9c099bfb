//! What can be done on a stage, and letting time pass.

use std::sync::PoisonError;
use std::time::Duration;

use dirigent::host::RunError;
use dirigent::operate::Status;
use dirigent::ports::Timestamp;
use dirigent::snapshot::PhaseKind;
use dirigent::{CallError, ChannelId, ChatMessage, Clock, Dirigent, MessageId, Mode};

use super::{Begun, Stage};

/// How long a call may take before the stage takes it for lost.
const CALL_MAX: Duration = Duration::from_secs(120);
/// How long a room may take to come to rest.
const REST_MAX: Duration = Duration::from_secs(3_600 * 3);

impl Stage {
    /// How the driver ended; none while it runs. Taken out.
    pub fn take_end(&self) -> Option<Result<(), RunError>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Lets everything happen that can happen without time passing. A killed process is started
    /// again after its downtime.
    pub fn settle(&mut self) {
        let points = self.place.points.clone();
        loop {
            self.executor.settle(|| points.is_struck());
            if !points.is_struck() {
                return;
            }
            self.crash();
            self.place.clock.advance(self.plan.downtime);
            points.revive();
            self.start();
        }
    }

    /// Lets time pass, event by event.
    pub fn advance(&mut self, by: Duration) {
        let until = self.place.clock.now() + by;
        self.settle();
        while self.step(until) {}
        if self.place.clock.now() < until {
            self.place.clock.set(until);
            self.settle();
        }
    }

    /// Lets time pass up to the next event, at most until then; `false` if there is none before.
    pub fn step(&mut self, until: Timestamp) -> bool {
        match self.place.clock.next_wake() {
            Some(next) if next <= until => {
                self.place.clock.advance_to_next_wake();
                self.settle();
                true
            }
            _ => false,
        }
    }

    /// Lets time pass until something is so.
    ///
    /// # Panics
    ///
    /// When it is not so after three hours.
    #[track_caller]
    pub fn until(&mut self, what: &str, is_so: impl Fn(&mut Self) -> bool) {
        let latest = self.place.clock.now() + REST_MAX;
        self.settle();
        while !is_so(self) {
            assert!(
                self.step(latest),
                "it never came to this: {what}; the room is {:?}",
                self.status()
            );
        }
    }

    /// Lets time pass until the first channel is dormant, or archived, or keeps no turns.
    ///
    /// # Panics
    ///
    /// When it does not come to rest within three hours.
    #[track_caller]
    pub fn until_dormant(&mut self) {
        self.until("the room rests", |stage| is_at_rest(stage.status().map(|status| status.phase)));
    }

    /// Awaits a call of the library, while everything else goes on.
    ///
    /// # Panics
    ///
    /// When it does not return within two minutes, or the process was killed meanwhile.
    #[track_caller]
    pub fn call<T, F>(&mut self, call: impl FnOnce(Dirigent) -> F) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        match self.try_call(call) {
            Some(answer) => answer,
            None => panic!("the process was killed during a call"),
        }
    }

    /// The same; none when the process was killed meanwhile.
    ///
    /// # Panics
    ///
    /// When it does not return within two minutes.
    #[track_caller]
    pub fn try_call<T, F>(&mut self, call: impl FnOnce(Dirigent) -> F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let (life, latest) = (self.lives, self.place.clock.now() + CALL_MAX);
        let answer = self.begin(call);
        loop {
            self.settle();
            if let Some(answer) = answer.take() {
                return Some(answer);
            }
            if self.lives > life {
                return None;
            }
            assert!(self.step(latest), "a call did not return in two minutes");
        }
    }

    /// Begins a call of the library; what becomes of it is seen later.
    pub fn begin<T, F>(&mut self, call: impl FnOnce(Dirigent) -> F) -> Begun<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let begun = Begun::default();
        let slot = begun.clone();
        let future = call(self.dirigent());
        self.executor.spawner().spawn(async move {
            let answer = future.await;
            slot.put(answer);
        });
        begun
    }

    /// Asks again, after each kill, until the library has answered: a person who wants a fact.
    ///
    /// # Errors
    ///
    /// What the machine said when it turned the call down.
    ///
    /// # Panics
    ///
    /// When it fails in any other way.
    #[track_caller]
    pub fn insist<F>(
        &mut self,
        call: impl Fn(Dirigent) -> F,
    ) -> Result<(), dirigent::operate::Refusal>
    where
        F: Future<Output = Result<(), CallError>> + Send + 'static,
    {
        loop {
            match self.try_call(&call) {
                None => {}
                Some(Ok(())) => return Ok(()),
                Some(Err(CallError::Refused(refusal))) => return Err(refusal),
                Some(Err(error)) => panic!("a call failed: {error}"),
            }
        }
    }

    /// Gives every channel the mode chat.
    ///
    /// # Panics
    ///
    /// When that is refused.
    #[track_caller]
    pub fn chat(&mut self) {
        for room in self.place.rooms.clone() {
            let given = self.insist(move |d| async move {
                d.channel(room).set_mode(Mode::Chat).await.map(drop)
            });
            assert_eq!(given, Ok(()));
        }
    }

    /// The person speaks in the first channel.
    pub fn say(&mut self, text: &str) -> MessageId {
        self.say_in(self.channel(), text)
    }

    /// The person speaks.
    pub fn say_in(&mut self, channel: ChannelId, text: &str) -> MessageId {
        let id = self.place.discord.say(channel, self.place.person, text);
        self.settle();
        id
    }

    /// The person says something in the first channel that has more than words.
    pub fn say_with(
        &mut self,
        text: &str,
        change: impl FnOnce(ChatMessage) -> ChatMessage,
    ) -> MessageId {
        let (channel, person) = (self.channel(), self.place.person);
        let id = self.place.discord.say_with(channel, person, text, change);
        self.settle();
        id
    }

    /// The first channel's state; none while it has none, or the library does not answer.
    pub fn status(&mut self) -> Option<Status> {
        self.status_of(self.channel())
    }

    /// A channel's state.
    pub fn status_of(&mut self, channel: ChannelId) -> Option<Status> {
        self.try_call(move |d| async move { d.channel(channel).status().await })?.ok()?
    }

    /// What was said in the first channel by people and agents, oldest first.
    pub fn words(&self) -> Vec<String> {
        self.words_in(self.channel())
    }

    /// What was said in a channel by people and agents, oldest first.
    pub fn words_in(&self, channel: ChannelId) -> Vec<String> {
        let said = self.place.discord.messages(channel).into_iter();
        said.filter(|message| message.author != self.place.moderator)
            .map(|message| message.content.to_string())
            .collect()
    }

    /// What the library itself posted in a channel and left there, oldest first.
    pub fn moderation(&self, channel: ChannelId) -> Vec<String> {
        let said = self.place.discord.messages(channel).into_iter();
        said.filter(|message| message.author == self.place.moderator)
            .map(|message| message.content.to_string())
            .collect()
    }
}

/// Whether a channel in this phase goes on only after something from outside.
fn is_at_rest(phase: Option<PhaseKind>) -> bool {
    matches!(
        phase,
        None | Some(
            PhaseKind::Dormant | PhaseKind::Archived | PhaseKind::Dead | PhaseKind::Disabled
        )
    )
}
