//! The content of the `--state` file: accounts, guilds, channels and messages.

use std::fs;
use std::io;
use std::path::Path;

use dirigent_testkit::MemoryDiscord;
use serde::{Deserialize, Serialize};

mod chat;
mod guilds;
mod shown;
mod webhooks;

use super::stage::SeededGuild;
use chat::SavedChannel;
use guilds::{SavedAccount, SavedGuild};
use webhooks::SavedWebhook;

/// The version of the file's format.
const VERSION: u32 = 1;

/// The whole file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Saved {
    version: u32,
    stage: SeededGuild,
    /// The newest id. Later ones are higher.
    last_id: u64,
    accounts: Vec<SavedAccount>,
    guilds: Vec<SavedGuild>,
    channels: Vec<SavedChannel>,
    #[serde(default)]
    webhooks: Vec<SavedWebhook>,
}

impl Saved {
    /// Copies everything that is stored.
    pub(crate) fn of(discord: &MemoryDiscord, stage: &SeededGuild) -> Self {
        let world = discord.world();
        let mut accounts: Vec<_> =
            world.accounts.iter().map(|(id, account)| SavedAccount::of(id, account)).collect();
        accounts.sort_by_key(|account| account.id);
        let guilds = world.places.guilds.iter().map(|(id, it)| SavedGuild::of(*id, it)).collect();
        let mut channels: Vec<_> = world.places.rooms.values().map(SavedChannel::of).collect();
        channels.sort_by_key(|channel| channel.id);
        let last_id = world.ids.last();
        let webhooks = world.webhooks.by_id.iter();
        let webhooks = webhooks.map(|(id, webhook)| SavedWebhook::of(*id, webhook)).collect();
        let stage = stage.clone();
        Self { version: VERSION, stage, last_id, accounts, guilds, channels, webhooks }
    }

    /// Restores everything in an empty Discord. Returns the guild and its accounts.
    pub(crate) fn restore(self, discord: &MemoryDiscord) -> SeededGuild {
        let mut world = discord.world();
        world.ids.skip_to(self.last_id);
        for account in self.accounts {
            account.restore(&mut world);
        }
        for guild in self.guilds {
            guild.restore(&mut world);
        }
        for channel in self.channels {
            channel.restore(&mut world);
        }
        for webhook in self.webhooks {
            webhook.restore(&mut world);
        }
        self.stage
    }

    /// Reads the file. Returns `None` if it does not exist yet.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let bad = |error: &str| {
            let said = format!("{} is no state of this program: {error}", path.display());
            io::Error::new(io::ErrorKind::InvalidData, said)
        };
        let saved: Self = serde_json::from_slice(&text).map_err(|error| bad(&error.to_string()))?;
        if saved.version == VERSION { Ok(Some(saved)) } else { Err(bad("it has another version")) }
    }

    /// Replaces the whole file, so that a crash leaves the old one.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        fs::write(&beside, serde_json::to_vec(self)?)?;
        fs::rename(&beside, path)
    }
}
