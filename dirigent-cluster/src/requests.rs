//! Carries requests, and no events, to the owner of a channel.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent::ChannelId;
use dirigent::ports::{Carried, ChannelAnswer, ChannelRequest, GatewayEvent, OtherProcesses};
use dirigent_relay::Client;

use crate::Owners;
use crate::rules::carry_request;

/// Carries the requests of agents, tools and control pages to the process that owns the channel.
///
/// Give it to [`Builder::neighbours`](dirigent::host::Builder::neighbours) if each process hears all guilds by itself,
/// so that any of them may end while the others still hear. It carries neither events nor slash commands, because the
/// owner hears those itself. If the processes share the gateway's shards, use [`Forwarding`](crate::Forwarding)
/// instead.
///
/// ```no_run
/// use std::sync::Arc;
/// use dirigent::{Dirigent, DiscordApi};
/// use dirigent_cluster::{OwnerRequests, PostgresStore};
/// use dirigent_relay::Client;
///
/// # fn example(discord: Arc<dyn DiscordApi>, client: Client, store: PostgresStore) -> Result<(), Box<dyn std::error::Error>> {
/// let (dirigent, driver) = Dirigent::builder(discord)
///     .channels(store.clone())
///     .ownership(store.clone())
///     .neighbours(OwnerRequests::new(client, Arc::new(store)))
///     .build()?;
/// # let _ = (dirigent, driver);
/// # Ok(())
/// # }
/// ```
pub struct OwnerRequests {
    client: Client,
    owners: Arc<dyn Owners>,
}

impl OwnerRequests {
    /// Creates it. Requests go with this client to the channels' owners.
    pub const fn new(client: Client, owners: Arc<dyn Owners>) -> Self {
        Self { client, owners }
    }
}

#[async_trait]
impl OtherProcesses for OwnerRequests {
    fn heard(&self, _: GatewayEvent) {}

    fn reconnected(&self) {}

    fn hear_all(&self) -> bool {
        true
    }

    async fn request(
        &self,
        channel: ChannelId,
        request: &ChannelRequest,
        within: Duration,
    ) -> Carried<ChannelAnswer> {
        carry_request(&self.client, &*self.owners, channel, request, within).await
    }
}

impl fmt::Debug for OwnerRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnerRequests").field("client", &self.client).finish_non_exhaustive()
    }
}
