//! The parts of the page, and the builder that puts them together.

use std::collections::HashSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::ConnectInfo;
use axum::response::Redirect;
use axum::routing::get;
use dirigent::host::IntoShared;
use dirigent::ports::GuildApi;
use dirigent::tools::Tools;
use dirigent::{Clock, Dirigent, IdentityStore, SystemClock};
use http::Uri;
use http::request::Parts;
use tokio::sync::{Semaphore, watch};

use crate::page::auth::Auth;
use crate::page::drawn::Drawn;
use crate::page::figures::Figures;
use crate::page::heard_peers::HeardPeers;
use crate::page::kept::KeptPages;
use crate::page::made_once::MadeOnce;
use crate::page::memory_recorder::MemoryRecorder;
use crate::page::messages::READS_MAX;
use crate::page::order_log::OrderLog;
use crate::page::peer_rows::PeerRows;
use crate::page::peers::{PageAnswer, PageQuestion, Peers};
use crate::page::places::PlacesCache;
use crate::page::ports::{Check, EgoFile, OrderStore, PlayWhatIf, ReadRecording};
use crate::page::shared::{PageContext, ReadAddress};
use crate::page::since::SinceCache;

/// The shortest token, in characters. A shorter one could be guessed.
const TOKEN_MIN: usize = 16;
/// The default path of the page.
const BASE: &str = "/dirigent";
/// The default limit of open live pages.
const STREAMS_MAX: usize = 2_000;
/// The most recordings that are replayed at the same time.
const REPLAYS_MAX: usize = 2;

/// The control page. Clones are cheap and share it.
///
/// ```no_run
/// # use dirigent_control::Control;
/// # fn host(control: &Control) -> axum::Router {
/// // In a host's own router; it serves with `into_make_service_with_connect_info`, so that addresses are known.
/// axum::Router::new().nest("/dirigent", control.router())
/// # }
/// ```
#[derive(Clone)]
pub struct Control {
    pub(crate) shared: Arc<PageContext>,
}

/// Builds a [`Control`]. The crate's page has an example.
#[must_use]
pub struct ControlBuilder {
    dirigent: Dirigent,
    chat: Arc<dyn GuildApi>,
    identities: Arc<dyn IdentityStore>,
    clock: Arc<dyn Clock>,
    operator: Option<(String, String)>,
    operators: Vec<(String, String)>,
    viewer: Option<String>,
    check: Option<Arc<dyn Check>>,
    ego: Option<Arc<dyn EgoFile>>,
    recordings: Option<Arc<dyn ReadRecording>>,
    what_if: Option<Arc<dyn PlayWhatIf>>,
    recorder: Option<MemoryRecorder>,
    peers: Option<Arc<dyn Peers>>,
    figures: Vec<Arc<dyn Figures>>,
    order_store: Option<Arc<dyn OrderStore>>,
    address: ReadAddress,
    base: String,
    streams_max: usize,
}

/// Why a [`Control`] cannot be built.
///
/// ```
/// use dirigent_control::ControlBuildError;
/// assert!(ControlBuildError::ShortToken.to_string().contains("16 characters"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlBuildError {
    /// There is no token of an operator.
    #[error("an operator's token is needed; give one with operator_token")]
    NoToken,
    /// A token is too short.
    #[error("a token must have at least 16 characters, or it can be guessed")]
    ShortToken,
    /// Two tokens are equal.
    #[error("each operator and the viewer need a token of their own")]
    SameToken,
    /// The name of an operator is not valid.
    #[error(
        "an operator's name must be 1 to 100 characters in one line, without control characters"
    )]
    BadName,
    /// Two operators have the same name, so the log of orders could not distinguish them.
    #[error("each operator needs a name of their own in the log of orders")]
    SameName,
    /// The path is not valid.
    #[error(
        "the path must begin with a slash, end without one, and have letters, digits, - and _ between"
    )]
    BadPath,
}

