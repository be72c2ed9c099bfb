//! Caches the channels of other processes for a moment, so that pages rarely ask for them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::Timestamp;
use futures_util::future::join_all;
use tokio::sync::Mutex;

use crate::page::look::Row;
use crate::page::peers::{PageAnswer, PageQuestion, PeerError, Peers};
use crate::page::shared::PageContext;

/// The time for which an answer is reused.
const FRESH_FOR: Duration = Duration::from_secs(1);
/// The pause before a process that did not answer is asked again.
const SILENT_FOR: Duration = Duration::from_secs(3);
/// The most answers with rows that one read gets from a process.
const ANSWERS_MAX: usize = 1_000;

/// The newest answers of the other processes.
#[derive(Default)]
pub(crate) struct PeerRows(Mutex<RowCache>);

#[derive(Default)]
struct RowCache {
    kept: HashMap<String, Kept>,
    /// Old rows of channels that are moving, because no process has them now.
    lost: BTreeMap<ChannelId, Row>,
}

#[derive(Clone)]
struct Kept {
    at: Timestamp,
    rows: Arc<Vec<(ChannelId, Row)>>,
    silent: Option<String>,
}

/// The channels of all other processes.
#[derive(Default)]
pub(crate) struct PeersTold {
    pub(crate) told: Vec<PeerTold>,
    /// The rows of channels without a process that answers.
    pub(crate) lost: Vec<(ChannelId, Row)>,
}

/// The newest answer of one other process.
pub(crate) struct PeerTold {
    peer: String,
    kept: Kept,
}

impl PeerTold {
    pub(crate) fn peer(&self) -> &str {
        &self.peer
    }

    /// Returns the reason why its answer is old, as a clause.
    pub(crate) fn silent(&self) -> Option<&str> {
        self.kept.silent.as_deref()
    }

    /// Returns the rows of its channels. They are grey if the process does not answer.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (ChannelId, Row)> {
        self.kept.rows.iter().map(|(id, row)| {
            let row = row.clone();
            (
                *id,
                match self.silent() {
                    Some(why) => row.grey(why),
                    None => row,
                },
            )
        })
    }
}

impl PeerRows {
    /// Returns the answers of the other processes, at most a moment old. All processes are asked at the same time.
    /// Visitors who ask during that time wait for these answers, too.
    pub(crate) async fn get(&self, shared: &PageContext, peers: &Arc<dyn Peers>) -> PeersTold {
        let mut state = self.0.lock().await;
        let others = peers.others();
        let now = shared.clock.now();
        let asked = others.iter().map(|peer| {
            let kept = state.kept.get(peer).cloned();
            async move {
                let kept = match kept {
                    Some(kept) if kept.is_fresh(now) => kept,
                    kept => ask(shared, peers, peer, kept).await,
                };
                (peer.clone(), kept)
            }
        });
        let asked = join_all(asked).await;
        state.renew(asked.iter().cloned().collect());
        state.lost.retain(|id, _| is_lost(shared, *id, &asked));
        let lost = state.lost.iter().map(|(id, row)| (*id, row.clone())).collect();
        let told = asked.into_iter().map(|(peer, kept)| PeerTold { peer, kept }).collect();
        PeersTold { told, lost }
    }
}

/// Returns true if there is no process to ask for the channel. A channel that its own process does not report is gone.
fn is_lost(shared: &PageContext, channel: ChannelId, asked: &[(String, Kept)]) -> bool {
    let Some(owner) = shared.across().owner(channel) else { return true };
    let told = asked.iter().find(|(peer, _)| *peer == owner);
    !shared.across().is_ours(channel) && told.is_none_or(|(_, kept)| kept.silent.is_some())
}

impl RowCache {
    /// Stores new answers. If only an older answer has a row, the row is lost until a process reports it again.
    fn renew(&mut self, kept: HashMap<String, Kept>) {
        for (id, row) in self.kept.values().flat_map(|before| &*before.rows) {
            self.lost.entry(*id).or_insert_with(|| row.clone());
        }
        for (id, _) in kept.values().flat_map(|now| &*now.rows) {
            self.lost.remove(id);
        }
        self.kept = kept;
    }
}

impl Kept {
    fn is_fresh(&self, now: Timestamp) -> bool {
        let fresh_for = if self.silent.is_some() { SILENT_FOR } else { FRESH_FOR };
        now.since(self.at) < fresh_for
    }
}

/// Asks one process. If it does not answer, its older answer stays.
async fn ask(
    shared: &PageContext,
    peers: &Arc<dyn Peers>,
    peer: &str,
    before: Option<Kept>,
) -> Kept {
    // There is one limit for all rows of a process and any number of answers, because visitors wait for the slowest
    // process.
    let limit = PageQuestion::Rows { after: None }.time_limit();
    let told = shared.across().within(limit, rows_of(peers, peer)).await;
    let at = shared.clock.now();
    match told {
        Ok(rows) => Kept { at, rows: Arc::new(rows), silent: None },
        Err(PeerError::NoPage) => {
            let silent = Some(format!("{peer} has no page, or one of another version"));
            Kept { at, silent, rows: Arc::default() }
        }
        Err(_) => {
            let rows = before.map(|before| before.rows).unwrap_or_default();
            Kept { at, silent: Some(format!("{peer} does not answer")), rows }
        }
    }
}

async fn rows_of(peers: &Arc<dyn Peers>, peer: &str) -> Result<Vec<(ChannelId, Row)>, PeerError> {
    let mut all = Vec::new();
    for _ in 0..ANSWERS_MAX {
        let after = all.last().map(|(id, _)| *id);
        let answer = peers.ask(peer, &PageQuestion::Rows { after }).await?;
        // The process may have started a moment ago, or its store may be unreachable.
        let is_passing = matches!(answer, PageAnswer::Problem(_));
        let PageAnswer::Rows { rows, has_more } = answer else {
            return Err(if is_passing { PeerError::NoAnswer } else { PeerError::NoPage });
        };
        let before = all.len();
        all.extend(rows.into_iter().filter_map(|row| Some((row.id.parse().ok()?, row))));
        // Without this check, an answer with no new rows would lead to endless questions.
        if !has_more || all.len() == before {
            break;
        }
    }
    Ok(all)
}
