//! The people: what they say, and where.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent::{ChannelId, Clock, MessageId, SystemClock, UserId};
use dirigent_testkit::MemoryDiscord;
use tokio::task::JoinHandle;

/// How many threads are open at once: where another one begins, the oldest is deleted.
const OPEN: usize = 30;

/// How they talk.
#[derive(Clone, Copy)]
pub(crate) struct Habits {
    /// How often a word is said.
    pub(crate) word: Duration,
    /// How many words there are to one with which a thread begins; 0: none does.
    pub(crate) thread: u32,
    /// How many words there are to one that is edited, and to one that is deleted; 0: none is.
    pub(crate) change: u32,
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) channel: ChannelId,
    pub(crate) text: String,
    pub(crate) at: Timestamp,
    pub(crate) change: Change,
}

/// What became of it when the next word was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Change {
    #[default]
    None,
    /// An exclamation mark was added.
    Edited,
    Deleted,
}

impl Word {
    /// What the word is after it was edited.
    pub(crate) fn edited(&self) -> String {
        format!("{}!", self.text)
    }
}

#[derive(Debug, Default)]
struct Said {
    words: Vec<Word>,
    /// Open threads, the oldest first.
    threads: VecDeque<ChannelId>,
}

/// A task that talks until it is stopped.
pub(crate) struct People {
    said: Arc<Mutex<Said>>,
    talk: JoinHandle<()>,
}

fn of(said: &Mutex<Said>) -> MutexGuard<'_, Said> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}

impl People {
    /// They say nothing.
    pub(crate) fn silent() -> Self {
        Self { said: Arc::default(), talk: tokio::spawn(async {}) }
    }

    /// This person says a word in one channel, and one open thread, after the other.
    pub(crate) fn talk(
        discord: MemoryDiscord,
        person: UserId,
        channels: Vec<ChannelId>,
        habits: Habits,
    ) -> Self {
        let said = Arc::<Mutex<Said>>::default();
        let talker = Talker { discord, person, habits, said: Arc::clone(&said) };
        Self { said, talk: tokio::spawn(talker.run(channels)) }
    }

    pub(crate) fn hush(&self) {
        self.talk.abort();
    }

    pub(crate) fn words(&self) -> Vec<Word> {
        of(&self.said).words.clone()
    }

    pub(crate) fn threads(&self) -> Vec<ChannelId> {
        of(&self.said).threads.iter().copied().collect()
    }
}

struct Talker {
    discord: MemoryDiscord,
    person: UserId,
    habits: Habits,
    said: Arc<Mutex<Said>>,
}

impl Talker {
    async fn run(self, channels: Vec<ChannelId>) {
        let clock = SystemClock::new();
        let mut last: Option<MessageId> = None;
        for (number, channel) in (0_u32..).zip(channels.iter().cycle()) {
            if let Some(last) = last {
                self.change(number, last);
            }
            let place = self.place(number, *channel);
            let text = format!("w{number}");
            let word = Word { channel: place, text, at: clock.now(), change: Change::None };
            last = Some(self.discord.say(place, self.person, word.text.clone()));
            of(&self.said).words.push(word);
            clock.sleep_until(clock.now() + self.habits.word).await;
        }
    }

    /// Where the word with this number is said: in each of the channels, or in a thread.
    fn place(&self, number: u32, channel: ChannelId) -> ChannelId {
        let every = self.habits.thread;
        if every == 0 {
            return channel;
        }
        let mut said = of(&self.said);
        if number % every == every - 1 {
            let thread = self.discord.channel(channel).add_public_thread("aside");
            said.threads.push_back(thread);
            if said.threads.len() > OPEN {
                let oldest = said.threads.pop_front();
                oldest.map(|oldest| self.discord.channel(oldest).delete());
            }
            return thread;
        }
        // Every third word goes on in a thread.
        let turn = usize::try_from(number / 3).unwrap_or_default();
        let threads = said.threads.len().max(1);
        let thread = said.threads.get(turn % threads).filter(|_| number.is_multiple_of(3));
        thread.copied().unwrap_or(channel)
    }

    /// Edits or deletes the last word, if it is its turn.
    fn change(&self, number: u32, message: MessageId) {
        let every = self.habits.change;
        if every == 0 {
            return;
        }
        let mut said = of(&self.said);
        let Some(word) = said.words.last_mut() else { return };
        if number % every == every / 2 {
            self.discord.edit(word.channel, message, word.edited());
            word.change = Change::Edited;
        } else if number.is_multiple_of(every) {
            self.discord.delete_message(word.channel, message);
            word.change = Change::Deleted;
        }
    }
}
