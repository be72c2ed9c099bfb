//! The relay's numbers for the metrics of the control page.

use std::fmt;
use std::sync::Arc;

use dirigent_control::{Figure, Figures};
use dirigent_relay::parts::ServerCounts;
use dirigent_relay::{Client, Server};

use crate::Forwarding;

/// The relay's numbers for `/metrics`. Give them to
/// [`ControlBuilder::figures`](dirigent_control::ControlBuilder::figures).
///
/// | number | what it counts |
/// | --- | --- |
/// | `dirigent_forwards_total` by `rule` and `outcome` | questions that this process asked others: `answered`, `refused`, `not-carried`, `no-answer` |
/// | `dirigent_questions_total` by `outcome` | questions of others: `taken`, `rejected` |
/// | `dirigent_forwarded_events_total` by `outcome` | events of the gateway: `carried`, `dropped` |
/// | `dirigent_forwarded_events_waiting` | events that wait to be carried |
/// | `dirigent_forwarded_events_refused` | those of them that wait because an event of their channel was refused |
///
/// ```no_run
/// use dirigent_control::ControlBuilder;
/// use dirigent_cluster::{Forwarding, RelayFigures};
/// use dirigent_relay::{Client, Server};
///
/// # fn example(page: ControlBuilder, client: &Client, server: &Server, forwarding: &Forwarding) -> ControlBuilder {
/// page.figures(RelayFigures::of(client, server, forwarding))
/// # }
/// ```
pub struct RelayFigures {
    client: Client,
    server: Arc<ServerCounts>,
    forwarding: Forwarding,
}

impl RelayFigures {
    /// Collects the numbers of these three. You may give the server more services afterwards.
    pub fn of(client: &Client, server: &Server, forwarding: &Forwarding) -> Self {
        let (client, forwarding) = (client.clone(), forwarding.clone());
        Self { client, server: server.shared_counts(), forwarding }
    }
}

impl Figures for RelayFigures {
    fn figures(&self) -> Vec<Figure> {
        let about = "Questions that this process asked others, by rule and outcome";
        let asked = self.client.counts().into_iter();
        let forwards = asked.fold(Figure::counter("forwards", about), |figure, asked| {
            let labels = [("rule", asked.rule), ("outcome", asked.outcome.as_str())];
            figure.labelled(&labels, asked.count)
        });
        let (taken, rejected) = self.server.get();
        let questions = Figure::counter("questions", "Questions of other processes, by outcome")
            .labelled(&[("outcome", "taken")], taken)
            .labelled(&[("outcome", "rejected")], rejected);
        let (carried, dropped, waiting) = self.forwarding.counts();
        let about = "Events of the gateway for other processes, by outcome";
        let events = Figure::counter("forwarded_events", about)
            .labelled(&[("outcome", "carried")], carried)
            .labelled(&[("outcome", "dropped")], dropped);
        let about = "Events of the gateway that wait to be carried to another process";
        let waiting = Figure::gauge("forwarded_events_waiting", about)
            .value(u64::try_from(waiting).unwrap_or(u64::MAX));
        let about = "Events of the gateway that wait since an event of their channel was refused";
        let refused = Figure::gauge("forwarded_events_refused", about)
            .value(u64::try_from(self.forwarding.refused()).unwrap_or(u64::MAX));
        vec![forwards, questions, events, waiting, refused]
    }
}

impl fmt::Debug for RelayFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayFigures").field("client", &self.client).finish_non_exhaustive()
    }
}
