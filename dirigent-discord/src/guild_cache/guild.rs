//! One guild of the guild cache.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use dirigent::ports::{Timestamp, WriteBar};
use dirigent::{ChannelId, UserId};
use twilight_model::guild::Permissions;

use super::{Visibility, Watched};
use crate::permission::{GuildRules, Member, Overwrite};
use crate::wire;
use crate::wire::pushed::ThreadMembers;
use crate::wire::{PRIVATE_THREAD, is_thread};

/// The lifetime of an answer if the gateway does not update it.
const FRESH: Duration = Duration::from_secs(60);

/// The shortest such time for each requested account. If the limits make requests slow, the first answer must still be
/// valid when the last arrives.
const FRESH_EACH: Duration = Duration::from_secs(5);

/// The lifetime of an answer if the gateway updates it. It is limited, because events may be lost.
const KEPT: Duration = Duration::from_secs(3_600);

/// The time of a report or an answer, and whether the gateway updates it.
#[derive(Clone, Copy, Debug)]
struct Told {
    at: Timestamp,
    is_kept: bool,
}

impl Told {
    /// Returns true if it is still valid. `asked` is the number of accounts that were requested one by one, because
    /// each takes time.
    fn is_believed(self, asked: usize, now: Timestamp) -> bool {
        let each = FRESH_EACH.saturating_mul(u32::try_from(asked).unwrap_or(u32::MAX));
        let believed = if self.is_kept { KEPT } else { FRESH.max(each) };
        self.at <= now && now.since(self.at) < believed
    }
}

/// A guild as it was reported.
#[derive(Debug)]
pub(super) struct Guild {
    /// The number of the shard that reports it.
    pub(super) shard: u32,
    /// True if it was reported in this session.
    pub(super) is_true: bool,
    pub(super) rules: GuildRules,
    channels: HashMap<u64, Place>,
    members: HashMap<UserId, KnownMember>,
    /// The time since which all members are known, if they were reported.
    whole: Option<Told>,
    /// The accounts that were requested. Those that are not among the members are none.
    asked: HashMap<UserId, Told>,
    /// The number of current reads of the members.
    readers: usize,
    /// The accounts that changed or left during these reads.
    touched: HashSet<UserId>,
    /// Whether accounts were added to private threads, and when that was answered.
    threads: HashMap<u64, HashMap<UserId, (bool, Told)>>,
}

#[derive(Debug)]
struct Place {
    kind: u8,
    parent: Option<u64>,
    overwrites: Vec<Overwrite>,
    /// True if only accounts that manage threads can write in this thread.
    is_locked: bool,
}

/// A member, and the end of its time-out.
#[derive(Clone, Debug)]
struct KnownMember {
    member: Member,
    until: Option<Timestamp>,
}

impl KnownMember {
    fn read(member: &wire::Member, now: Timestamp) -> Self {
        Self { member: member.read(now), until: member.timed_out_until() }
    }

    /// Returns the member as it is now, because a time-out may have ended.
    fn at(&mut self, now: Timestamp) -> &Member {
        self.member.timed_out = self.until.is_some_and(|until| now < until);
        &self.member
    }
}

impl Guild {
    pub(super) fn new(shard: u32, rules: GuildRules) -> Self {
        Self {
            shard,
            is_true: true,
            rules,
            channels: HashMap::new(),
            members: HashMap::new(),
            whole: None,
            asked: HashMap::new(),
            readers: 0,
            touched: HashSet::new(),
            threads: HashMap::new(),
        }
    }

    /// Marks the guild as doubtful, because an event may have been missed.
    pub(super) fn doubt(&mut self) {
        self.is_true = false;
        self.whole = None;
        self.asked.clear();
        self.threads.clear();
    }

    pub(super) fn size(&self) -> usize {
        self.members.len()
    }

    pub(super) fn channels(&self) -> impl Iterator<Item = u64> + use<> {
        self.channels.keys().copied().collect::<Vec<_>>().into_iter()
    }

    pub(super) fn has(&self, channel: u64) -> bool {
        self.channels.contains_key(&channel)
    }

