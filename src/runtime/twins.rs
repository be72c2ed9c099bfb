//! Detects another process that posts with the same accounts, and shares no store with this one.
//!
//! Each reply's nonce contains the moment when the reply was decided, and the moment when the process began that
//! decided it. A reply of another process may be late news of an earlier process, and then it proves nothing. It counts
//! if it was decided and sent two minutes after this process began, or took the channel over, and if another one
//! follows.
//!
//! No other post proves anything. The nonces of triggers, notices and the orchestrator's answers are made again after a
//! restart, so they cannot contain the beginning of the process. A discussion's result goes to a channel that may
//! belong to another process. The posts of an agent with a gateway of its own have nonces of the host's.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dirigent_core::Timestamp;
use tokio::sync::Notify;

use crate::values::message::Began;
use crate::values::sync::{locked, until};
use crate::{ChannelId, ChatMessage};

/// The time after its start, or after it took a channel over, in which this process may hear posts of the one before.
const SETTLES: Duration = Duration::from_secs(2 * 60);
/// The time after which a process without posts counts as gone.
const GONE_AFTER: Duration = Duration::from_secs(10 * 60);
/// The most channels in which posts of another process are remembered.
const CHANNELS_MAX: usize = 4_096;

/// Another process that posts in a channel with the same tokens, and shares no store with this one, so that every agent
/// speaks twice there. The process that began later gives way. It grants no turns in the channel, and tries again after
/// the other has not posted for ten minutes.
///
/// It is detected by replies of agents that the library calls, and only if the gateway tells the nonces of messages
/// ([`ChatMessage::nonce`]). If all agents have gateways of their own, it is not detected.
/// [`Dirigent::gives_way`](crate::Dirigent::gives_way) waits for it. A process that ends while it gives way returns
/// [`RunError::GivesWay`](crate::host::RunError::GivesWay).
///
/// ```
/// use dirigent::operate::Status;
/// fn warn(status: &Status) {
///     if let Some(twin) = status.twin {
///         println!("two processes speak here; this one gives way: {}", twin.gives_way);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecondProcess {
    /// The start of the other process, in Unix milliseconds.
    pub began: Timestamp,
    /// The time when its newest post was heard.
    pub heard_at: Timestamp,
    /// `true` if this process began later, and for this reason grants no turns in the channel.
    pub gives_way: bool,
}

#[derive(Debug)]
pub(crate) struct SecondProcesses {
    own: Began,
    /// `true` if any channel has one. It is read before each action.
    any: AtomicBool,
    state: Mutex<Notes>,
    /// Wakes waiters when this process gives way in a channel.
    yielded: Notify,
}

/// A reply of another process, with the time when it was decided, and the start of that process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strange {
    decided: Timestamp,
    began: Timestamp,
}

#[derive(Debug, Default)]
struct Notes {
    /// The times when channels came to this process, recently.
    came: HashMap<ChannelId, Timestamp>,
    seen: HashMap<ChannelId, Seen>,
}

/// The posts of another process in a channel.
#[derive(Debug)]
struct Seen {
    /// The time when the first of its replies was decided.
    decided: Timestamp,
    twin: SecondProcess,
    is_proven: bool,
}

impl Seen {
    /// Returns whether this process grants no turns in the channel, because the other does.
    const fn gives_way(&self) -> bool {
        self.is_proven && self.twin.gives_way
    }
}

impl SecondProcesses {
    pub(super) fn new(up_since: Timestamp) -> Self {
        Self {
            own: Began::new(up_since),
            any: AtomicBool::new(false),
            state: Mutex::default(),
            yielded: Notify::new(),
        }
    }

    pub(super) const fn own(&self) -> &Began {
        &self.own
    }

    /// Records that these channels came to this process from another.
    pub(super) fn came(&self, channels: &[ChannelId], now: Timestamp) {
        let mut state = locked(&self.state);
        state.came.retain(|_, at| now.since(*at) < SETTLES);
        state.came.extend(channels.iter().map(|channel| (*channel, now)));
        for channel in channels {
            state.seen.remove(channel);
        }
    }

    /// Reads the message's nonce, if another process made it.
    pub(crate) fn strange(&self, message: &ChatMessage) -> Option<Strange> {
        let (decided, began) = message.nonce.as_ref()?.by_another(self.own)?;
        Some(Strange { decided, began: began.at() })
    }