impl Control {
    /// Creates a builder. Pass the moderator's account as `chat`, and the registry that the driver uses as
    /// `identities`.
    pub fn builder(
        dirigent: Dirigent,
        chat: Arc<dyn GuildApi>,
        identities: impl IntoShared<dyn IdentityStore>,
    ) -> ControlBuilder {
        ControlBuilder {
            dirigent,
            chat,
            identities: identities.into_shared(),
            clock: Arc::new(SystemClock::new()),
            operator: None,
            operators: Vec::new(),
            viewer: None,
            check: None,
            ego: None,
            recordings: None,
            what_if: None,
            recorder: None,
            peers: None,
            figures: Vec::new(),
            order_store: None,
            address: Arc::new(peer),
            base: BASE.to_owned(),
            streams_max: STREAMS_MAX,
        }
    }

    /// Returns the routes. Nest them at the path that you gave to the builder.
    pub fn router(&self) -> Router {
        crate::page::routes::guarded(&self.shared)
    }

    /// Returns the page at its path, with and without a slash at the end. Merge it into your own router, or serve it alone. A
    /// router that is only [nested](Self::router) does not answer with that slash.
    ///
    /// ```no_run
    /// # use dirigent_control::Control;
    /// # fn host(control: &Control) -> axum::Router {
    /// axum::Router::new().merge(control.at_its_path())
    /// # }
    /// ```
    pub fn at_its_path(&self) -> Router {
        let base = self.shared.base.clone();
        let without_slash = move |uri: Uri| {
            let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
            std::future::ready(Redirect::permanent(&format!("{base}{query}")))
        };
        Router::new()
            .nest(&self.shared.base, self.router())
            .route(&format!("{}/", self.shared.base), get(without_slash))
    }

    /// Answers a question of another process's page, for the channels of this process only. Call it only for processes
    /// that act for channels themselves and that you trust with every channel. An order is performed without a check of
    /// who gave it, and the log says who gave it.
    ///
    /// # Cancellation
    ///
    /// If you drop the future, an order may or may not have been performed.
    pub async fn answer(&self, question: &PageQuestion) -> PageAnswer {
        self.shared.across().answer(question).await
    }
}

impl ControlBuilder {
    /// Sets the token of an operator, who can see and steer everything. It has at least 16 characters. The log of
    /// orders calls this operator `operator`.
    pub fn operator_token(mut self, token: impl Into<String>) -> Self {
        self.operator = Some(("operator".to_owned(), token.into()));
        self
    }

    /// Adds an operator, who can see and steer everything, with a name and a token of at least 16 characters. The log
    /// of orders contains the name, which has 1 to 100 characters in one line. You can add several operators with
    /// different names.
    pub fn operator(mut self, name: impl Into<String>, token: impl Into<String>) -> Self {
        self.operators.push((name.into(), token.into()));
        self
    }

    /// Sets the token of viewers, who can read everything and cannot give orders. It has at least 16 characters.
    /// Default: none.
    pub fn viewer_token(mut self, token: impl Into<String>) -> Self {
        self.viewer = Some(token.into());
        self
    }

    /// Sets your own check. It is called if a request has none of the tokens that you set here. Default: none.
    pub fn check(mut self, check: impl Check) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Sets the file that can fill the registry. Default: none, so that no page offers a scan.
    pub fn ego(mut self, ego: impl EgoFile) -> Self {
        self.ego = Some(Arc::new(ego));
        self
    }

    /// Sets the reader for recordings that people upload as files. Default: none, so that no page offers it.
    pub fn recordings(mut self, reader: impl ReadRecording) -> Self {
        self.recordings = Some(Arc::new(reader));
        self
    }

    /// Sets the player for recordings under other rules, for example `dirigent_lab::program::compare`. Then the pages of
    /// replays have a form for it. Default: none, so that no page offers it.
    pub fn what_if(mut self, player: impl PlayWhatIf) -> Self {
        self.what_if = Some(Arc::new(player));
        self
    }

    /// Sets the recorder of the rooms. Give the same recorder to the library. Default: none. Then scores show no
    /// denials, and you cannot replay a room.
    pub fn recorder(mut self, recorder: MemoryRecorder) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Sets the other processes on the same store. The page then shows their channels, too, and sends orders to them.
    /// Default: none, so that the page only says that a channel belongs to another process.
    pub fn peers(mut self, peers: impl Peers) -> Self {
        self.peers = Some(Arc::new(peers));
        self
    }

    /// Sets the durable log of orders. Default: none, so that the page shows the orders since the process started.
    pub fn order_log(mut self, store: impl OrderStore) -> Self {
        self.order_store = Some(Arc::new(store));
        self
    }

