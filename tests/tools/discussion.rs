//! `create-discussion-channel`.

use std::sync::Arc;

use dirigent::operate::DiscussionState;
use dirigent::ports::{
    Access, ApiError, ChannelInfo, ChannelKind, GuildApi, GuildId, HistoryRequest, NewChannel,
    Post, Posted,
};
use dirigent::snapshot::TurnState;
use dirigent::store::Durability;
use dirigent::tools::{CallbackPolicy, Caller, Tools};
use dirigent::{ChannelId, ChatMessage, DiscordApi, MessageId, Mode, UserId, async_trait};
use dirigent_testkit::MemoryAccount;
use dirigent_testkit::memory_discord::{Call, Fault};
use dirigent_verify::stage::{Stage, StoreFault};
use serde_json::{Value, json};

use super::{
    SECOND, assert_refused, call, call_through, channels_in, channels_of, id, ids, opened, session,
    stage_with_admin_moderator, stage_with_channel_manager, terms, user,
};

const TOOL: &str = "create-discussion-channel";

#[track_caller]
fn refused(stage: &mut Stage, caller: &Caller, arguments: Value, code: &str) {
    let before = channels_of(stage);
    assert_refused(call(stage, caller, TOOL, arguments), code);
    assert_eq!(channels_of(stage), before);
    assert!(stage.store().known().is_empty());
}

fn changed(mut arguments: Value, name: &str, value: Value) -> Value {
    arguments[name] = value;
    arguments
}

/// R138
#[test]
fn the_initiator_is_the_caller_whatever_the_arguments_say() {
    let mut stage = stage_with_admin_moderator();
    let mut arguments = terms(&stage, &["b"]);
    for name in ["initiator", "agentId", "agent-id", "caller"] {
        arguments[name] = json!("b");
    }
    let caller = session(&stage, "a");
    let channel = id(&call(&mut stage, &caller, TOOL, arguments).unwrap(), "discussionChannel");
    let status =
        stage.call(move |d| async move { d.channel(channel).discussion().await }).unwrap().unwrap();
    assert_eq!(status.initiator, Some("a".into()));
}

/// R139
#[test]
fn the_moderator_must_be_administrator_of_the_callback_guild() {
    let mut stage = stage_with_channel_manager();
    let (caller, arguments) = (session(&stage, "a"), terms(&stage, &["b"]));
    refused(&mut stage, &caller, arguments.clone(), "not-administrator");
    let foreign = stage.discord().add_guild(stage.person());
    let elsewhere = changed(arguments.clone(), "callback-guild", json!(foreign));
    let there = Caller { guild: Some(foreign), ..Caller::new("a") };
    refused(&mut stage, &there, elsewhere, "moderator-missing");
    stage.discord().guild(stage.guild()).set_administrator(stage.moderator(), true);
    call(&mut stage, &caller, TOOL, arguments).unwrap();
}

/// R140, D79
#[test]
fn the_callback_channel_must_be_there_and_belong_to_the_callback_guild() {
    let mut stage = stage_with_admin_moderator();
    let (caller, arguments) = (session(&stage, "a"), terms(&stage, &["b"]));
    let with = |channel: ChannelId| changed(arguments.clone(), "callback-channel", json!(channel));
    let nowhere = ChannelId::new(999_999_999_999_999_999);
    refused(&mut stage, &caller, with(nowhere), "callback-not-found");
    let unseen = stage.discord().add_direct(&[stage.person(), user(&stage, "a")]);
    refused(&mut stage, &caller, with(unseen), "callback-not-found");
    let direct = stage.discord().add_direct(&[stage.person(), stage.moderator()]);
    refused(&mut stage, &caller, with(direct), "callback-kind");
    let guild = stage.discord().add_guild(stage.person());
    let other = stage.discord().add_channel(guild, "x", &[stage.moderator()]);
    refused(&mut stage, &caller, with(other), "callback-elsewhere");
    let inside = [stage.moderator(), user(&stage, "a")];
    let thread = stage.discord().channel(stage.channel()).add_thread("x", &inside);
    call(&mut stage, &caller, TOOL, with(thread)).unwrap();
}

