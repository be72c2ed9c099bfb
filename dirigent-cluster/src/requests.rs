//! Carries requests alone, where each process hears all guilds by itself.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent::ChannelId;
use dirigent::ports::{Carried, ChannelAnswer, ChannelRequest, GatewayEvent, Neighbours};
use dirigent_relay::Client;

use crate::Owners;
use crate::rules::carry_request;

/// Carries what agents that ask, tools and control pages ask of a channel to the process that acts for it. Given to
/// [`Builder::neighbours`](dirigent::host::Builder::neighbours) where each process hears all guilds by itself, so that any of them may
/// end and the others hear as before. Events are not carried, and a slash command is answered by the owner, which hears it, too.
/// Where the processes share the gateway's shards, take [`Forwarding`](crate::Forwarding).
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
    /// Carries by this client, to the processes that act for the channels.
    pub const fn new(client: Client, owners: Arc<dyn Owners>) -> Self {
        Self { client, owners }
    }
}

#[async_trait]
impl Neighbours for OwnerRequests {
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