    /// Records such a message. It is of an agent that this process posts for, in one of its channels with turns.
    pub(crate) fn heard(&self, message: &ChatMessage, strange: Strange, now: Timestamp) {
        let Strange { decided, began } = strange;
        let mut state = locked(&self.state);
        let came = state.came.get(&message.channel).copied();
        let up_since = self.own.at();
        let settled = came.unwrap_or(up_since).max(up_since) + SETTLES;
        // A restart hears the last posts of the process before it. They prove nothing.
        if decided.min(message.sent_at) < settled {
            return;
        }
        // Messages of others must not grow this table without end.
        let is_full = state.seen.len() >= CHANNELS_MAX;
        if is_full && !state.seen.contains_key(&message.channel) {
            return;
        }
        let twin = SecondProcess { began, heard_at: now, gives_way: began < up_since };
        let new = Seen { decided, twin, is_proven: false };
        let seen = state.seen.entry(message.channel).or_insert(new);
        // Of several processes the earliest counts, because the others give way to it, too.
        let began = seen.twin.began.min(began);
        seen.twin = SecondProcess { began, heard_at: now, gives_way: began < up_since };
        // All parts of a reply were decided at the same time.
        if seen.decided != decided && !seen.is_proven {
            seen.is_proven = true;
            tell(message.channel, seen.twin);
        }
        if seen.gives_way() {
            self.yielded.notify_waiters();
        }
        self.any.store(true, Ordering::Release);
    }

    /// Returns whether any post of another process was heard. This is rare, and otherwise the rest need not be asked.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Returns the other process that posts in the channel, if there is one.
    pub(crate) fn of(&self, channel: ChannelId) -> Option<SecondProcess> {
        let state = locked(&self.state);
        state.seen.get(&channel).filter(|seen| seen.is_proven).map(|seen| seen.twin)
    }

    /// Returns whether this process grants no turns in the channel, because an earlier process does.
    #[cold]
    pub(crate) fn gives_way(&self, channel: ChannelId) -> bool {
        self.of(channel).is_some_and(|twin| twin.gives_way)
    }

    /// Returns a channel in which this process grants no turns, because an earlier process does.
    pub(crate) fn any_that_gives_way(&self) -> Option<ChannelId> {
        let state = locked(&self.state);
        let yields = state.seen.iter().filter(|(_, seen)| seen.gives_way());
        yields.map(|(channel, _)| *channel).min()
    }

    /// Waits until this process gives way in a channel.
    pub(crate) async fn until_gives_way(&self) -> ChannelId {
        until(&self.yielded, || self.any_that_gives_way()).await
    }

    #[cold]
    pub(super) fn earliest(&self) -> Option<Timestamp> {
        locked(&self.state).seen.values().map(|seen| seen.twin.heard_at + GONE_AFTER).min()
    }

    /// Drops processes that were not heard for long. Returns the channels in which this process goes on.
    pub(super) fn tick(&self, now: Timestamp) -> Vec<ChannelId> {
        let mut state = locked(&self.state);
        let is_gone = |seen: &Seen| now.since(seen.twin.heard_at) >= GONE_AFTER;
        let gone = state.seen.iter().filter(|(_, seen)| is_gone(seen) && seen.gives_way());
        let mut resumed: Vec<_> = gone.map(|(channel, _)| *channel).collect();
        state.seen.retain(|_, seen| !is_gone(seen));
        resumed.sort_unstable();
        self.any.store(!state.seen.is_empty(), Ordering::Release);
        resumed
    }

    pub(super) fn move_back(&self, by: Duration) {
        let mut state = locked(&self.state);
        let Notes { came, seen } = &mut *state;
        let heard = seen.values_mut().map(|seen| &mut seen.twin.heard_at);
        came.values_mut().chain(heard).for_each(|at| *at = at.saturating_sub(by));
    }
}