    /// Adds numbers to `/metrics`. You can call it several times. If two figures have the same name, the first one
    /// counts. Default: only the library's numbers.
    pub fn figures(mut self, figures: impl Figures) -> Self {
        self.figures.push(Arc::new(figures));
        self
    }

    /// Sets the clock. By default it is the [`SystemClock`]; set another one in tests.
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = clock.into_shared();
        self
    }

    /// Sets how the address of a visitor is read, because failed attempts are counted by address. By default it is the
    /// address of the connection, if you serve with `into_make_service_with_connect_info`. Behind a proxy that is the
    /// address of the proxy, so read the header that your own proxy sets.
    pub fn address(
        mut self,
        read: impl Fn(&Parts) -> Option<IpAddr> + Send + Sync + 'static,
    ) -> Self {
        self.address = Arc::new(read);
        self
    }

    /// Sets the path of the page, as browsers ask for it. Default `/dirigent`.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.base = path.into();
        self
    }

    /// Sets the most live pages that can be open. Further ones get the status 503. Default 2,000, and in
    /// [`Control::serve`] at most three quarters of its connections.
    pub const fn streams_max(mut self, streams: usize) -> Self {
        self.streams_max = streams;
        self
    }

    /// Builds the page. This starts no task.
    ///
    /// # Errors
    ///
    /// Returns a [`ControlBuildError`] if a value is missing or not valid.
    pub fn build(self) -> Result<Control, ControlBuildError> {
        let operators: Vec<_> = self.operator.iter().chain(&self.operators).collect();
        if operators.is_empty() {
            return Err(ControlBuildError::NoToken);
        }
        if operators.iter().any(|(name, _)| !is_name(name)) {
            return Err(ControlBuildError::BadName);
        }
        let names: HashSet<_> = operators.iter().map(|(name, _)| name).collect();
        if names.len() < operators.len() {
            return Err(ControlBuildError::SameName);
        }
        let tokens: Vec<_> = operators.iter().map(|(_, token)| token).chain(&self.viewer).collect();
        if tokens.iter().any(|token| token.chars().count() < TOKEN_MIN) {
            return Err(ControlBuildError::ShortToken);
        }
        if tokens.iter().collect::<HashSet<_>>().len() < tokens.len() {
            return Err(ControlBuildError::SameToken);
        }
        if !is_path(&self.base) {
            return Err(ControlBuildError::BadPath);
        }
        let operators = operators.iter().map(|(name, token)| (&**name, &**token));
        let auth = Auth::new(operators, self.viewer.as_deref());
        let shared = PageContext {
            cookie: auth.cookie(),
            tools: Tools::new(self.dirigent.clone(), Arc::clone(&self.chat)),
            places: PlacesCache::new(Arc::clone(&self.chat), Arc::clone(&self.clock)),
            chat: self.chat,
            reads: Semaphore::new(READS_MAX),
            since: SinceCache::new(&self.dirigent),
            dirigent: self.dirigent,
            identities: self.identities,
            clock: self.clock,
            auth: Mutex::new(auth),
            check: self.check,
            ego: self.ego,
            recordings: self.recordings,
            what_if: self.what_if,
            recorder: self.recorder,
            peers: self.peers,
            figures: self.figures,
            peer_rows: PeerRows::default(),
            address: self.address,
            base: self.base,
            streams: Arc::new(Semaphore::new(self.streams_max.min(Semaphore::MAX_PERMITS))),
            replays: Arc::new(Semaphore::new(REPLAYS_MAX)),
            orders: watch::Sender::new(0),
            sign_outs: watch::Sender::new(0),
            heard: HeardPeers::default(),
            posts: AtomicU64::new(0),
            order_log: OrderLog::new(self.order_store),
            drawn: Drawn::default(),
            kept: KeptPages::default(),
            all_rows: MadeOnce::default(),
        };
        Ok(Control { shared: Arc::new(shared) })
    }
}

fn is_name(name: &str) -> bool {
    name.chars().count() <= 100 && dirigent::host::plain::is_name(name)
}

fn is_path(path: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_plain))
}

fn peer(parts: &Parts) -> Option<IpAddr> {
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip())
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("path", &self.shared.base).finish_non_exhaustive()
    }
}

impl fmt::Debug for ControlBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlBuilder").field("path", &self.base).finish_non_exhaustive()
    }
}
