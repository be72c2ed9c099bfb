//! The numbers for Prometheus. Each scrape fills a new registry.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use dirigent::operate::{Cause, Request, Tally};
use dirigent::snapshot::PhaseKind;
use http::{HeaderMap, header};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeMetric, NoLabelSet, prometheus_text, text,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::page::figures::Figure;
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers in `OpenMetrics` if the request asks for it, as Prometheus does. Other programs, for example `curl` and
/// `promtool`, get Prometheus's own text format. There the head of a counter has another name.
pub(crate) async fn metrics(
    State(shared): State<Arc<PageContext>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let asked = headers.get_all(header::ACCEPT).iter();
    let is_open = asked
        .filter_map(|kinds| kinds.to_str().ok())
        .any(|kinds| kinds.contains("application/openmetrics-text"));
    let mut phases = vec![0_u64; PhaseKind::ALL.len()];
    let (mut budget_used, mut budget_limit) = (0, 0);
    for id in shared.dirigent.channels() {
        // A channel that cannot be used counts as one that needs a person.
        let Ok(Some(status)) = shared.dirigent.channel(id).status().await else { continue };
        let at = PhaseKind::ALL.iter().position(|phase| *phase == status.phase);
        if let Some(count) = at.and_then(|at| phases.get_mut(at)) {
            *count += 1;
        }
        if let Some(limit) = status.rules.budget.cost {
            budget_limit += limit;
            budget_used += status.budget.cost;
        }
    }
    // These are the channels of this process, because each process reports its own.
    let rows = shared.rows_of_ours(&shared.dirigent.channels()).await?;
    let owned = rows.len();
    let needs_person = rows.iter().filter(|(_, row)| row.needs_person.is_some()).count();
    let numbers = Numbers {
        tally: shared.dirigent.tally(),
        phases,
        needs_person: u64::try_from(needs_person).unwrap_or(u64::MAX),
        owned: u64::try_from(owned).unwrap_or(u64::MAX),
        budget_used,
        budget_limit,
        drawings: shared.drawn.drawings(),
    };
    let mut registry = Registry::with_prefix("dirigent");
    registry.register_collector(Box::new(numbers));
    let figures: Vec<_> = shared.figures.iter().flat_map(|figures| figures.figures()).collect();
    registry.register_collector(Box::new(HostFigures { figures, is_open }));
    let mut told = String::new();
    let (encoded, kind) = if is_open {
        (text::encode(&mut told, &registry), OPEN_METRICS)
    } else {
        (prometheus_text::encode(&mut told, &registry), prometheus_text::CONTENT_TYPE)
    };
    encoded.map_err(|_| Problem::new(500, "failed", "the numbers cannot be written"))?;
    Ok(([(header::CONTENT_TYPE, kind), (header::VARY, "accept")], told).into_response())
}

#[derive(Debug)]
struct Numbers {
    tally: Tally,
    phases: Vec<u64>,
    needs_person: u64,
    owned: u64,
    budget_used: u64,
    budget_limit: u64,
    drawings: u64,
}

/// The turns by their ends.
pub(crate) const TURNS: [(&str, &[Cause]); 6] = [
    (
        "spoke",
        &[
            Cause::TailMatched,
            Cause::ReceiptGiven,
            Cause::QuietAfterMessage,
            Cause::DeliveryTimedOut,
        ],
    ),
    ("silent", &[Cause::Passed, Cause::AgentPassed, Cause::NothingNew]),
    ("repeated", &[Cause::Repeated]),
    ("timed-out", &[Cause::StartTimedOut, Cause::RunTimedOut, Cause::SignalMissing]),
    ("failed", &[Cause::RunFailed, Cause::RunLost, Cause::Undelivered]),
    ("interrupted", &[Cause::Interrupted]),
];

impl Collector for Numbers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Self { tally, phases, needs_person, owned, budget_used, budget_limit, drawings } = self;
        let causes =
            |causes: &[Cause]| causes.iter().map(|cause| tally.changes(*cause)).sum::<u64>();
        let turns = TURNS.iter().map(|(end, ends)| (*end, causes(ends)));
        counters(&mut encoder, ("turns", "Turns that ended, by how", "end"), turns)?;
        let waits = [Cause::HumanInterrupted, Cause::Held, Cause::ChatAway, Cause::AwaitingHuman];
        let waits = waits.iter().map(|cause| (cause.as_str(), tally.changes(*cause)));
        counters(
            &mut encoder,
            ("waits", "Times that channels began to wait, by why", "why"),
            waits,
        )?;
        let changes = Cause::ALL.iter().map(|cause| (cause.as_str(), tally.changes(*cause)));
        counters(&mut encoder, ("changes", "Changes of channels, by cause", "cause"), changes)?;
        let requests = Request::ALL.iter().map(|kind| (kind.as_str(), tally.requests(*kind)));
        counters(
            &mut encoder,
            ("requests", "Requests made of the chat, by kind", "kind"),
            requests,
        )?;
        let about = "Steps of the host's code that kept their thread for more than a second";
        counters(&mut encoder, ("long_steps", about, ""), [("", tally.long_steps())])?;
        let about = "Pages that were drawn; all who see the same share one";
        counters(&mut encoder, ("page_drawings", about, ""), [("", *drawings)])?;
        let phases = PhaseKind::ALL.iter().map(|phase| phase.as_str()).zip(phases.iter().copied());
        gauges(&mut encoder, ("channels", "Channels, by phase", "phase"), phases)?;
        gauges(
            &mut encoder,
            ("needs_person", "Channels that need a person", ""),
            [("", *needs_person)],
        )?;
        let about = "Channels with a record for which this process acts";
        gauges(&mut encoder, ("channels_owned", about, ""), [("", *owned)])?;
        let budget = [("used", *budget_used), ("limit", *budget_limit)];
        gauges(
            &mut encoder,
            ("budget_cost", "Cost of channels with a budget, in the host's unit", "of"),
            budget,
        )?;
        histograms(&mut encoder, tally)
    }
}