/// R140, D79
#[test]
fn text_announcement_and_thread_will_do_and_nothing_else() {
    let mut stage = stage_with_admin_moderator();
    let (caller, arguments) = (session(&stage, "a"), terms(&stage, &["b"]));
    let kinds = [
        (ChannelKind::Text, true),
        (ChannelKind::Announcement, true),
        (ChannelKind::Thread, true),
        (ChannelKind::Direct, false),
        (ChannelKind::Other, false),
    ];
    for (kind, will_do) in kinds {
        let account = stage.discord().account(stage.moderator());
        let seen = Arc::new(Relabelled { account, kind });
        let answer = call_through(&mut stage, seen, &caller, TOOL, arguments.clone());
        if will_do {
            answer.unwrap();
        } else {
            assert_refused(answer, "callback-kind");
        }
    }
}

/// R141, D81
#[test]
fn an_empty_guide_and_an_unregistered_initiator_are_refused() {
    let mut stage = stage_with_admin_moderator();
    let arguments = terms(&stage, &["b"]);
    let caller = session(&stage, "a");
    for guide in ["", " \n", "\u{200B}"] {
        let empty = changed(arguments.clone(), "discussion-guide", json!(guide));
        refused(&mut stage, &caller, empty, "guide-empty");
    }
    let long = changed(arguments.clone(), "discussion-guide", json!("x".repeat(16_001)));
    refused(&mut stage, &caller, long, "guide-too-long");
    let nobody = session(&stage, "nobody");
    refused(&mut stage, &nobody, arguments, "caller-unregistered");
}

/// R142, D80, D81
#[test]
fn it_is_a_private_channel_of_the_callback_guild_with_moderator_initiator_and_participants() {
    let mut stage = stage_with_admin_moderator();
    let outsider = stage.discord().add_human();
    let guest = stage.discord().add_human();
    stage.discord().guild(stage.guild()).add_member(outsider);
    stage.discord().guild(stage.guild()).add_member(guest);
    let participants = ids([user(&stage, "c"), guest, user(&stage, "b"), guest]);
    let arguments = changed(terms(&stage, &[]), "participants", participants);
    let caller = session(&stage, "a");
    let answer = call(&mut stage, &caller, TOOL, arguments).unwrap();
    let channel = id(&answer, "discussionChannel");
    let (a, b, c) = (user(&stage, "a"), user(&stage, "b"), user(&stage, "c"));
    assert_eq!(answer["members"], ids([c, guest, b, a]));
    assert_eq!(answer["unregistered"], ids([guest]));
    assert!(channels_of(&mut stage).contains(&channel));
    let audience = stage.discord().channel(channel).audience();
    for account in [a, b, c, guest, stage.moderator()] {
        assert!(audience.contains(&account));
    }
    assert!(!audience.contains(&outsider));
    let status = stage.status_of(channel).unwrap();
    assert_eq!((status.mode, status.turn_state), (Mode::Discussion, TurnState::Shuffle));
    assert_eq!(status.list.len(), 3, "people are members and no speakers");
}

/// R143, D24
#[test]
fn the_terms_are_stored_before_the_guide_is_posted() {
    let mut stage = stage_with_admin_moderator();
    let caller = session(&stage, "a");
    let arguments = terms(&stage, &["b"]);
    stage.store().next_commit(StoreFault::TakesSoLong(SECOND * 5));
    let moderator = Arc::new(stage.discord().account(stage.moderator()));
    let before = channels_of(&mut stage);
    let begun = stage.begin(move |d| async move {
        Tools::new(d, moderator).call(&caller, TOOL, &arguments).await
    });
    stage.advance(SECOND * 4);
    let now = channels_of(&mut stage);
    let channel = now.into_iter().find(|channel| !before.contains(channel)).unwrap();
    assert!(begun.take().is_none(), "the call waits for the store");
    assert!(stage.discord().messages(channel).is_empty(), "nothing is posted before");
    stage.advance(SECOND * 2);
    begun.take().unwrap().unwrap();
    let stored = stage.store().stored(channel).unwrap().record;
    assert_eq!(stored.snapshot.state.standing.mode, Mode::Discussion);
    assert!(stored.snapshot.state.standing.initiator.is_some());
    let discussion = stored.discussion.unwrap();
    assert_eq!(discussion.callback, stage.channel());
    assert_eq!(discussion.callback_guild, Some(stage.guild()));
    assert_eq!(discussion.guide, "Which plan shall we take? Done when two agree.");
    let commits = stage.store().commits();
    let first = commits.iter().find(|commit| commit.channel == channel).unwrap();
    assert_eq!(first.durability, Durability::Fact);
    assert_eq!(stage.moderation(channel)[0], discussion.guide);
}

