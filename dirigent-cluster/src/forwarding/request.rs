//! What agents' tools and other channels ask of a channel, on its way to the process that acts for it.

use dirigent::operate::{CreatedChannel, Opening, Refusal, ResultPost, Summary};
use dirigent::ports::{Carried, ChannelAnswer, ChannelRequest, GuildId};
use dirigent::store::Discussion;
use dirigent::{AgentId, ChannelId};
use dirigent_relay::{Refused, RelayError, RelayQuestion};
use serde::{Deserialize, Serialize};

/// A request, as it is written. It has no `Debug`: it has texts of people and agents.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AskChannel {
    pub(super) channel_id: ChannelId,
    request: WireRequest,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WireRequest {
    Register(WireCreated),
    MayConclude { by: AgentId },
    Conclude { by: AgentId, summary: Option<WireSummary> },
    Wake { first: Option<AgentId> },
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireCreated {
    mode: String,
    members: Vec<AgentId>,
    initiator: Option<AgentId>,
    /// Of a discussion with a callback channel.
    terms: Option<WireTerms>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTerms {
    callback: ChannelId,
    callback_guild: Option<GuildId>,
    guide: String,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WireSummary {
    Path(String),
    Text(String),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WireAnswer {
    Done,
    /// Whether the result is in the callback channel; none where there is no such channel.
    Concluded(Option<bool>),
    Refused(String),
    UnknownAgent(AgentId),
    UnknownChannel,
}

impl RelayQuestion for AskChannel {
    const RULE: &'static str = "channel-request";
    type Answer = WireAnswer;
}

impl AskChannel {
    pub(super) fn new(channel_id: ChannelId, request: ChannelRequest<'_>) -> Self {
        let request = match request {
            ChannelRequest::Register(made) => WireRequest::Register(made.into()),
            ChannelRequest::MayConclude { by } => WireRequest::MayConclude { by: by.clone() },
            ChannelRequest::Conclude { by, summary } => {
                let summary = summary.and_then(|summary| match summary {
                    Summary::Path(path) => Some(WireSummary::Path(path.to_owned())),
                    Summary::Text(text) => Some(WireSummary::Text(text.to_owned())),
                    // What a newer library may hand over is not written here yet.
                    _ => None,
                });
                WireRequest::Conclude { by: by.clone(), summary }
            }
            ChannelRequest::Wake { first } => WireRequest::Wake { first: first.cloned() },
        };
        Self { channel_id, request }
    }

    /// The channel that was created, where that is the request.
    pub(super) fn created(&self) -> Result<Option<CreatedChannel>, Refused> {
        let WireRequest::Register(made) = &self.request else { return Ok(None) };
        made.read().map(Some)
    }

    /// What is asked. `made` is what [`created`](Self::created) returned.
    pub(super) fn read<'a>(
        &'a self,
        made: Option<&'a CreatedChannel>,
    ) -> Option<ChannelRequest<'a>> {
        Some(match &self.request {
            WireRequest::Register(_) => ChannelRequest::Register(made?),
            WireRequest::MayConclude { by } => ChannelRequest::MayConclude { by },
            WireRequest::Conclude { by, summary } => {
                let summary = summary.as_ref().map(|summary| match summary {
                    WireSummary::Path(path) => Summary::Path(path),
                    WireSummary::Text(text) => Summary::Text(text),
                });
                ChannelRequest::Conclude { by, summary }
            }
            WireRequest::Wake { first } => ChannelRequest::Wake { first: first.as_ref() },
        })
    }
}

impl From<&CreatedChannel> for WireCreated {
    fn from(made: &CreatedChannel) -> Self {
        let terms = made.opening.as_ref().and_then(|opening| opening.terms.as_ref());
        let terms = terms.map(|terms| WireTerms {
            callback: terms.callback,
            callback_guild: terms.callback_guild,
            guide: terms.guide.clone(),
        });
        Self {
            mode: made.mode.as_str().to_owned(),
            members: made.members.clone(),
            initiator: made.opening.as_ref().map(|opening| opening.initiator.clone()),
            terms,
        }
    }
}

impl WireCreated {
    fn read(&self) -> Result<CreatedChannel, Refused> {
        let unknown = |_| Refused::BadQuestion { why: "the mode is not known here".to_owned() };
        let mode = self.mode.parse().map_err(unknown)?;
        let terms = self.terms.as_ref().map(|terms| Discussion {
            callback: terms.callback,
            callback_guild: terms.callback_guild,
            guide: terms.guide.clone(),
        });
        let opening = self.initiator.clone().map(|initiator| Opening { initiator, terms });
        Ok(CreatedChannel { mode, members: self.members.clone(), opening })
    }
}

impl From<ChannelAnswer> for WireAnswer {
    fn from(answer: ChannelAnswer) -> Self {
        match answer {
            ChannelAnswer::Done => Self::Done,
            ChannelAnswer::Concluded(post) => Self::Concluded(match post {
                ResultPost::Posted => Some(true),
                ResultPost::Nowhere => None,
                ResultPost::Queued | _ => Some(false),
            }),
            ChannelAnswer::Refused(refusal) => Self::Refused(refusal.as_str().to_owned()),
            ChannelAnswer::UnknownAgent(agent) => Self::UnknownAgent(agent),
            ChannelAnswer::UnknownChannel => Self::UnknownChannel,
        }
    }
}

impl WireAnswer {
    /// None: a refusal of a newer version.
    fn read(self) -> Option<ChannelAnswer> {
        Some(match self {
            Self::Done => ChannelAnswer::Done,
            Self::Concluded(Some(true)) => ChannelAnswer::Concluded(ResultPost::Posted),
            Self::Concluded(Some(false)) => ChannelAnswer::Concluded(ResultPost::Queued),
            Self::Concluded(None) => ChannelAnswer::Concluded(ResultPost::Nowhere),
            Self::Refused(name) => ChannelAnswer::Refused(Refusal::named(&name)?),
            Self::UnknownAgent(agent) => ChannelAnswer::UnknownAgent(agent),
            Self::UnknownChannel => ChannelAnswer::UnknownChannel,
        })
    }
}

/// What came of it.
pub(super) fn carried(answer: Result<WireAnswer, RelayError>) -> Carried<ChannelAnswer> {
    match answer {
        Ok(answer) => answer.read().map_or(Carried::NotCarried, Carried::Answered),
        Err(error) => {
            tracing::debug!(%error, "a request to a channel could not be carried");
            not_carried(&error)
        }
    }
}

/// What may be concluded where there is no answer.
pub(super) fn not_carried<T>(error: &RelayError) -> Carried<T> {
    match error.refused() {
        Some(Refused::Elsewhere) => Carried::NoOwner,
        _ if error.is_certain() => Carried::NotCarried,
        _ => Carried::InDoubt,
    }
}

#[cfg(test)]
mod tests {
    use dirigent::Mode;

    use super::*;
    use dirigent_relay::CarryError;

    const fn channel(number: u64) -> ChannelId {
        ChannelId::new(100_000_000_000_000_000 + number)
    }

    /// What the other process reads of a request.
    fn written(request: ChannelRequest<'_>) -> AskChannel {
        let text = serde_json::to_string(&AskChannel::new(channel(1), request)).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_request_and_its_answer_arrive_as_they_were_asked() {
        let poet = AgentId::from("poet");
        let terms = Discussion {
            callback: channel(2),
            callback_guild: Some(GuildId::new(channel(3).get())),
            guide: "Which plan?".to_owned(),
        };
        let opening = Opening { initiator: poet.clone(), terms: Some(terms) };
        let members = vec!["critic".into(), poet.clone()];
        let discussion =
            CreatedChannel { mode: Mode::Discussion, members, opening: Some(opening.clone()) };
        let bare = Opening { terms: None, ..opening };
        let made = [
            CreatedChannel { opening: Some(bare), ..discussion.clone() },
            CreatedChannel { mode: Mode::Work, opening: None, ..discussion.clone() },
            discussion,
        ];
        let by = &poet;
        let others = [
            ChannelRequest::MayConclude { by },
            ChannelRequest::Conclude { by, summary: None },
            ChannelRequest::Conclude { by, summary: Some(Summary::Path("a/b.md")) },
            ChannelRequest::Conclude { by, summary: Some(Summary::Text("We take it.")) },
            ChannelRequest::Wake { first: None },
            ChannelRequest::Wake { first: Some(by) },
        ];
        for request in made.iter().map(ChannelRequest::Register).chain(others) {
            let read = written(request);
            let made = read.created().unwrap();
            assert_eq!(read.read(made.as_ref()), Some(request));
        }
        for answer in [
            ChannelAnswer::Done,
            ChannelAnswer::Concluded(ResultPost::Posted),
            ChannelAnswer::Concluded(ResultPost::Queued),
            ChannelAnswer::Concluded(ResultPost::Nowhere),
            ChannelAnswer::Refused(Refusal::NotTheInitiator),
            ChannelAnswer::UnknownAgent(poet.clone()),
            ChannelAnswer::UnknownChannel,
        ] {
            let text = serde_json::to_string(&WireAnswer::from(answer.clone())).unwrap();
            let read = serde_json::from_str(&text).unwrap();
            assert_eq!(carried(Ok(read)), Carried::Answered(answer));
        }
        assert_eq!(carried(Ok(WireAnswer::Refused("unheard-of".into()))), Carried::NotCarried);
    }

    #[test]
    fn a_request_is_carried_again_only_where_it_was_surely_not_done() {
        let host = || "bot-1".parse().unwrap();
        let refused = |source| RelayError::Refused { host: host(), source };
        let lost = |source| RelayError::Carry { host: host(), source };
        let failed =
            |may_be_done| refused(Refused::Failed { why: "the store".to_owned(), may_be_done });
        for (error, expected) in [
            (refused(Refused::Elsewhere), Carried::NoOwner),
            (refused(Refused::UnknownRule), Carried::NotCarried),
            (failed(false), Carried::NotCarried),
            (failed(true), Carried::InDoubt),
            (lost(CarryError::unreachable("refused")), Carried::NotCarried),
            (lost(CarryError::no_answer("lost")), Carried::InDoubt),
            (RelayError::NoAnswer { host: host(), within_ms: 2_000 }, Carried::InDoubt),
        ] {
            let told = error.to_string();
            assert_eq!(carried(Err(error)), expected, "{told}");
        }
    }
}