/// Adds the numbers of your program.
#[derive(Debug)]
struct HostFigures {
    figures: Vec<Figure>,
    /// The encoder of `OpenMetrics` does not escape a help text, but the other encoder does.
    is_open: bool,
}

impl Collector for HostFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut taken: HashSet<String> = OWN.iter().map(|name| (*name).to_owned()).collect();
        for figure in self.figures.iter().filter(|figure| figure.is_fit()) {
            // If a name occurs twice, Prometheus refuses the whole page.
            let names = [figure.name().to_owned(), figure.series()];
            if names.iter().any(|name| taken.contains(name)) {
                continue;
            }
            taken.extend(names);
            let kind = if figure.is_counter { MetricType::Counter } else { MetricType::Gauge };
            let help =
                if self.is_open { escaped(figure.help()) } else { figure.help().replace('\r', "") };
            let mut family = encoder.encode_descriptor(figure.name(), &help, None, kind)?;
            for (labels, value) in figure.distinct() {
                if figure.is_counter {
                    ConstCounter::new(*value).encode(family.encode_family(&labels)?)?;
                } else {
                    let value = i64::try_from(*value).unwrap_or(i64::MAX);
                    ConstGauge::new(value).encode(family.encode_family(&labels)?)?;
                }
            }
        }
        Ok(())
    }
}

/// The names of the page's own families and series, without the prefix. No figure of your program may have one of them.
const OWN: [&str; 20] = [
    "long_steps",
    "long_steps_total",
    "page_drawings",
    "page_drawings_total",
    "turns",
    "turns_total",
    "waits",
    "waits_total",
    "changes",
    "changes_total",
    "requests",
    "requests_total",
    "channels",
    "needs_person",
    "channels_owned",
    "budget_cost",
    "phase_seconds",
    "phase_seconds_bucket",
    "phase_seconds_count",
    "phase_seconds_sum",
];

/// Returns a help text on one line, as the format requires.
fn escaped(help: &str) -> String {
    help.replace('\\', "\\\\").replace('\n', "\\n").replace('"', "\\\"").replace('\r', "")
}

type About = (&'static str, &'static str, &'static str);

fn counters<'a>(
    encoder: &mut DescriptorEncoder<'_>,
    (name, help, label): About,
    rows: impl IntoIterator<Item = (&'a str, u64)>,
) -> fmt::Result {
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (value, count) in rows {
        let counter = ConstCounter::new(count);
        if label.is_empty() {
            counter.encode(family)?;
            return Ok(());
        }
        counter.encode(family.encode_family(&[(label, value)])?)?;
    }
    Ok(())
}

fn gauges<'a>(
    encoder: &mut DescriptorEncoder<'_>,
    (name, help, label): About,
    rows: impl IntoIterator<Item = (&'a str, u64)>,
) -> fmt::Result {
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (value, count) in rows {
        let gauge = ConstGauge::new(i64::try_from(count).unwrap_or(i64::MAX));
        if label.is_empty() {
            gauge.encode(family)?;
            return Ok(());
        }
        gauge.encode(family.encode_family(&[(label, value)])?)?;
    }
    Ok(())
}

/// Adds the time that channels spent in waiting phases.
fn histograms(encoder: &mut DescriptorEncoder<'_>, tally: &Tally) -> fmt::Result {
    let waited = [
        PhaseKind::Refreshing,
        PhaseKind::Granted,
        PhaseKind::Running,
        PhaseKind::Delivering,
        PhaseKind::Confirming,
        PhaseKind::Waiting,
    ];
    let help = "How long channels stayed in a phase: granted is the start of an agent, running its model, delivering and confirming the chat";
    let unit = prometheus_client::registry::Unit::Seconds;
    let mut family =
        encoder.encode_descriptor("phase", help, Some(&unit), MetricType::Histogram)?;
    for phase in waited {
        let times = tally.phase(phase);
        // The last bucket has no limit, because otherwise Prometheus computes no quantile.
        let buckets: Vec<(f64, u64)> = times
            .sizes()
            .map(|(limit, count)| (limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64()), count))
            .collect();
        let total = times.total().as_secs_f64();
        // The number is the sum of the buckets. The separate number may be newer, but both must agree.
        let count = buckets.iter().map(|(_, count)| count).sum();
        family
            .encode_family(&[("phase", phase.as_str())])?
            .encode_histogram::<NoLabelSet>(total, count, &buckets, None)?;
    }
    Ok(())
}
