//! The channels of this process and of others. Each question is answered here, or by the process that acts for the
//! channel.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::{ChannelRequest, Standing};

use crate::page::look::{ChannelFacts, ChannelLook, DriverAnswer, Overview, Query, Row};
use crate::page::made_once::Freshness;
use crate::page::order::Told;
use crate::page::peer_rows::{PeerTold, PeersTold};
use crate::page::peers::{ChannelSheet, PageAnswer, PageQuestion, PeerError, Peers};
use crate::page::places::Places;
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

/// The pause before a channel that moves to another process is asked for again.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// The reason why no process answers for a channel.
enum Unanswered {
    /// No process is known to act for it.
    NoOwner,
    /// Your program has set no peers.
    NoWay,
    /// The channel's process does not answer.
    Silent { peer: String, error: PeerError },
}

impl Unanswered {
    const fn is_certain(&self) -> bool {
        match self {
            Self::NoOwner | Self::NoWay => true,
            Self::Silent { error, .. } => error.is_certain(),
        }
    }

    /// Returns the problem for a program, and for the person who gave an order.
    fn problem(&self) -> Problem {
        let advice = if self.is_certain() {
            "nothing was done; try again in some seconds"
        } else {
            "it may have been done: look before you try again"
        };
        Problem::new(503, "owner-silent", format!("{self}; {advice}"))
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoOwner => {
                f.write_str("no process acts for this channel now; one will in some seconds")
            }
            Self::NoWay => f.write_str("another process acts for this channel"),
            Self::Silent { peer, error: PeerError::NoPage } => {
                write!(
                    f,
                    "{peer} acts for this channel, and has no page, or one of another version"
                )
            }
            Self::Silent { peer, .. } => write!(f, "{peer} does not answer"),
        }
    }
}

/// The rows of every channel, and the known places of the channels.
pub(crate) struct AllRows {
    rows: Vec<Row>,
    places: Arc<Places>,
    /// The other processes that do not answer.
    silent: Vec<String>,
}

/// Questions about the channels of all processes.
#[derive(Clone, Copy)]
pub(crate) struct Across<'a> {
    pub(crate) shared: &'a PageContext,
}

impl PageContext {
    /// The channels of all processes.
    pub(crate) const fn across(&self) -> Across<'_> {
        Across { shared: self }
    }
}

