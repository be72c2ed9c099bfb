//! Shows a router's events among those of Dirigent.

use std::sync::Arc;

use dirigent::{ChannelId, Dirigent};

use crate::router::{RouterEventKind, RouterEvents};

/// Reports to Dirigent's listeners what agents do for a channel, with
/// [`Channel::progress`](dirigent::Channel::progress): waiting, started, progress, ended. It covers messages whose
/// session is a channel, for example those of [`RouterOrchestrator`](crate::RouterOrchestrator) and
/// [`RouterAgent`](crate::RouterAgent). Run the future beside the driver. It ends with the router.
///
/// ```no_run
/// use dirigent::Dirigent;
/// use dirigent_delegate::{Router, show_progress};
///
/// fn beside(router: &Router, dirigent: Dirigent) {
///     tokio::spawn(show_progress(router.events(), dirigent));
/// }
/// ```
pub async fn show_progress(mut events: RouterEvents, dirigent: Dirigent) {
    while let Some(event) = events.next().await {
        let Ok(channel) = event.session_id.parse() else {
            continue;
        };
        let told: Option<(Arc<str>, Arc<str>)> = match event.kind {
            RouterEventKind::Waiting { agent } => Some((agent.as_str().into(), "waits".into())),
            RouterEventKind::Started { agent } => Some((agent.as_str().into(), "works".into())),
            RouterEventKind::Progress { agent, so_far } => Some((agent.as_str().into(), so_far)),
            RouterEventKind::Finished { agent, status, .. } => {
                let ended = format!("ended: {status:?}").to_lowercase();
                Some((agent.as_str().into(), ended.into()))
            }
            RouterEventKind::Asked { .. }
            | RouterEventKind::ModelFailed { .. }
            | RouterEventKind::Answered { .. }
            | RouterEventKind::Missed(_) => None,
        };
        if let Some((worker, so_far)) = told {
            dirigent.channel(ChannelId::new(channel)).progress(worker, so_far);
        }
    }
}
