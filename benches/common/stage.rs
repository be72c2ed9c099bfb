//! A chat with hosted agents and a person, before its channels are made.

use std::sync::Arc;

use dirigent::ports::Identity;
use dirigent::settings::Pacing;
use dirigent::store::ChannelStore;
use dirigent::{Agent, Config, Dirigent, Driver, MemoryIdentities, Settings, SystemClock, UserId};
use dirigent_testkit::MemoryDiscord;

pub(crate) struct BenchStage {
    pub(crate) discord: MemoryDiscord,
    pub(crate) dirigent: Dirigent,
    pub(crate) person: UserId,
    /// The moderator, the person and the agents.
    pub(crate) users: Vec<UserId>,
}

impl BenchStage {
    /// A Discord with a moderator, a person and agents that may speak without limit; and a driver that is not running
    /// yet.
    pub(crate) fn new<A: Agent>(
        agents: usize,
        agent: impl Fn(usize) -> A,
        store: Arc<dyn ChannelStore>,
    ) -> (Self, Driver) {
        let clock = SystemClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock)).with_history_max(20);
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let identities = MemoryIdentities::new();
        let mut settings = Settings::default();
        settings.limits.pacing = Pacing::off();
        settings.limits.calls_max = 1_000_000;
        // The agents say the same all the time.
        settings.reading.skip_repetitions = false;
        let mut config = Config::default();
        (config.ceilings.chat.turns, config.ceilings.chat.cycles) = (None, None);
        let account = discord.account(moderator);
        let mut builder = Dirigent::builder(account).identities(identities.clone()).clock(clock);
        builder = builder.settings(settings).config(config).channels(store);
        let mut users = vec![moderator, person];
        for number in 0..agents {
            let user = discord.add_bot();
            let name = format!("agent-{number}");
            let agent_id = name.as_str().into();
            let identity = Identity { discord_user_id: user, agent_id, agent_name: name.clone() };
            identities.add(identity).unwrap();
            builder = builder.host(name.as_str(), agent(number), discord.account(user));
            users.push(user);
        }
        let (dirigent, driver) = builder.build().unwrap();
        (Self { discord, dirigent, person, users }, driver)
    }
}