fn tell(channel: ChannelId, SecondProcess { gives_way, .. }: SecondProcess) {
    let began = if gives_way {
        "earlier, so this one grants no turns here until the other has posted nothing for ten minutes"
    } else {
        "later, and gives way if its version knows how"
    };
    tracing::error!(
        %channel,
        "another process posts here with the same tokens, and shares no store with this one: every agent speaks twice. That one \
         began {began}. End one of them"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::message::Nonce;
    use crate::{MessageId, UserId};

    const MINUTE: Duration = Duration::from_secs(60);
    const DEN: ChannelId = ChannelId::new(5);

    /// A time in minutes. The process under test begins at 60.
    fn at(minutes: u64) -> Timestamp {
        Timestamp::from_millis(1_764_000_000_000 + minutes * 60_000)
    }

    fn began() -> Timestamp {
        at(60)
    }

    /// The part with this number of a reply that was decided then, by a process that began then.
    fn part(number: u64, decided: Timestamp, sent: Timestamp, of: Timestamp) -> ChatMessage {
        let mut message =
            ChatMessage::new(MessageId::new(number + 1), DEN, UserId::new(1), "words");
        message.sent_at = sent;
        message.nonce = Some(Nonce::of_reply(DEN.get(), decided, number, Began::new(of)));
        message
    }

    fn hear(twins: &SecondProcesses, message: &ChatMessage, now: Timestamp) {
        if let Some(strange) = twins.strange(message) {
            twins.heard(message, strange, now);
        }
    }

    /// A reply of one part that is posted at once.
    fn reply(twins: &SecondProcesses, minute: u64, of: Timestamp) {
        hear(twins, &part(minute, at(minute), at(minute), of), at(minute));
    }

    /// WY13
    #[test]
    fn two_replies_of_another_process_are_proof_and_two_parts_of_one_are_not() {
        let twins = SecondProcesses::new(began());
        for number in 0..5 {
            hear(&twins, &part(number, at(62), at(62), at(1)), at(62));
        }
        assert_eq!(twins.of(DEN), None);
        assert_eq!(twins.any_that_gives_way(), None);
        reply(&twins, 64, at(1));
        let twin = SecondProcess { began: at(1), heard_at: at(64), gives_way: true };
        assert_eq!((twins.of(DEN), twins.any_that_gives_way()), (Some(twin), Some(DEN)));
        assert_eq!(twins.earliest(), Some(at(74)));
        assert_eq!(twins.tick(at(74).saturating_sub(MINUTE)), []);
        assert_eq!(twins.tick(at(74)), [DEN]);
        assert_eq!((twins.of(DEN), twins.earliest()), (None, None));
    }

    /// WY13
    #[test]
    fn one_that_began_later_is_told_and_not_given_way_to() {
        let twins = SecondProcesses::new(began());
        reply(&twins, 70, at(65));
        reply(&twins, 71, at(65));
        assert_eq!(twins.of(DEN).map(|twin| twin.gives_way), Some(false));
        assert_eq!(twins.any_that_gives_way(), None);
        // A third one that began earlier.
        reply(&twins, 72, at(50));
        assert_eq!(twins.of(DEN).map(|twin| (twin.began, twin.gives_way)), Some((at(50), true)));
        assert_eq!(twins.tick(at(82)), [DEN]);
    }

    /// WY13
    #[test]
    fn what_was_decided_or_sent_before_this_process_had_settled_is_no_proof() {
        let twins = SecondProcesses::new(began());
        for (number, minute) in (50..62).enumerate() {
            let number = u64::try_from(number).unwrap();
            // Posted late, by this process from the other one's record.
            hear(&twins, &part(number, at(minute), at(90), at(1)), at(90));
            // Decided by a clock that goes ahead.
            hear(&twins, &part(number, at(minute + 60), at(minute), at(1)), at(90));
            // Heard late.
            hear(&twins, &part(number, at(minute), at(minute), at(1)), at(90));
        }
        assert!(twins.state.lock().unwrap().seen.is_empty());
        twins.came(&[DEN], at(100));
        for minute in 62..102 {
            hear(&twins, &part(minute, at(minute), at(minute), at(1)), at(102));
        }
        assert!(twins.state.lock().unwrap().seen.is_empty());
        reply(&twins, 102, at(1));
        reply(&twins, 103, at(1));
        assert!(twins.of(DEN).is_some());
        twins.came(&[DEN], at(104));
        assert_eq!(twins.of(DEN), None, "it was another process's by right");
    }

    /// WY13
    #[test]
    fn a_clock_that_is_set_back_makes_this_process_wait_no_longer() {
        let twins = SecondProcesses::new(began());
        reply(&twins, 70, at(1));
        reply(&twins, 71, at(1));
        twins.move_back(MINUTE * 30);
        assert_eq!(twins.earliest(), Some(at(51)));
        assert_eq!((twins.tick(at(50)), twins.tick(at(51))), (vec![], vec![DEN]));
        twins.came(&[DEN], at(60));
        twins.move_back(MINUTE * 20);
        assert_eq!(twins.state.lock().unwrap().came[&DEN], at(40));
    }

    /// WY13
    #[test]
    fn its_own_replies_and_posts_of_other_forms_say_nothing() {
        let twins = SecondProcesses::new(began());
        for minute in 60..400 {
            let own = part(minute, at(minute), at(minute), began());
            assert!(twins.strange(&own).is_none(), "{minute}");
        }
        let mut other = part(1, at(80), at(80), at(1));
        assert!(twins.strange(&other).is_some());
        other.nonce = Some(Nonce::from_parts(DEN.get(), at(80).as_millis(), 9));
        assert!(twins.strange(&other).is_none());
        other.nonce = None;
        assert!(twins.strange(&other).is_none());
    }

    /// WY13
    #[test]
    fn what_is_remembered_of_others_is_bounded() {
        let twins = SecondProcesses::new(began());
        for channel in 0..5_000 {
            for minute in [70, 71] {
                let mut message = part(minute, at(minute), at(minute), at(1));
                message.channel = ChannelId::new(channel);
                hear(&twins, &message, at(minute));
            }
        }
        assert_eq!(twins.state.lock().unwrap().seen.len(), CHANNELS_MAX);
        assert_eq!(twins.tick(at(81)).len(), CHANNELS_MAX);
    }
}
