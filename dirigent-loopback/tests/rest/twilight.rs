//! twilight's own client, unmodified: it reads every answer, and its models take them.

use twilight_http::Client;
use twilight_http::api_error::ApiError;
use twilight_http::error::ErrorType;
use twilight_http::request::channel::reaction::RequestReactionType;
use twilight_model::channel::ChannelType;
use twilight_model::channel::message::{AllowedMentions, Embed};
use twilight_model::guild::Permissions;
use twilight_model::http::attachment::Attachment;
use twilight_model::http::permission_overwrite::{PermissionOverwrite, PermissionOverwriteType};
use twilight_model::id::Id;

use super::*;

impl RestStage {
    fn client(&self, bot: UserId) -> Client {
        let address = self.loopback.address().to_string();
        let client = Client::builder().token(self.loopback.token(bot)).proxy(address, true);
        client.ratelimiter(None).default_allowed_mentions(AllowedMentions::default()).build()
    }
}

#[tokio::test(flavor = "current_thread")]
async fn twilight_reads_accounts_guilds_channels_and_members() {
    let stage = RestStage::new().await;
    let client = stage.client(stage.bot);
    let (guild, channel) = (Id::new(stage.guild.get()), Id::new(stage.channel.get()));
    let me = client.current_user().await.unwrap().model().await.unwrap();
    assert_eq!(me.id.get(), stage.bot.get());
    let application = client.current_user_application().await.unwrap().model().await.unwrap();
    assert_eq!(application.id.get(), stage.bot.get());
    let guilds = client.current_user_guilds().await.unwrap().models().await.unwrap();
    assert_eq!(guilds.len(), 1);
    let read = client.guild(guild).with_counts(true).await.unwrap().model().await.unwrap();
    assert_eq!((read.owner_id.get(), read.approximate_member_count), (stage.owner.get(), Some(3)));
    let channels = client.guild_channels(guild).await.unwrap().models().await.unwrap();
    assert_eq!(channels[0].permission_overwrites.as_ref().unwrap().len(), 3);
    let found = client.channel(channel).await.unwrap().model().await.unwrap();
    assert_eq!(found.name.as_deref(), Some("round-table"));
    let members = client.guild_members(guild).limit(10).await.unwrap().models().await.unwrap();
    assert_eq!(members.len(), 3);
    let bot = Id::new(stage.bot.get());
    let member = client.guild_member(guild, bot).await.unwrap().model().await.unwrap();
    assert!(member.user.bot && member.joined_at.is_some());
    let roles = client.roles(guild).await.unwrap().models().await.unwrap();
    assert_eq!(roles.len(), 4, "everyone, the channel managers, and one of each bot");
    let own = roles
        .iter()
        .find(|role| role.managed && role.tags.as_ref().unwrap().bot_id == Some(bot.cast()));
    assert!(member.roles.contains(&own.unwrap().id));
    let gateway = client.gateway().authed().await.unwrap().model().await.unwrap();
    assert_eq!(gateway.url, format!("ws://{}", stage.loopback.address()));
    assert_ne!(me.discriminator, 0, "that is a webhook's");
    assert_eq!(member.user.discriminator, me.discriminator);
    assert_eq!(stage.loopback.traffic().with_status(200), stage.loopback.traffic().total());
}

#[tokio::test(flavor = "current_thread")]
async fn twilight_posts_reads_changes_and_deletes() {
    let stage = RestStage::new().await;
    let client = stage.client(stage.bot);
    let channel = Id::new(stage.channel.get());
    let said = stage.discord.say(stage.channel, stage.owner, "hello");
    let reply = client.create_message(channel).content("good morning").reply(Id::new(said.get()));
    let posted = reply.await.unwrap().model().await.unwrap();
    assert_eq!(posted.referenced_message.unwrap().content, "hello");
    let page = client.channel_messages(channel).limit(10).await.unwrap().models().await.unwrap();
    assert_eq!(
        page.iter().map(|message| &*message.content).collect::<Vec<_>>(),
        ["good morning", "hello"]
    );
    let changed = client.update_message(channel, posted.id).content(Some("good night"));
    let changed = changed.await.unwrap().model().await.unwrap();
    assert!(changed.edited_timestamp.is_some());
    client.create_typing_trigger(channel).await.unwrap();
    client.delete_message(channel, posted.id).await.unwrap();
    let gone = client.message(channel, posted.id).await.unwrap_err();
    let ErrorType::Response { error: ApiError::General(error), status, .. } = gone.kind() else {
        panic!("{gone:?}");
    };
    assert_eq!((status.get(), error.code), (404, 10008));
}

