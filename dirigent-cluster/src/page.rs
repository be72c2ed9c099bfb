//! The control page across several processes: asks the others, answers their questions, and adds the relay's `figures`.

mod figures;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent::ChannelId;
use dirigent_control::{Control, PageAnswer, PageQuestion, PeerError, Peers, Problem};
use dirigent_relay::parts::{read, write};
use dirigent_relay::{
    ANSWER_MAX, Asker, Client, HostId, ProcessRole, Refused, RelayError, RelayQuestion, Service,
};
use serde::{Deserialize, Serialize};

use crate::Owners;

pub use figures::RelayFigures;

/// The bytes that the seal adds to an answer, and some more.
const SEAL_MAX: usize = 1_024;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct AskPage(PageQuestion);

impl RelayQuestion for AskPage {
    const RULE: &'static str = "page";
    type Answer = PageAnswer;
}

/// Asks the pages of the other processes, so that yours shows the channels of all. Give it to
/// [`ControlBuilder::peers`](dirigent_control::ControlBuilder::peers), and answer the others with a [`PageService`].
///
/// ```no_run
/// use std::sync::Arc;
/// use dirigent_control::{ControlBuilder, ControlBuildError, Control};
/// use dirigent_cluster::{Owners, PagePeers, PageService};
/// use dirigent_relay::{Client, Server};
///
/// # fn example(page: ControlBuilder, client: Client, owners: Arc<dyn Owners>, server: Server) -> Result<(Control, Server), ControlBuildError> {
/// let control = page.peers(PagePeers::new(client, owners)).build()?;
/// let server = server.with(Arc::new(PageService::new(control.clone())));
/// # Ok((control, server))
/// # }
/// ```
pub struct PagePeers {
    client: Client,
    owners: Arc<dyn Owners>,
}

impl PagePeers {
    /// Creates it. Questions go with this client to the channels' owners.
    pub const fn new(client: Client, owners: Arc<dyn Owners>) -> Self {
        Self { client, owners }
    }
}

#[async_trait]
impl Peers for PagePeers {
    fn me(&self) -> String {
        self.client.me().to_string()
    }

    fn others(&self) -> Vec<String> {
        let all = self.owners.all().into_iter().filter(|host| host != self.client.me());
        all.map(|host| host.to_string()).collect()
    }

    fn owner(&self, channel: ChannelId) -> Option<String> {
        self.owners.owner(channel).map(|host| host.to_string())
    }

    async fn ask(&self, peer: &str, question: &PageQuestion) -> Result<PageAnswer, PeerError> {
        let host: HostId = peer.parse().map_err(|_| PeerError::NotReached)?;
        let asked = AskPage(question.clone());
        let answer = self.client.ask_within(&host, &asked, question.time_limit()).await;
        answer.map_err(|error| {
            tracing::debug!(%host, %error, "another process's page did not answer");
            why(&error)
        })
    }
}

fn why(error: &RelayError) -> PeerError {
    match error.refused() {
        Some(Refused::Failed { .. } | Refused::Elsewhere) => PeerError::NoAnswer,
        Some(_) => PeerError::NoPage,
        None if error.is_certain() => PeerError::NotReached,
        None => PeerError::NoAnswer,
    }
}

impl fmt::Debug for PagePeers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PagePeers").field("client", &self.client).finish_non_exhaustive()
    }
}

/// Answers the pages of other processes about this one's channels. Give it to the [`Server`](dirigent_relay::Server).
/// Only peers may ask: a slave is refused with [`Refused::OnlyPeers`].
#[derive(Debug)]
pub struct PageService {
    control: Control,
}

impl PageService {
    /// Answers from this process's page.
    pub const fn new(control: Control) -> Self {
        Self { control }
    }
}

#[async_trait]
impl Service for PageService {
    fn rules(&self) -> &'static [&'static str] {
        &[AskPage::RULE]
    }

    async fn serve(&self, asker: &Asker, _rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        if asker.role != ProcessRole::Peer {
            return Err(Refused::OnlyPeers);
        }
        let AskPage(question) = read(question)?;
        Ok(fitting(&self.control.answer(&question).await))
    }
}

/// Writes the answer. One that is too large to send becomes a problem that the visitor can read.
fn fitting(answer: &PageAnswer) -> Vec<u8> {
    let written = write(answer);
    if written.len() <= ANSWER_MAX - SEAL_MAX {
        return written;
    }
    let detail = "this is too large for the way between two processes; open the page of the channel's own process";
    write(&PageAnswer::Problem(Problem::new(413, "too-large", detail)))
}

#[cfg(test)]
pub(crate) mod tests {
    use dirigent::ports::ChannelRequest;
    use dirigent_control::drawing::WhatIfAsked;

    use super::*;
    use crate::tests::{Line, lines_of};

    /// All questions of a page, and the answers without drawings.
    pub(crate) fn lines() -> Vec<Line> {
        let channel = ChannelId::new(100_000_000_000_000_001);
        let ended = || {
            serde_json::from_str(r#"{"expires":1800000043200000,"account":2863311530}"#).unwrap()
        };
        let asked = WhatIfAsked { set: "order.skip_passed=true".into(), assume: "next".into() };
        let questions = [
            PageQuestion::Rows { after: None },
            PageQuestion::Rows { after: Some(channel) },
            PageQuestion::Channel { channel },
            PageQuestion::Score { channel },
            PageQuestion::Replay { channel },
            PageQuestion::WhatIf { channel, asked },
            PageQuestion::Order {
                channel,
                request: ChannelRequest::Mute { agent: "poet".into() },
                by: "operator at bot-1".to_owned(),
                reason: None,
            },
            PageQuestion::Post {
                channel,
                text: serde_json::from_str(r#""We are on it.""#).unwrap(),
                by: "operator at bot-1".to_owned(),
                reason: None,
            },
            PageQuestion::Agent { agent: "poet".into() },
            PageQuestion::RegistryChanged,
            PageQuestion::SignOuts { ended: vec![ended()] },
        ];
        let answers = [
            PageAnswer::Rows { rows: Vec::new(), has_more: true },
            PageAnswer::Agent { channels: Vec::new(), more: 3 },
            PageAnswer::File("<svg/>".to_owned()),
            PageAnswer::Done,
            PageAnswer::Elsewhere,
            PageAnswer::Problem(Problem::new(413, "too-large", "this is too large")),
            PageAnswer::SignOuts { ended: vec![ended()] },
        ];
        lines_of::<AskPage>(&questions.map(AskPage), &answers)
    }

    #[test]
    fn an_answer_that_is_too_large_for_the_way_is_a_problem_and_not_silence() {
        let most = ANSWER_MAX - SEAL_MAX - write(&PageAnswer::File(String::new())).len();
        for (length, is_sent) in [(most, true), (most + 1, false)] {
            let file = PageAnswer::File("a".repeat(length));
            let sent: PageAnswer = serde_json::from_slice(&fitting(&file)).unwrap();
            assert_eq!(sent == file, is_sent);
            if let PageAnswer::Problem(problem) = sent {
                assert_eq!(problem.status, 413);
            }
        }
    }
}
