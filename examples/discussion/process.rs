//! The process: the library, its files, and the agents' tools. It can be killed, and entered again.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dirigent::host::RunError;
use dirigent::ports::GuildId;
use dirigent::settings::Pacing;
use dirigent::tools::{Caller, Tools};
use dirigent::{ChannelId, Dirigent, Settings};
use dirigent_store::{JsonChannels, JsonIdentities};
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::Result;
use crate::agents::Speaker;
use crate::world::World;

/// The library while it runs.
pub(crate) struct Process {
    pub(crate) dirigent: Dirigent,
    /// What the library decides.
    pub(crate) changes: dirigent::operate::Events,
    tools: ToolAccess,
    driver: JoinHandle<std::result::Result<(), RunError>>,
}

/// Where agents find their tools. Emptied when the process ends: the tools hold the library, which
/// holds the agents.
#[derive(Clone)]
pub(crate) struct ToolAccess {
    tools: Arc<Mutex<Option<Tools>>>,
    guild: GuildId,
    data: PathBuf,
}

impl Process {
    /// Starts the library on the files in this folder, also on those of an earlier process.
    pub(crate) async fn enter(world: &World, data: &Path) -> Result<Self> {
        std::fs::create_dir_all(data)?;
        let identities = JsonIdentities::open(data.join("dirigent-identity.json"))?;
        let channels = JsonChannels::open(data.join("state"))?;
        let mut settings = Settings::default();
        settings.limits.pacing = Pacing::off(); // Discord limits posts; memory does not.
        let moderator = world.moderator();
        let (dirigent, driver) = Dirigent::builder(moderator.clone())
            .identities(identities)
            .clock(world.clock())
            .channels(channels)
            .settings(settings)
            .build()?;
        let tools = Arc::new(Mutex::new(Some(Tools::new(dirigent.clone(), moderator))));
        let tools = ToolAccess { tools, guild: world.guild(), data: data.to_owned() };
        for member in world.members() {
            let account = world.discord().account(member.user);
            let speaker = Speaker {
                member: member.clone(),
                discord: world.discord().clone(),
                clock: world.clock(),
                thinks: world.thinks(),
                tools: tools.clone(),
                workspace: tools.workspace(member.name),
            };
            dirigent.host(member.name, speaker, account);
        }
        let (changes, driver) = (dirigent.events(), tokio::spawn(driver.run()));
        // The driver must have begun before it can be asked for anything.
        tokio::task::yield_now().await;
        Ok(Self { dirigent, changes, tools, driver })
    }

    /// An agent calls a tool, as its model would.
    pub(crate) async fn call(
        &self,
        agent: &str,
        channel: Option<ChannelId>,
        tool: &str,
        arguments: &Value,
    ) -> Result<Value> {
        self.tools.call(&self.tools.caller(agent, channel), tool, arguments).await
    }

    /// Ends it without a word, as a power cut would.
    pub(crate) async fn kill(self) {
        self.tools.clear();
        self.driver.abort();
        // It was cancelled: that is what was asked for.
        let _ = self.driver.await;
    }

    /// Ends it in order.
    pub(crate) async fn leave(self) -> Result {
        self.dirigent.shutdown(Duration::from_secs(2)).await;
        self.tools.clear();
        self.driver.await??;
        Ok(())
    }
}

impl ToolAccess {
    /// The session: what the host knows of the agent, and no argument can change.
    pub(crate) fn caller(&self, agent: &str, channel: Option<ChannelId>) -> Caller {
        let workspace = Some(self.workspace(agent));
        Caller { guild: Some(self.guild), channel, workspace, ..Caller::new(agent) }
    }

    /// Calls a tool, and shows what a model would have sent and been answered.
    pub(crate) async fn call(
        &self,
        caller: &Caller,
        tool: &str,
        arguments: &Value,
    ) -> Result<Value> {
        println!("{:>11} calls {tool} {arguments}", caller.agent.as_str());
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let tools = tools.ok_or("the process is ending")?;
        let answer = tools.call(caller, tool, arguments).await?;
        println!("{:>11}    -> {answer}", "");
        Ok(answer)
    }

    fn workspace(&self, agent: &str) -> PathBuf {
        self.data.join("workspaces").join(agent)
    }

    fn clear(&self) {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
