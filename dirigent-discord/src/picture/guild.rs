//! One guild of the picture.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use dirigent::{ChannelId, Timestamp, UserId};
use twilight_model::guild::Permissions;

use super::{Sight, Watched};
use crate::audience::{PRIVATE_THREAD, is_thread};
use crate::permission::{GuildRules, Member, Overwrite};
use crate::wire;
use crate::wire::pushed::ThreadMembers;

/// How long a list that was answered is believed when the gateway does not keep it true.
const FRESH: Duration = Duration::from_secs(60);

/// How long it is believed when the gateway does: events may be lost.
const KEPT: Duration = Duration::from_secs(3_600);

/// A guild as it was told.
#[derive(Debug)]
pub(super) struct Guild {
    /// The number of the shard that tells of it.
    pub(super) shard: u32,
    /// Whether it was told in this session.
    pub(super) is_true: bool,
    pub(super) rules: GuildRules,
    channels: HashMap<u64, Place>,
    members: HashMap<UserId, Known>,
    /// Since when all members are known, and whether the gateway keeps that true.
    whole: Option<(Timestamp, bool)>,
    /// How many reads of the members are under way.
    readers: usize,
    /// Who changed or left during these.
    touched: HashSet<UserId>,
    /// Those who were added to private threads, and when that was answered.
    threads: HashMap<u64, (HashSet<UserId>, Timestamp)>,
    /// Its members do not fit in.
    pub(super) is_too_large: bool,
}

#[derive(Debug)]
struct Place {
    kind: u8,
    parent: Option<u64>,
    overwrites: Vec<Overwrite>,
}

/// A member, and until when it is in a time-out.
#[derive(Clone, Debug)]
struct Known {
    member: Member,
    until: Option<Timestamp>,
}

impl Known {
    fn read(member: &wire::Member, now: Timestamp) -> Self {
        Self { member: member.read(now), until: member.timed_out_until() }
    }