    pub(super) fn parent(&self, channel: u64) -> Option<u64> {
        self.channels.get(&channel).filter(|place| is_thread(place.kind))?.parent
    }

    pub(super) fn save_channel(&mut self, channel: &wire::Channel) {
        let parent = channel.parent_id.map(|parent| parent.0);
        let (overwrites, is_locked) = (channel.overwrites(), channel.is_locked());
        let place = Place { kind: channel.kind, parent, overwrites, is_locked };
        self.channels.insert(channel.id.0, place);
    }

    pub(super) fn remove_channel(&mut self, channel: u64) -> Vec<u64> {
        let hangs = |place: &Place| is_thread(place.kind) && place.parent == Some(channel);
        let threads = self.channels.iter().filter(|(_, place)| hangs(place)).map(|(id, _)| *id);
        let gone: Vec<u64> = std::iter::once(channel).chain(threads).collect();
        for gone in &gone {
            self.channels.remove(gone);
            self.threads.remove(gone);
        }
        gone
    }

    pub(super) fn take_members<'a>(
        &mut self,
        members: impl Iterator<Item = &'a wire::Member>,
        now: Timestamp,
    ) {
        self.members.extend(members.map(|member| (member.user(), KnownMember::read(member, now))));
    }

    pub(super) fn is_whole_since(&mut self, now: Timestamp, is_kept: bool) {
        self.whole = Some(Told { at: now, is_kept });
    }

    /// Forgets all members except this account and the requested ones.
    pub(super) fn forget_members(&mut self, me: Option<UserId>) {
        let asked = &self.asked;
        self.members.retain(|user, _| Some(*user) == me || asked.contains_key(user));
        self.whole = None;
    }

    pub(super) fn knows(&self, user: UserId, now: Timestamp) -> bool {
        let told = [self.whole, self.asked.get(&user).copied()];
        told.into_iter().flatten().any(|told| told.is_believed(self.asked.len(), now))
    }

    pub(super) fn save_member(
        &mut self,
        member: &wire::Member,
        now: Timestamp,
        me: Option<UserId>,
    ) {
        let user = member.user();
        self.touch(user);
        if self.is_followed(user) || self.readers > 0 || Some(user) == me {
            self.members.insert(user, KnownMember::read(member, now));
        }
    }

    pub(super) fn remove_member(&mut self, user: UserId) {
        self.touch(user);
        self.members.remove(&user);
    }

    /// Returns true if changes of this account are noticed.
    fn is_followed(&self, user: UserId) -> bool {
        self.whole.is_some() || self.asked.contains_key(&user)
    }

    fn touch(&mut self, user: UserId) {
        if self.readers > 0 {
            self.touched.insert(user);
        }
    }

    /// Takes over the state of the old data that this replaces.
    pub(super) fn follow(&mut self, old: &Self) {
        self.readers = old.readers;
    }

    pub(super) fn begin_reading(&mut self) {
        self.readers += 1;
    }

    pub(super) fn end_reading(&mut self, me: Option<UserId>) {
        self.readers = self.readers.saturating_sub(1);
        if self.readers > 0 {
            return;
        }
        self.touched.clear();
        if self.whole.is_none() {
            self.forget_members(me);
        }
    }

    /// Stores an answer, unless something newer was pushed during the read.
    pub(super) fn install_member(
        &mut self,
        user: UserId,
        member: Option<&wire::Member>,
        now: Timestamp,
        is_kept: bool,
    ) {
        self.asked.insert(user, Told { at: now, is_kept });
        if self.touched.contains(&user) {
            return;
        }
        match member {
            Some(member) => drop(self.members.insert(user, KnownMember::read(member, now))),
            None => drop(self.members.remove(&user)),
        }
    }

    /// Stores the accounts that joined or left a thread. Returns true if it is private.
    pub(super) fn update_thread(&mut self, update: &ThreadMembers) -> Option<bool> {
        if let Some(accounts) = self.threads.get_mut(&update.id.0) {
            let new = update.added_members.iter().filter_map(|member| member.user_id);
            let new = new.map(|user| (user.user(), true));
            let gone = update.removed_member_ids.iter().map(|user| (user.user(), false));
            for (user, added) in new.chain(gone) {
                if let Some((was_added, _)) = accounts.get_mut(&user) {
                    *was_added = added;
                }
            }
        }
        Some(self.channels.get(&update.id.0)?.kind == PRIVATE_THREAD)
    }

    pub(super) fn install_thread(
        &mut self,
        thread: u64,
        added: impl Iterator<Item = (UserId, bool)>,
        now: Timestamp,
    ) {
        let told = Told { at: now, is_kept: false };
        let added = added.map(|(user, added)| (user, (added, told)));
        self.threads.entry(thread).or_default().extend(added);
    }

    /// Returns the place and its overwrites, which for a thread are its parent's.
    fn overwrites(&self, channel: u64) -> Option<(&Place, &[Overwrite])> {
        let place = self.channels.get(&channel)?;
        let decisive = match place.parent {
            Some(parent) if is_thread(place.kind) => self.channels.get(&parent)?,
            Some(_) | None => place,
        };
        Some((place, &decisive.overwrites))
    }

    pub(super) fn visibility(
        &mut self,
        channel: u64,
        among: &[UserId],
        now: Timestamp,
    ) -> Visibility {
        if self.overwrites(channel).is_none() {
            return Visibility::Unknown;
        }
        let unknown: Vec<UserId> =
            among.iter().copied().filter(|user| !self.knows(*user, now)).collect();
        if !unknown.is_empty() {
            return Visibility::WithMembers(self.rules.guild, unknown);
        }
        let mut members = Vec::new();
        for user in among {
            members.extend(self.members.get_mut(user).map(|known| known.at(now).clone()));
        }
        let Some((place, overwrites)) = self.overwrites(channel) else {
            return Visibility::Unknown;
        };
        let added = match place.kind {
            PRIVATE_THREAD => match self.added(channel, among, now) {
                Ok(added) => Some(added),
                Err(unknown) => return Visibility::WithThread(unknown),
            },
            _ => None,
        };
        Visibility::Known(self.rules.audience(overwrites, added.as_ref(), &members))
    }

    /// Returns the accounts that were added to a private thread, or the accounts that must be asked about.
    fn added(
        &self,
        thread: u64,
        among: &[UserId],
        now: Timestamp,
    ) -> Result<HashSet<UserId>, Vec<UserId>> {
        let known = self.threads.get(&thread);
        let (mut added, mut unknown) = (HashSet::new(), Vec::new());
        for user in among.iter().copied() {
            let of_user = known.and_then(|accounts| accounts.get(&user));
            match of_user.filter(|(_, told)| told.is_believed(among.len(), now)) {
                Some((true, _)) => drop(added.insert(user)),
                Some((false, _)) => {}
                None => unknown.push(user),
            }
        }
        if unknown.is_empty() { Ok(added) } else { Err(unknown) }
    }

    pub(super) fn member(&self, user: UserId) -> Option<Member> {
        self.members.get(&user).map(|known| known.member.clone())
    }

    pub(super) fn may(
        &mut self,
        channel: u64,
        user: UserId,
        wanted: Permissions,
        now: Timestamp,
    ) -> Option<bool> {
        let member = self.members.get_mut(&user)?.at(now).clone();
        let (place, overwrites) = self.overwrites(channel)?;
        let allowed = self.rules.in_channel(overwrites, &member);
        let is_allowed = allowed.contains(wanted);
        let is_certain =
            place.kind != PRIVATE_THREAD || allowed.contains(Permissions::MANAGE_THREADS);
        (!is_allowed || is_certain).then_some(is_allowed)
    }

    /// Returns why an account surely cannot write in a channel.
    pub(super) fn write_bar(
        &mut self,
        channel: u64,
        user: UserId,
        me: Option<UserId>,
        now: Timestamp,
    ) -> Option<WriteBar> {
        let is_known = self.knows(user, now);
        let is_mine = Some(user) == me;
        let (place, overwrites) = self.overwrites(channel)?;
        let (is_thread, is_locked) = (is_thread(place.kind), place.is_locked);
        let Some(known) = self.members.get(&user) else {
            // The gateway always reports its own account.
            return is_known.then_some(WriteBar::NotInGuild);
        };
        // The gateway hides the rules of a channel that its account does not see. They are then unknown for others.
        let sees = || me.is_some_and(|me| self.may_see(me, overwrites));
        if !(is_mine || is_known && sees()) {
            return None;
        }
        let timed_out = known.until.filter(|until| now < *until);
        let member = Member { timed_out: false, ..known.member.clone() };
        let allowed = self.rules.in_channel(overwrites, &member);
        let (sends, lacks) = if is_thread {
            (Permissions::SEND_MESSAGES_IN_THREADS, WriteBar::NoSendInThreads)
        } else {
            (Permissions::SEND_MESSAGES, WriteBar::NoSend)
        };
        if !allowed.contains(Permissions::VIEW_CHANNEL) {
            return Some(WriteBar::NoView);
        }
        if !allowed.contains(sends) {
            return Some(lacks);
        }
        if is_locked && !allowed.contains(Permissions::MANAGE_THREADS) {
            return Some(WriteBar::Locked);
        }
        // A time-out has no effect on owners and administrators.
        let feels = !allowed.contains(Permissions::ADMINISTRATOR);
        timed_out.filter(|_| feels).map(|until| WriteBar::TimedOut { until })
    }

    fn may_see(&self, user: UserId, overwrites: &[Overwrite]) -> bool {
        let allowed =
            self.members.get(&user).map(|it| self.rules.in_channel(overwrites, &it.member));
        allowed.is_some_and(|allowed| allowed.contains(Permissions::VIEW_CHANNEL))
    }

    /// Returns its channels and threads, or only one channel and its threads.
    pub(super) fn channels_at(&self, channel: Option<u64>) -> Vec<ChannelId> {
        let is_there = |(id, place): &(&u64, &Place)| {
            channel.is_none_or(|channel| **id == channel || place.parent == Some(channel))
        };
        let there = self.channels.iter().filter(is_there);
        there.map(|(id, _)| ChannelId::new(*id)).collect()
    }

    /// Returns the watched channels that this account can read, including their histories. Returns `None` if its state
    /// here is unknown. Private threads are left out, because they depend on more.
    pub(super) fn read_by(
        &self,
        user: Option<UserId>,
        watched: &Watched<'_>,
    ) -> Option<HashSet<ChannelId>> {
        let member = &self.members.get(&user?)?.member;
        let wanted = Permissions::VIEW_CHANNEL | Permissions::READ_MESSAGE_HISTORY;
        let is_read = |id: &ChannelId| {
            let overwrites = self.overwrites(id.get());
            let allows = |overwrites| self.rules.in_channel(overwrites, member).contains(wanted);
            overwrites.is_some_and(|(_, overwrites)| allows(overwrites))
        };
        Some(self.watched(watched).filter(is_read).collect())
    }

    fn watched<'a>(&'a self, watched: &'a Watched<'_>) -> impl Iterator<Item = ChannelId> + 'a {
        let ids = self.channels.iter().filter(|(_, place)| place.kind != PRIVATE_THREAD);
        ids.map(|(id, _)| ChannelId::new(*id)).filter(|id| (watched.channels)(*id))
    }

    /// Returns which watched accounts see which watched channels. Private threads are left out, because they depend on
    /// more.
    pub(super) fn watch(&self, watched: &Watched<'_>) -> HashSet<(ChannelId, UserId)> {
        let users = watched.users.iter().filter(|user| self.is_followed(**user));
        let users = users.filter_map(|user| self.members.get(user));
        let users: Vec<_> = users.map(|known| &known.member).collect();
        if users.is_empty() {
            return HashSet::new();
        }
        let mut seen = HashSet::new();
        for id in self.watched(watched) {
            let Some((_, overwrites)) = self.overwrites(id.get()) else { continue };
            let is_open_to = |member: &&&Member| {
                let allowed = self.rules.in_channel(overwrites, member);
                allowed.contains(Permissions::VIEW_CHANNEL)
            };
            seen.extend(users.iter().filter(is_open_to).map(|m| (id, m.user)));
        }
        seen
    }
}
