//! What goes over the wire between the adapter and its two partners: a server with fixed answers, which lets it
//! say everything it can say, and the kit's own Discord, whose answers must be as Discord's.

use std::sync::Arc;
use std::time::Duration;

use check_contract::{Exchange, Partner, Recorder};
use dirigent::ports::{ApiError, GuildId};
use dirigent::{ChannelId, Dirigent, DiscordApi, SystemClock, UserId};
use dirigent_discord::{DiscordAccount, Feed};
use dirigent_loopback::{LoopbackDiscord, Said, ServerLimits};
use dirigent_testkit::{ManualClock, MemoryDiscord};
use twilight_model::gateway::ShardId;

use crate::answers::{
    ANNOUNCEMENTS, DIRECT, GROUP, GUILD, PRIVATE_THREAD, TEXT, THREAD, answer, command_used,
};
use crate::calls::{Failures, Places, critic, make_all, make_personas, make_refused, refused};

/// A conversation, and the calls in it that did not end as they should.
pub(crate) struct Recording {
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) failures: Failures,
}

/// Why nothing could be recorded.
pub(crate) type Problem = Box<dyn std::error::Error + Send + Sync>;

fn account(recorder: &Recorder, token: &str) -> Result<DiscordAccount, Problem> {
    let account = DiscordAccount::builder(token, SystemClock::new()).proxy(recorder.address());
    // What is sent is looked at here, and not how fast.
    Ok(account.requests_per_second(100_000).build()?)
}

/// All calls, with answers that let each go on to its end.
pub(crate) async fn with_fixed_answers() -> Result<Recording, Problem> {
    let recorder = Recorder::start(Partner::Fixed(answer)).await?;
    let account = account(&recorder, "a.bot.token")?;
    let strangers = |count: u64| (0..count).map(|number| UserId::new(u64::MAX - number)).collect();
    let others = [ANNOUNCEMENTS, THREAD, PRIVATE_THREAD, DIRECT, GROUP];
    let places = Places {
        guild: GuildId::new(GUILD),
        text: ChannelId::new(TEXT),
        others: others.map(ChannelId::new).to_vec(),
        member: UserId::new(u64::MAX),
        parties: vec![strangers(0), strangers(2), strangers(98)],
    };
    let mut failures = make_all(&account, &places).await;
    use_the_command(&recorder).await?;
    let exchanges = recorder.exchanges();
    let is_answer = |path: &str| path.contains("/interactions/") || path.contains("/webhooks/");
    let answers = exchanges.iter().filter(|exchange| is_answer(exchange.request.path())).count();
    // One answer at once; one that is put off, and its words.
    if answers != 3 {
        failures.push(format!("the slash command: {answers} answers instead of 3"));
    }
    let moderator = Arc::new(self::account(&recorder, "a.bot.token")?);
    let persona = moderator.persona(critic())?;
    failures.extend(make_personas(&persona, &[TEXT, THREAD].map(ChannelId::new)).await);
    let exchanges = recorder.exchanges();
    Ok(Recording { exchanges, failures })
}

/// Uses the slash command twice: it is answered at once, and late.
async fn use_the_command(recorder: &Recorder) -> Result<(), Problem> {
    let clock = ManualClock::new();
    let account = DiscordAccount::builder("a.bot.token", clock.clone()).proxy(recorder.address());
    let account = Arc::new(account.build()?);
    let built = Dirigent::builder(account.clone()).clock(clock.clone());
    let (dirigent, driver) = built.build()?;
    let driver = tokio::spawn(driver.run());
    for (id, late) in [(1, Duration::ZERO), (2, Duration::from_millis(2_500))] {
        let built = Feed::builder(dirigent.clone(), account.clone(), Feed::INTENTS).build();
        let (feed, work) = built;
        let shard = feed.shard(ShardId::ONE);
        shard.text(&command_used(id).to_string());
        clock.advance(late);
        drop((shard, feed));
        work.run().await;
    }
    driver.abort();
    Ok(())
}

/// The same calls to the kit's own Discord, and some that it refuses.
pub(crate) async fn with_loopback() -> Result<Recording, Problem> {
    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let (owner, member, bot) = (discord.add_human(), discord.add_human(), discord.add_bot());
    let guild = discord.add_guild(owner);
    discord.guild(guild).add_member(bot);
    discord.guild(guild).add_member(member);
    discord.guild(guild).set_administrator(bot, true);
    let text = discord.add_channel(guild, "round-table", &[bot, member]);
    let hall = discord.add_open_channel(guild, "hall");
    let threads = [
        discord.channel(text).add_thread("aside", &[bot, member]),
        discord.channel(hall).add_public_thread("beside"),
    ];
    let direct = discord.add_direct(&[bot, member]);
    let server = LoopbackDiscord::start(discord).await?;
    people_write(&server, text, member)?;
    server.set_limits(ServerLimits::generous());
    let recorder = Recorder::start(Partner::Server(server.address())).await?;
    let places = Places {
        guild,
        text,
        others: [hall, direct].into_iter().chain(threads).collect(),
        member,
        parties: vec![Vec::new(), vec![member], vec![member, owner]],
    };
    let known = account(&recorder, &server.token(bot))?;
    let mut failures = make_all(&known, &places).await;
    failures.extend(make_refused(&known, &places).await);
    let unknown = account(&recorder, "a.bad.token")?;
    refused(&mut failures, "a bad token", &unknown.me().await);
    Ok(Recording { exchanges: recorder.exchanges(), failures })
}

/// One message of each kind that people write, so that the history has them all.
fn people_write(
    server: &LoopbackDiscord,
    channel: ChannelId,
    user: UserId,
) -> Result<(), ApiError> {
    const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0";
    let hello = server.say(channel, user, "hello")?;
    server.say(channel, user, Said::new("and hello again").reply_to(hello))?;
    let paste = Said::new("a line\n".repeat(300)).file("shot.png", PICTURE);
    let paste = server.say(channel, user, paste)?;
    server.say(channel, user, Said::forward(channel, paste))?;
    server.say(channel, user, Said::default().sticker(server.add_sticker("cat")))?;
    server.say(channel, user, Said::poll("Tabs or spaces?", ["Tabs", "Spaces"]))?;
    let gone = server.say(channel, user, "never mind")?;
    server.say(channel, user, Said::new("What?").reply_to(gone))?;
    server.discord().delete_message(channel, gone);
    server.start_thread(channel, user, hello, "topic")?;
    Ok(())
}