#[tokio::test(flavor = "current_thread")]
async fn twilight_opens_channels_and_threads() {
    let stage = RestStage::new().await;
    let client = stage.client(stage.moderator);
    let guild = Id::new(stage.guild.get());
    let created = client.create_guild_channel(guild, "den").kind(ChannelType::GuildText);
    let created = created.topic("quiet").await.unwrap().model().await.unwrap();
    let overwrite = PermissionOverwrite {
        id: Id::new(stage.bot.get()),
        kind: PermissionOverwriteType::Member,
        allow: Some(Permissions::VIEW_CHANNEL),
        deny: None,
    };
    client.update_channel_permission(created.id, &overwrite).await.unwrap();
    let thread = client.create_thread(created.id, "aside", ChannelType::PublicThread);
    let thread = thread.await.unwrap().model().await.unwrap();
    assert_eq!(thread.parent_id, Some(created.id));
    client.add_thread_member(thread.id, Id::new(stage.bot.get())).await.unwrap();
    let members = client.thread_members(thread.id).with_member(true).limit(10);
    assert_eq!(members.await.unwrap().models().await.unwrap().len(), 2);
    let active = client.active_threads(guild).await.unwrap().model().await.unwrap();
    assert_eq!(active.threads.len(), 1);
    client.delete_channel(created.id).await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn twilight_registers_and_answers_commands() {
    use twilight_model::http::interaction::{InteractionResponse, InteractionResponseType};
    let stage = RestStage::new().await;
    let client = stage.client(stage.bot);
    let application = Id::new(stage.bot.get());
    let interaction = client.interaction(application);
    let command = interaction.create_guild_command(Id::new(stage.guild.get()));
    let command = command.chat_input("status", "Shows the status").await.unwrap();
    assert_eq!(command.model().await.unwrap().name, "status");
    let listed = interaction.guild_commands(Id::new(stage.guild.get())).await.unwrap();
    assert_eq!(listed.models().await.unwrap().len(), 1);
    let used = stage.loopback.use_command(stage.channel, stage.owner, stage.bot, "status", &[]);
    let used = used.unwrap();
    let token = format!("loopback-{used}-{:016x}", used.get().wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let kind = InteractionResponseType::DeferredChannelMessageWithSource;
    let response = InteractionResponse { kind, data: None };
    interaction.create_response(Id::new(used.get()), &token, &response).await.unwrap();
    let answered = interaction.update_response(&token).content(Some("All is well."));
    let answered = answered.await.unwrap().model().await.unwrap();
    assert!(answered.interaction_metadata.is_some());
    assert_eq!(stage.loopback.answers(used)[0].content, "All is well.");
}

#[tokio::test(flavor = "current_thread")]
async fn twilight_embeds_reacts_sends_files_and_pins() {
    let stage = RestStage::new().await;
    stage.discord.guild(stage.guild).set_administrator(stage.bot, true);
    let client = stage.client(stage.bot);
    let channel = Id::new(stage.channel.get());
    let embed: Embed = serde_json::from_value(json!({ "type": "rich", "title": "t" })).unwrap();
    let mut file = Attachment::from_bytes("a.txt".to_owned(), b"all of it".to_vec(), 0);
    file.description("what was said".to_owned());
    let (embeds, files) = ([embed], [file]);
    let sent = client.create_message(channel).embeds(&embeds).attachments(&files);
    let sent = sent.await.unwrap().model().await.unwrap();
    assert_eq!(sent.embeds[0].title.as_deref(), Some("t"));
    assert_eq!((sent.attachments[0].size, &*sent.attachments[0].filename), (9, "a.txt"));
    assert_eq!(sent.attachments[0].description.as_deref(), Some("what was said"));

    let thumb = RequestReactionType::Unicode { name: "👍" };
    client.create_reaction(channel, sent.id, &thumb).await.unwrap();
    let users = client.reactions(channel, sent.id, &thumb).await.unwrap().models().await.unwrap();
    assert_eq!(users[0].id.get(), stage.bot.get());
    let read = client.message(channel, sent.id).await.unwrap().model().await.unwrap();
    assert!(read.reactions[0].me);
    client.delete_current_user_reaction(channel, sent.id, &thumb).await.unwrap();
    client.create_reaction(channel, sent.id, &thumb).await.unwrap();
    client.delete_all_reaction(channel, sent.id, &thumb).await.unwrap();
    client.delete_all_reactions(channel, sent.id).await.unwrap();

    client.create_pin(channel, sent.id).await.unwrap();
    let pins = client.pins(channel).await.unwrap().model().await.unwrap();
    assert_eq!(pins.items[0].message.id, sent.id);
    client.delete_pin(channel, sent.id).await.unwrap();
    let more = client.create_message(channel).content("more").await.unwrap();
    let more = more.model().await.unwrap();
    client.delete_messages(channel, &[sent.id, more.id]).await.unwrap();
    assert_eq!(stage.discord.messages(stage.channel).len(), 1, "what is left tells of the pin");
}

#[tokio::test(flavor = "current_thread")]
async fn twilight_uses_webhooks_and_starts_threads() {
    let stage = RestStage::new().await;
    stage.discord.guild(stage.guild).set_administrator(stage.bot, true);
    let client = stage.client(stage.bot);
    let channel = Id::new(stage.channel.get());
    let webhook = client.create_webhook(channel, "herald").await.unwrap().model().await.unwrap();
    let token = webhook.token.clone().unwrap();
    let listed = client.channel_webhooks(channel).await.unwrap().models().await.unwrap();
    assert_eq!(listed[0].id, webhook.id);
    let sent = client.execute_webhook(webhook.id, &token).content("hear").username("crier").wait();
    let sent = sent.await.unwrap().model().await.unwrap();
    assert_eq!((sent.webhook_id, &*sent.author.name), (Some(webhook.id), "crier"));
    let change =
        client.update_webhook_message(webhook.id, &token, sent.id).content(Some("hear, hear"));
    assert_eq!(change.await.unwrap().model().await.unwrap().content, "hear, hear");
    client.delete_webhook_message(webhook.id, &token, sent.id).await.unwrap();
    client.delete_webhook(webhook.id).await.unwrap();
    for kind in [ChannelType::PublicThread, ChannelType::PrivateThread] {
        let thread =
            client.create_thread(channel, "aside", kind).await.unwrap().model().await.unwrap();
        assert_eq!(thread.kind, kind);
    }
    let said = stage.discord.say(stage.channel, stage.owner, "a topic").get();
    let thread = client.create_thread_from_message(channel, Id::new(said), "topic");
    assert_eq!(thread.await.unwrap().model().await.unwrap().id.get(), said);
}

/// What it posts, and reads back with its models.
#[tokio::test(flavor = "current_thread")]
async fn twilight_posts_components_and_polls() {
    use twilight_model::channel::message::component::{
        Container, Section, TextDisplay, Thumbnail, UnfurledMediaItem,
    };
    use twilight_model::channel::message::{Component, MessageFlags};
    use twilight_model::poll::{Poll, PollAnswer, PollLayoutType, PollMedia};

    let stage = RestStage::new().await;
    let client = stage.client(stage.bot);
    let channel = Id::new(stage.channel.get());
    let text = || TextDisplay { id: None, content: "all green".to_owned() };
    let media = UnfurledMediaItem {
        url: "https://example.invalid/a.png".to_owned(),
        proxy_url: None,
        height: None,
        width: None,
        content_type: None,
    };
    let thumbnail = Thumbnail { id: None, media, description: None, spoiler: None };
    let section = Section {
        id: None,
        components: vec![text().into()],
        accessory: Box::new(thumbnail.into()),
    };
    let container = Container {
        id: None,
        accent_color: None,
        spoiler: None,
        components: vec![section.into(), text().into()],
    };
    let posted = client
        .create_message(channel)
        .flags(MessageFlags::IS_COMPONENTS_V2)
        .components(&[container.into()])
        .await
        .unwrap()
        .model()
        .await
        .unwrap();
    let [Component::Container(container)] = &*posted.components else { panic!("{posted:?}") };
    let [Component::Section(section), _] = &*container.components else { panic!("{posted:?}") };
    assert_eq!(section.components.len(), 1);

    let said = |text: &str| PollMedia { text: Some(text.to_owned()), emoji: None };
    let poll = Poll {
        allow_multiselect: false,
        answers: vec![PollAnswer { answer_id: 1, poll_media: said("Tabs") }],
        expiry: None,
        layout_type: PollLayoutType::Default,
        question: said("Tabs or spaces?"),
        results: None,
    };
    let posted = client.create_message(channel).poll(&poll).await.unwrap().model().await.unwrap();
    assert_eq!(posted.poll.unwrap().question.text.as_deref(), Some("Tabs or spaces?"));
    let page = client.channel_messages(channel).limit(10).await.unwrap().models().await.unwrap();
    assert_eq!(page[1].components.len(), 1);
}