/// R144
#[test]
fn the_guide_comes_first_then_the_first_participant_speaks() {
    let mut stage = stage_with_admin_moderator();
    let channel = opened(&mut stage, &["c", "b"]);
    stage.until("all have spoken", move |stage| stage.words_in(channel).len() == 3);
    assert_eq!(stage.words_in(channel), ["c1", "b1", "a1"], "the initiator spoke with the guide");
    let all = stage.discord().messages(channel);
    assert_eq!(&*all[0].content, "Which plan shall we take? Done when two agree.");
    assert_eq!(all[0].author, stage.moderator());
}

/// R144, D83
#[test]
fn a_long_guide_is_posted_in_several_messages() {
    let mut stage = stage_with_admin_moderator();
    let guide = "Point of order. ".repeat(999);
    let arguments = changed(terms(&stage, &["b"]), "discussion-guide", json!(guide));
    let caller = session(&stage, "a");
    let channel = id(&call(&mut stage, &caller, TOOL, arguments).unwrap(), "discussionChannel");
    stage.until("somebody speaks", move |stage| !stage.words_in(channel).is_empty());
    let (moderator, said) = (stage.moderator(), stage.discord().messages(channel));
    let parts = said.iter().take_while(|message| message.author == moderator);
    let parts: Vec<_> = parts.map(|message| &*message.content).collect();
    assert!(parts.len() >= 8 && parts.iter().all(|part| part.chars().count() <= 2_000));
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert!(words(&parts.join(" ")) == words(&guide), "nothing is lost and nothing comes twice");
}

/// R142, D82
#[test]
fn an_initiator_alone_may_open_a_discussion_and_is_warned() {
    let mut stage = stage_with_admin_moderator();
    let (caller, arguments) = (session(&stage, "a"), terms(&stage, &[]));
    let answer = call(&mut stage, &caller, TOOL, arguments).unwrap();
    assert!(answer["warnings"][0].as_str().unwrap().contains("fewer than two"));
    let channel = id(&answer, "discussionChannel");
    assert_eq!(stage.status_of(channel).unwrap().turn_state, TurnState::Disabled);
    assert_eq!(stage.moderation(channel).len(), 1, "the guide is there all the same");
}

/// R139, D106
#[test]
fn an_agent_of_one_guild_opens_nothing_in_another() {
    let mut stage = stage_with_admin_moderator();
    let (foreign, moderator) = (stage.discord().add_guild(stage.person()), stage.moderator());
    let account = user(&stage, "a");
    stage.discord().guild(foreign).set_administrator(moderator, true);
    let members = [moderator, account];
    let callback = stage.discord().add_channel(foreign, "x", &members);
    let mut arguments = changed(terms(&stage, &[]), "callback-guild", json!(foreign));
    arguments["callback-channel"] = json!(callback);
    let caller = session(&stage, "a");
    refused(&mut stage, &caller, arguments.clone(), "other-guild");
    refused(&mut stage, &Caller::new("a"), arguments, "not-in-guild");
    assert_eq!(channels_in(&mut stage, foreign), [callback]);
    assert!(stage.discord().messages(callback).is_empty());
}

