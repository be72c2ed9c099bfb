//! What must be true when a run is over.

use std::sync::Arc;

use super::{
    BTreeMap, ChannelId, DriverWorld, Duration, Mentions, MessageId, Nonce, Pause, PostRecord,
    SECOND, Stage, UserId,
};

/// How long a room may take to give a turn when nothing fails any more: a start, a retrigger, a
/// run, a list.
const MOVES_WITHIN: Duration = Duration::from_secs(240);

/// How long the chat remembers a nonce.
const NONCE_KEPT: Duration = Duration::from_secs(5 * 60);

impl DriverWorld {
    /// I16: a person's word moves every room that does not rest by an order, and it comes to rest.
    pub(super) fn check_recovery(&mut self) -> Result<(), String> {
        let mut before = BTreeMap::new();
        for room in self.stage.rooms().to_vec() {
            let turn = turn_of(&mut self.stage, room);
            before.insert(room, turn);
            self.speak_in(room);
        }
        self.stage.advance(MOVES_WITHIN);
        for (room, turn) in before {
            let status = self.stage.status_of(room);
            let resting = status.as_ref().is_none_or(|s| s.rest == Some(Pause::Stopped));
            if !resting && turn_of(&mut self.stage, room) == turn {
                return Err(format!("I16: room {room} does not move any more: {status:?}"));
            }
        }
        self.stage.advance(SECOND * 3_600 * 2);
        for room in self.stage.rooms().to_vec() {
            // A discussion's result may have come just now, and woken it.
            for _ in 0..3 {
                if turn_is_open(&mut self.stage, room) {
                    self.stage.advance(SECOND * 600);
                }
            }
            let status = self.stage.status_of(room);
            if turn_is_open(&mut self.stage, room) {
                return Err(format!("room {room} never comes to rest: {status:?}"));
            }
        }
        Ok(())
    }

    fn speak_in(&mut self, room: ChannelId) {
        self.said += 1;
        let text = format!("human {}", self.said);
        self.stage.say_in(room, &text);
    }

    /// I1, I2, I15 and I17.
    pub(super) fn check_posts(&mut self) -> Result<(), String> {
        if let Some(breach) = self.stage.points().breaches().first() {
            return Err(breach.clone());
        }
        let posts = self.stage.discord().take_posts();
        let hooked = self.stage.agent("cis").user();
        check_nonces(&posts, hooked, self.stage.moderator())?;
        check_shape(posts.iter().filter(|post| post.author != hooked))?;
        self.check_words()
    }

    /// No hosted agent said anything twice.
    fn check_words(&self) -> Result<(), String> {
        let hosted = [self.stage.agent("ann").user(), self.stage.agent("bob").user()];
        for room in self.stage.rooms() {
            let mut seen: BTreeMap<(UserId, Arc<str>), MessageId> = BTreeMap::new();
            for message in self.stage.discord().messages(*room) {
                if !hosted.contains(&message.author) || message.content.len() > 1_000 {
                    continue;
                }
                let (id, key) = (message.id, (message.author, message.content));
                if let Some(first) = seen.insert(key.clone(), id) {
                    return Err(format!("I1: {:?} was said twice, {first} and {id}", key.1));
                }
            }
        }
        Ok(())
    }
}

fn turn_of(stage: &mut Stage, room: ChannelId) -> u64 {
    stage.status_of(room).map_or(0, |status| status.turn.get())
}

fn turn_is_open(stage: &mut Stage, room: ChannelId) -> bool {
    stage.status_of(room).is_some_and(|status| status.speaker.is_some())
}

/// I1: a nonce makes one message. Agents of the host answer for their own; and a trigger that a
/// kill left in doubt may be repeated when the chat has forgotten its nonce.
fn check_nonces(posts: &[PostRecord], hooked: UserId, moderator: UserId) -> Result<(), String> {
    let mut made: BTreeMap<(UserId, &str), &PostRecord> = BTreeMap::new();
    for post in posts.iter().filter(|post| post.author != hooked && post.message.is_some()) {
        let key = (post.author, post.nonce.as_str());
        let first = *made.entry(key).or_insert(post);
        // How long it was is not to be seen when the clock was set back meanwhile.
        let long_ago = post.at < first.at || post.at.since(first.at) >= NONCE_KEPT;
        let forgotten = post.author == moderator && long_ago;
        if post.message != first.message && !forgotten {
            return Err(format!("I1: one nonce made two messages: {first:?} and {post:?}"));
        }
    }
    Ok(())
}

/// I15: short, with a nonce, and only who is addressed is pinged.
fn check_shape<'a>(posts: impl Iterator<Item = &'a PostRecord>) -> Result<(), String> {
    for post in posts {
        let own = match &post.mentions {
            Mentions::None => true,
            Mentions::User(user) => *user != post.author,
            Mentions::Allowed(_) | _ => false,
        };
        let nonce = (1..=Nonce::MAX).contains(&post.nonce.as_str().len());
        if !own || !nonce || post.chars > 2_000 {
            return Err(format!("I15: {post:?}"));
        }
    }
    Ok(())
}
