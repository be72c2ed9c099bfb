//! The parts of the page that all requests share.

use std::net::IpAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use dirigent::ports::GuildApi;
use dirigent::tools::Tools;
use dirigent::{Clock, Dirigent, IdentityStore};
use http::request::Parts;
use tokio::sync::{Semaphore, watch};

use crate::page::across::AllRows;
use crate::page::auth::Auth;
use crate::page::drawn::Drawn;
use crate::page::figures::Figures;
use crate::page::heard_peers::HeardPeers;
use crate::page::kept::KeptPages;
use crate::page::made_once::MadeOnce;
use crate::page::memory_recorder::MemoryRecorder;
use crate::page::order_log::OrderLog;
use crate::page::peer_rows::PeerRows;
use crate::page::peers::Peers;
use crate::page::places::PlacesCache;
use crate::page::ports::{Check, EgoFile, PlayWhatIf, ReadRecording};
use crate::page::since::SinceCache;

/// Reads a visitor's address from a request.
pub(crate) type ReadAddress = Arc<dyn Fn(&Parts) -> Option<IpAddr> + Send + Sync>;

/// The parts of the page that all requests share, as the builder put them together.
pub(crate) struct PageContext {
    pub(crate) dirigent: Dirigent,
    pub(crate) tools: Tools,
    /// The moderator's account.
    pub(crate) chat: Arc<dyn GuildApi>,
    /// The places for reads of messages.
    pub(crate) reads: Semaphore,
    pub(crate) identities: Arc<dyn IdentityStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) places: PlacesCache,
    /// The other processes, if there are several.
    pub(crate) peers: Option<Arc<dyn Peers>>,
    pub(crate) peer_rows: PeerRows,
    pub(crate) auth: Mutex<Auth>,
    /// The name of the session's cookie.
    pub(crate) cookie: String,
    pub(crate) check: Option<Arc<dyn Check>>,
    pub(crate) ego: Option<Arc<dyn EgoFile>>,
    pub(crate) recordings: Option<Arc<dyn ReadRecording>>,
    pub(crate) what_if: Option<Arc<dyn PlayWhatIf>>,
    pub(crate) recorder: Option<MemoryRecorder>,
    pub(crate) figures: Vec<Arc<dyn Figures>>,
    pub(crate) address: ReadAddress,
    pub(crate) base: String,
    pub(crate) streams: Arc<Semaphore>,
    /// The places for replays of recordings.
    pub(crate) replays: Arc<Semaphore>,
    /// The number of orders and of changes of the registry, because some of them change a page without an event.
    pub(crate) orders: watch::Sender<u64>,
    /// The number of sign-outs. The streams of these sessions end.
    pub(crate) sign_outs: watch::Sender<u64>,
    /// The other processes, as they were asked for their sign-outs.
    pub(crate) heard: HeardPeers,
    /// The number of texts that people posted, because each gets its own nonce.
    pub(crate) posts: AtomicU64,
    pub(crate) order_log: OrderLog,
    pub(crate) since: SinceCache,
    pub(crate) drawn: Drawn,
    pub(crate) kept: KeptPages,
    /// Every channel in one line, for all overviews.
    pub(crate) all_rows: MadeOnce<AllRows>,
}