impl Across<'_> {
    /// Returns true if this process acts for the channel.
    pub(crate) fn is_ours(self, channel: ChannelId) -> bool {
        self.shared.dirigent.channel(channel).standing() != Standing::Elsewhere
    }

    /// Returns true if the channel's page can change without an event of this process.
    pub(crate) fn is_told_elsewhere(self, channel: ChannelId) -> bool {
        self.shared.peers.is_some() && !self.is_ours(channel)
    }

    /// Returns the process that acts for the channel, if there are several.
    pub(crate) fn owner(self, channel: ChannelId) -> Option<String> {
        let peers = self.shared.peers.as_ref()?;
        if self.is_ours(channel) { Some(peers.me()) } else { peers.owner(channel) }
    }

    /// Answers a question of another process, for the channels of this process only.
    pub(crate) async fn answer(self, question: &PageQuestion) -> PageAnswer {
        if question.channel().is_some_and(|channel| !self.is_ours(channel)) {
            return PageAnswer::Elsewhere;
        }
        let answered = match question {
            PageQuestion::Rows { after } => self
                .shared
                .own_rows(*after)
                .await
                .map(|(rows, has_more)| PageAnswer::Rows { rows, has_more }),
            PageQuestion::Channel { channel } => self
                .shared
                .own_sheet(*channel)
                .await
                .map(|sheet| PageAnswer::Channel(Box::new(sheet))),
            PageQuestion::Score { channel } => {
                self.shared.own_score(*channel).await.map(|score| PageAnswer::File(score.file()))
            }
            PageQuestion::Replay { channel } => {
                self.shared.own_replay(*channel).await.map(PageAnswer::File)
            }
            PageQuestion::WhatIf { channel, asked } => {
                self.shared.own_what_if(*channel, asked).await.map(PageAnswer::File)
            }
            PageQuestion::Order { channel, request, by, reason } => {
                let told = Told::Request(request.clone());
                let given = self.shared.own_order(*channel, &told, (by, reason.as_deref())).await;
                given.map(|()| PageAnswer::Done)
            }
            PageQuestion::Post { channel, text, by, reason } => {
                let told = Told::Post(text.clone());
                let given = self.shared.own_order(*channel, &told, (by, reason.as_deref())).await;
                given.map(|()| PageAnswer::Done)
            }
            PageQuestion::Agent { agent } => {
                let told = self.shared.own_agent(agent).await;
                told.map(|(channels, more)| PageAnswer::Agent { channels, more })
            }
            PageQuestion::SignOuts { ended } => {
                self.shared.end_sessions(ended);
                Ok(PageAnswer::SignOuts { ended: self.shared.ended_sessions() })
            }
            PageQuestion::RegistryChanged => {
                let read = self.shared.dirigent.identities_changed().await;
                self.shared.orders.send_modify(|orders| *orders += 1);
                match read {
                    Ok(()) => Ok(PageAnswer::Done),
                    Err(error) => Err(error.into()),
                }
            }
        };
        answered.unwrap_or_else(|problem| {
            if question.channel().is_some() && self.changes_hands(&problem) {
                PageAnswer::Elsewhere
            } else {
                PageAnswer::Problem(problem)
            }
        })
    }

    /// Returns true if the order was not performed because the channel moves to another process.
    pub(crate) fn changes_hands(self, problem: &Problem) -> bool {
        problem.is_elsewhere() || (self.shared.peers.is_some() && problem.is_shut_down())
    }

    /// Asks the process that acts for the channel, which may be this one. While the channel moves to another process,
    /// this asks again. An order is repeated only if it was certainly not performed.
    async fn ask_owner(
        self,
        channel: ChannelId,
        question: &PageQuestion,
    ) -> Result<PageAnswer, Unanswered> {
        let until = self.shared.clock.now() + question.time_limit();
        loop {
            let answer = self.answer(question).await;
            if answer != PageAnswer::Elsewhere {
                return Ok(answer);
            }
            let unanswered = match self.ask_other(channel, question).await {
                Ok(PageAnswer::Elsewhere) => Unanswered::NoOwner,
                Err(unanswered) if unanswered.is_certain() => unanswered,
                answer => return answer,
            };
            let again = self.shared.clock.now() + ASK_AGAIN;
            if again >= until || matches!(unanswered, Unanswered::NoWay) {
                return Err(unanswered);
            }
            self.shared.clock.sleep_until(again).await;
        }
    }

    async fn ask_other(
        self,
        channel: ChannelId,
        question: &PageQuestion,
    ) -> Result<PageAnswer, Unanswered> {
        let peers = self.shared.peers.as_ref().ok_or(Unanswered::NoWay)?;
        let owner = peers.owner(channel).filter(|owner| *owner != peers.me());
        let peer = owner.ok_or(Unanswered::NoOwner)?;
        let answer = self.ask_peer(peers, &peer, question).await;
        answer.map_err(|error| Unanswered::Silent { peer, error })
    }

    /// Asks another process, and waits for its answer as long as the question allows.
    pub(crate) async fn ask_peer(
        self,
        peers: &Arc<dyn Peers>,
        peer: &str,
        question: &PageQuestion,
    ) -> Result<PageAnswer, PeerError> {
        self.within(question.time_limit(), peers.ask(peer, question)).await
    }

    /// Returns the answer of a process if it comes within this time.
    pub(crate) async fn within<T>(
        self,
        limit: Duration,
        answer: impl Future<Output = Result<T, PeerError>> + Send,
    ) -> Result<T, PeerError> {
        let late = self.shared.clock.sleep_until(self.shared.clock.now() + limit);
        tokio::select! {
            biased;
            answer = answer => answer,
            () = late => Err(PeerError::NoAnswer),
        }
    }

    /// Returns one channel from the process that acts for it. If that process does not answer, the page says so.
    pub(crate) async fn sheet(self, channel: ChannelId) -> Result<ChannelSheet, Problem> {
        match self.ask_owner(channel, &PageQuestion::Channel { channel }).await {
            Ok(PageAnswer::Channel(sheet)) => Ok(*sheet),
            Ok(PageAnswer::Problem(problem)) => Err(problem),
            Ok(_) => Err(unfit()),
            Err(unanswered) => {
                let row = self.away(channel, unanswered.to_string()).await?;
                let (names, places) =
                    (self.shared.names(), self.shared.places.get(&self.shared.dirigent).await);
                let look = ChannelLook::of(row, &ChannelFacts::default(), &names, &places);
                Ok(ChannelSheet::new(look, String::new(), false))
            }
        }
    }

    /// Returns a file of the channel from the process that acts for it.
    pub(crate) async fn file(
        self,
        channel: ChannelId,
        question: &PageQuestion,
    ) -> Result<String, Problem> {
        match self.ask_owner(channel, question).await {
            Ok(PageAnswer::File(file)) => Ok(file),
            Ok(PageAnswer::Problem(problem)) => Err(problem),
            Ok(_) => Err(unfit()),
            Err(unanswered) => Err(unanswered.problem()),
        }
    }

    /// Returns the visitor's name as it is logged. If there are several processes, it contains the name of this one.
    pub(crate) fn signed(self, by: &str) -> String {
        match &self.shared.peers {
            Some(peers) => format!("{by} at {}", peers.me()),
            None => by.to_owned(),
        }
    }

    /// Gives an order to a channel in any process, and makes open pages look again.
    pub(crate) async fn order(
        self,
        channel: ChannelId,
        told: Told,
        by: &str,
        reason: Option<String>,
    ) -> Result<(), Problem> {
        let by = self.signed(by);
        if let Told::Request(ChannelRequest::SendResult { to }) = &told
            && let Err(problem) = self.shared.must_be_of_its_guild(channel, *to).await
        {
            // No process was asked, so the order is logged here if the channel exists.
            self.shared.must_be_shown(channel).await?;
            let given = Err(problem);
            self.shared.record_order((channel, &told), (&by, reason.as_deref()), &given).await;
            self.shared.orders.send_modify(|orders| *orders += 1);
            return given;
        }
        let question = match told {
            Told::Request(request) => PageQuestion::Order { channel, request, by, reason },
            Told::Post(text) => PageQuestion::Post { channel, text, by, reason },
        };
        let given = self.ask_owner(channel, &question).await;
        self.shared.orders.send_modify(|orders| *orders += 1);
        match given {
            Ok(PageAnswer::Done) => Ok(()),
            Ok(PageAnswer::Problem(problem)) => Err(problem),
            Ok(_) => Err(unfit()),
            Err(unanswered) => Err(unanswered.problem()),
        }
    }

    /// Returns the channels that match the query, of all processes.
    pub(crate) async fn overview(
        self,
        query: &Query,
        freshness: Freshness,
    ) -> Result<Overview, Problem> {
        let all = self.all(freshness).await?;
        let overview = Overview::of(&all.rows, query, &all.places);
        Ok(Overview { silent: all.silent.clone(), ..overview })
    }

    /// Returns every channel in one line, ordered by id.
    pub(crate) async fn rows(self, freshness: Freshness) -> Result<Vec<Row>, Problem> {
        Ok(self.all(freshness).await?.rows.clone())
    }

    async fn all(self, freshness: Freshness) -> Result<Arc<AllRows>, Problem> {
        self.shared.all_rows.get(freshness, || self.shared.moment(), self.all_rows()).await
    }

    /// Returns every channel in one line.
    async fn all_rows(self) -> Result<AllRows, Problem> {
        let places = self.shared.places.get(&self.shared.dirigent).await;
        let own = self.shared.rows_of_ours(&self.shared.dirigent.channels()).await?;
        let mut rows: BTreeMap<ChannelId, Row> = own.into_iter().collect();
        let told = match &self.shared.peers {
            Some(peers) => self.shared.peer_rows.get(self.shared, peers).await,
            None => PeersTold::default(),
        };
        let (told, lost) = (told.told, told.lost);
        let mut silent = Vec::new();
        for told in &told {
            for (id, row) in told.rows() {
                rows.entry(id).or_insert(row);
            }
            silent.extend(told.silent().map(|_| told.peer().to_owned()));
        }
        for (id, row) in lost {
            let why = Unanswered::NoOwner.to_string();
            rows.entry(id).or_insert_with(|| Row { owner: self.owner(id), ..row.grey(&why) });
        }
        let listed = places.channels.keys().copied().filter(|id| places.lists(*id));
        let known = self.shared.dirigent.channels();
        let untold: Vec<_> =
            known.iter().copied().chain(listed).filter(|id| !rows.contains_key(id)).collect();
        let (names, now) = (self.shared.names(), self.shared.clock.now());
        for id in untold {
            let known = match self.why_untold(id, &told) {
                Some(why) => DriverAnswer::Elsewhere(why),
                // If its process answers without this channel, the channel has no record left.
                None if places.lists(id) => DriverAnswer::Unmanaged,
                None => continue,
            };
            let row = Row::of(id, (&known, &names), &places, now);
            rows.insert(id, Row { owner: self.owner(id), ..row });
        }
        rows.retain(|id, row| row.is_listed(places.lists(*id)));
        Ok(AllRows { rows: rows.into_values().collect(), places, silent })
    }

    /// Returns the reason why there is no row of the channel: its process does not answer, or there is no such process.
    fn why_untold(self, channel: ChannelId, told: &[PeerTold]) -> Option<String> {
        if self.is_ours(channel) {
            return None;
        }
        let owner = self.owner(channel);
        match told.iter().find(|told| Some(told.peer()) == owner.as_deref()) {
            Some(told) => told.silent().map(ToString::to_string),
            None if self.shared.peers.is_none() => Some(Unanswered::NoWay.to_string()),
            None => Some(Unanswered::NoOwner.to_string()),
        }
    }

    /// Returns the row of a channel whose process does not report it.
    async fn away(self, channel: ChannelId, why: String) -> Result<Row, Problem> {
        let places = self.shared.places.get(&self.shared.dirigent).await;
        let names = self.shared.names();
        let known = DriverAnswer::Elsewhere(why);
        let row = Row::of(channel, (&known, &names), &places, self.shared.clock.now());
        Ok(Row { owner: self.owner(channel), ..row })
    }

    /// Reports a change of the registry to the other processes. A process that does not answer reads the registry when
    /// a channel comes to it.
    pub(crate) async fn tell_registry_changed(self) {
        self.shared.orders.send_modify(|orders| *orders += 1);
        let Some(peers) = &self.shared.peers else { return };
        let others = peers.others();
        let told = others.iter().map(|peer| async move {
            let told = self.ask_peer(peers, peer, &PageQuestion::RegistryChanged).await;
            if let Err(error) = told {
                tracing::warn!(peer, %error, "a process was not told of the registry's change");
            }
        });
        futures_util::future::join_all(told).await;
    }
}

/// Returns the problem for an answer that does not fit the question, which comes from a process of another version.
pub(crate) fn unfit() -> Problem {
    Problem::new(502, "unfit-answer", "the process that acts for the channel has another version")
}