/// R140, D106
#[test]
fn a_callback_channel_that_the_caller_cannot_see_is_refused() {
    let mut stage = stage_with_admin_moderator();
    let caller = session(&stage, "a");
    let members = [stage.moderator(), user(&stage, "b")];
    let hidden = stage.discord().add_channel(stage.guild(), "board", &members);
    let arguments = changed(terms(&stage, &["b"]), "callback-channel", json!(hidden));
    refused(&mut stage, &caller, arguments.clone(), "callback-unseen");
    stage.discord().join(hidden, user(&stage, "a"));
    call(&mut stage, &caller, TOOL, arguments).unwrap();
}

/// R140, D106
#[test]
fn another_channel_of_the_sessions_guild_is_accepted_with_a_warning() {
    let mut stage = stage_with_admin_moderator();
    let arguments = terms(&stage, &["b"]);
    let elsewhere = Caller { channel: Some(ChannelId::new(7)), ..session(&stage, "a") };
    let answer = call(&mut stage, &elsewhere, TOOL, arguments.clone()).unwrap();
    assert!(answer["warnings"][0].as_str().unwrap().contains("not the channel in which"));
    let unknown = Caller { channel: None, ..session(&stage, "a") };
    for caller in [session(&stage, "a"), unknown] {
        let answer = call(&mut stage, &caller, TOOL, arguments.clone()).unwrap();
        assert_eq!(answer["warnings"], json!([]));
    }
}

/// R139, R140, D106
#[test]
fn a_host_may_let_its_agents_open_discussions_in_any_guild() {
    let mut stage = stage_with_admin_moderator();
    let moderator = stage.moderator();
    let foreign = stage.discord().add_guild(stage.person());
    stage.discord().guild(foreign).set_administrator(moderator, true);
    stage.discord().guild(foreign).add_member(user(&stage, "a"));
    let callback = stage.discord().add_channel(foreign, "x", &[moderator]);
    let mut arguments = changed(terms(&stage, &[]), "callback-guild", json!(foreign));
    arguments["callback-channel"] = json!(callback);
    for caller in [session(&stage, "a"), Caller::new("a")] {
        let account = Arc::new(stage.discord().account(moderator));
        let arguments = arguments.clone();
        let answer = stage.call(move |d| async move {
            let tools = Tools::new(d, account).callbacks(CallbackPolicy::AnyGuild);
            tools.call(&caller, TOOL, &arguments).await
        });
        let channel = id(&answer.unwrap(), "discussionChannel");
        assert!(channels_in(&mut stage, foreign).contains(&channel));
    }
}

#[test]
fn the_channel_is_named_after_the_guides_first_words() {
    let names = [
        ("Which plan shall we take? Done when two agree.", "which-plan-shall-we-take-done"),
        ("# Goals\n\n* Ship *it*!", "goals-ship-it"),
        ("我们选哪个方案？", "我们选哪个方案"),
        ("?!…", "discussion"),
        (&"ä".repeat(200), &"ä".repeat(40)),
        ("@everyone <#123>", "everyone-123"),
    ];
    for (guide, name) in names {
        let mut stage = stage_with_admin_moderator();
        let caller = session(&stage, "a");
        let arguments = changed(terms(&stage, &["b"]), "discussion-guide", json!(guide));
        assert_eq!(call(&mut stage, &caller, TOOL, arguments).unwrap()["name"], name);
    }
}

/// R054, R053
#[test]
fn a_discussion_that_cannot_be_created_or_stored_leaves_nothing_behind() {
    let mut stage = stage_with_admin_moderator();
    let (caller, arguments) = (session(&stage, "a"), terms(&stage, &["b"]));
    stage.discord().inject(|faults| faults.next(Call::CreateChannel, Fault::Forbidden));
    refused(&mut stage, &caller, arguments.clone(), "creation-refused");
    stage.store().with_rate(StoreFault::Fails, 1_000, 1);
    refused(&mut stage, &caller, arguments, "not-stored");
}