    /// The member as it is now: a time-out may have ended.
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
            readers: 0,
            touched: HashSet::new(),
            threads: HashMap::new(),
            is_too_large: false,
        }
    }

    /// Something may have happened that was not told.
    pub(super) fn doubt(&mut self) {
        self.is_true = false;
        self.whole = None;
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
        let place = Place { kind: channel.kind, parent, overwrites: channel.overwrites() };
        self.channels.insert(channel.id.0, place);
    }

    /// Takes a channel away with the threads that hang from it.
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
        self.members.extend(members.map(|member| (member.user(), Known::read(member, now))));
    }

    pub(super) fn is_whole_since(&mut self, now: Timestamp, is_kept: bool) {
        self.whole = Some((now, is_kept));
    }

    /// Only this account stays known.
    pub(super) fn forget_members(&mut self, me: Option<UserId>) {
        self.members.retain(|user, _| Some(*user) == me);
        self.whole = None;
    }

    pub(super) fn save_member(
        &mut self,
        member: &wire::Member,
        now: Timestamp,
        me: Option<UserId>,
    ) {
        let user = member.user();
        self.touch(user);
        if self.whole.is_some() || self.readers > 0 || Some(user) == me {
            self.members.insert(user, Known::read(member, now));
        }
    }

    pub(super) fn remove_member(&mut self, user: UserId) {
        self.touch(user);
        self.members.remove(&user);
    }

    fn touch(&mut self, user: UserId) {
        if self.readers > 0 {
            self.touched.insert(user);
        }
    }

    /// Takes the place of what was known before.
    pub(super) fn follow(&mut self, old: &Self) {
        self.readers = old.readers;
    }

    pub(super) fn begin_reading(&mut self) {
        self.readers += 1;
    }

    pub(super) fn end_reading(
        &mut self,
        members: Option<&[wire::Member]>,
        now: Timestamp,
        is_kept: bool,
        me: Option<UserId>,
    ) {
        self.readers = self.readers.saturating_sub(1);
        match members {
            Some(members) => {
                // What was pushed during the read is newer than what was read.
                let touched = &self.touched;
                self.members.retain(|user, _| touched.contains(user));
                let read = members.iter().filter(|member| !touched.contains(&member.user()));
                let read: Vec<_> =
                    read.map(|member| (member.user(), Known::read(member, now))).collect();
                self.members.extend(read);
                self.whole = Some((now, is_kept));
            }
            None if self.whole.is_none() && self.readers == 0 => self.forget_members(me),
            None => {}
        }
        if self.readers == 0 {
            self.touched.clear();
        }
    }

    /// Takes in who came into a thread and who left it; says whether it is private.
    pub(super) fn update_thread(&mut self, update: &ThreadMembers) -> Option<bool> {
        if let Some((added, _)) = self.threads.get_mut(&update.id.0) {
            let new = update.added_members.iter().filter_map(|member| member.user_id);
            added.extend(new.map(wire::Number::user));
            for gone in &update.removed_member_ids {
                added.remove(&gone.user());
            }
        }
        Some(self.channels.get(&update.id.0)?.kind == PRIVATE_THREAD)
    }

    pub(super) fn install_thread(&mut self, thread: u64, added: HashSet<UserId>, now: Timestamp) {
        self.threads.insert(thread, (added, now));
    }

    /// The overwrites that count: a thread's are its parent's.
    fn overwrites(&self, channel: u64) -> Option<(&Place, &[Overwrite])> {
        let place = self.channels.get(&channel)?;
        let decisive = match place.parent {
            Some(parent) if is_thread(place.kind) => self.channels.get(&parent)?,
            Some(_) | None => place,
        };
        Some((place, &decisive.overwrites))
    }

    pub(super) fn sight(&mut self, channel: u64, now: Timestamp) -> Sight {
        let is_fresh = self.whole.is_some_and(|(since, is_kept)| {
            now.since(since) < if is_kept { KEPT } else { FRESH } && since <= now
        });
        if self.is_too_large || self.overwrites(channel).is_none() {
            return Sight::Unknown;
        }
        if !is_fresh {
            return Sight::WithMembersOf(self.rules.guild);
        }
        let members: Vec<Member> =
            self.members.values_mut().map(|known| known.at(now).clone()).collect();
        let Some((place, overwrites)) = self.overwrites(channel) else {
            return Sight::Unknown;
        };
        let added = match place.kind {
            PRIVATE_THREAD => {
                let known = self.threads.get(&channel);
                let known = known.filter(|(_, at)| *at <= now && now.since(*at) < FRESH);
                let Some((added, _)) = known else {
                    return Sight::WithThread;
                };
                Some(added)
            }
            _ => None,
        };
        Sight::Known(self.rules.audience(overwrites, added, &members))
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

    /// Which of the watched see which of the watched channels. Who sees a private thread depends on more,
    /// and is told otherwise.
    pub(super) fn watch(&self, watched: &Watched<'_>) -> HashSet<(ChannelId, UserId)> {
        let users = watched.users.iter().filter_map(|user| self.members.get(user));
        let users: Vec<_> = users.map(|known| &known.member).collect();
        if users.is_empty() || self.whole.is_none() {
            return HashSet::new();
        }
        let ids = self.channels.iter().filter(|(_, place)| place.kind != PRIVATE_THREAD);
        let ids = ids.map(|(id, _)| *id).filter(|id| (watched.channels)(ChannelId::new(*id)));
        let mut seen = HashSet::new();
        for id in ids {
            let Some((_, overwrites)) = self.overwrites(id) else { continue };
            let is_open_to = |member: &&&Member| {
                let allowed = self.rules.in_channel(overwrites, member);
                allowed.contains(Permissions::VIEW_CHANNEL)
            };
            seen.extend(users.iter().filter(is_open_to).map(|m| (ChannelId::new(id), m.user)));
        }
        seen
    }
}