/// R138
#[test]
fn a_new_discussion_is_open_and_hands_its_result_to_the_callback_channel() {
    let mut stage = stage_with_admin_moderator();
    let channel = opened(&mut stage, &["b"]);
    let status =
        stage.call(move |d| async move { d.channel(channel).discussion().await }).unwrap().unwrap();
    assert_eq!(status.state, DiscussionState::Open);
    assert_eq!(status.terms.unwrap().callback, stage.channel());
}

/// The moderator's account, to which every channel looks like one of this kind.
struct Relabelled {
    account: MemoryAccount,
    kind: ChannelKind,
}

#[async_trait]
impl DiscordApi for Relabelled {
    fn sent_at(&self, message: MessageId) -> dirigent::ports::Timestamp {
        self.account.sent_at(message)
    }

    async fn me(&self) -> Result<UserId, ApiError> {
        self.account.me().await
    }

    async fn post(&self, post: Post) -> Result<Posted, ApiError> {
        self.account.post(post).await
    }

    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError> {
        self.account.delete(channel, message).await
    }

    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        self.account.history(request).await
    }

    async fn members(
        &self,
        channel: ChannelId,
        among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError> {
        self.account.members(channel, among).await
    }
}

#[async_trait]
impl GuildApi for Relabelled {
    async fn guilds(&self) -> Result<Vec<GuildId>, ApiError> {
        self.account.guilds().await
    }

    async fn channel(&self, channel: ChannelId) -> Result<ChannelInfo, ApiError> {
        let info = self.account.channel(channel).await?;
        Ok(ChannelInfo { kind: self.kind, ..info })
    }

    async fn channels(&self, guild: GuildId) -> Result<Vec<ChannelInfo>, ApiError> {
        self.account.channels(guild).await
    }

    async fn create_channel(&self, channel: NewChannel) -> Result<ChannelInfo, ApiError> {
        self.account.create_channel(channel).await
    }

    async fn delete_channel(&self, channel: ChannelId) -> Result<(), ApiError> {
        self.account.delete_channel(channel).await
    }

    async fn set_access(
        &self,
        channel: ChannelId,
        user: UserId,
        access: Access,
    ) -> Result<(), ApiError> {
        self.account.set_access(channel, user, access).await
    }

    async fn is_administrator(&self, guild: GuildId, user: UserId) -> Result<bool, ApiError> {
        self.account.is_administrator(guild, user).await
    }

    async fn is_bot(&self, guild: GuildId, user: UserId) -> Result<bool, ApiError> {
        self.account.is_bot(guild, user).await
    }

    async fn can_see(&self, channel: ChannelId, user: UserId) -> Result<bool, ApiError> {
        self.account.can_see(channel, user).await
    }
}

/// R142, D24
#[test]
fn a_discussion_that_was_taken_back_is_not_stored_later() {
    let slow = StoreFault::TakesSoLong(SECOND * 20);
    for first in [StoreFault::Fails, StoreFault::LosesAnswer, StoreFault::Hangs, slow] {
        let mut stage = stage_with_admin_moderator();
        stage.store().next_commit(first);
        stage.store().with_rate(StoreFault::Fails, 1_000, 1);
        let (caller, arguments) = (session(&stage, "a"), terms(&stage, &["b"]));
        let before = channels_of(&mut stage);
        assert_refused(call(&mut stage, &caller, TOOL, arguments), "not-stored");
        assert_eq!(channels_of(&mut stage), before);
        stage.advance(SECOND * 30);
        stage.store().stop_faults();
        let posts = stage.discord().calls();
        stage.advance(SECOND * 3_600);
        stage.restart();
        stage.advance(SECOND * 60);
        for channel in stage.store().known() {
            let stored = stage.store().stored(channel).unwrap().record;
            assert_eq!(
                (stored.snapshot.state.standing.mode, stored.discussion),
                (Mode::None, None),
                "{first:?}"
            );
            assert!(
                stored.outbox.is_empty() && stored.snapshot.pending.effects.is_empty(),
                "{first:?}"
            );
        }
        assert_eq!(stage.discord().calls().since(&posts).of(Call::Post), 0, "{first:?}");
    }
}
