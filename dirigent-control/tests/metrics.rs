//! `/metrics`, as a foreign parser and the shipped board read it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;

use axum::body::Body;
use dirigent_control::Figure;
use http::{Method, header};
use prometheus_parse::{HistogramCount, Scrape, Value as Number};
use serde_json::Value;

use crate::fixture::{Fixture, VIEWER, request};

/// What Prometheus asks for.
const OPEN_METRICS: &str = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

/// What Prometheus scrapes from a page over a channel in which two agents have spoken.
async fn scraped(figures: impl Fn() -> Vec<Figure> + Send + Sync + 'static) -> String {
    scraped_as(OPEN_METRICS, figures).await
}

async fn scraped_as(
    kinds: &str,
    figures: impl Fn() -> Vec<Figure> + Send + Sync + 'static,
) -> String {
    let fixture = Fixture::open_with(|builder| builder.figures(figures)).await;
    let channel = fixture.chat("den").await;
    fixture.discord.say(channel, fixture.person, "Speak now");
    fixture.until(channel, |status| (status.turn.get() >= 2).then_some(())).await;
    let mut asked = request(Method::GET, "/dirigent/metrics", VIEWER, Body::empty());
    asked.headers_mut().insert(header::ACCEPT, kinds.parse().unwrap());
    let answer = fixture.ask(asked).await;
    let is_open = kinds == OPEN_METRICS;
    let kind = if is_open { "application/openmetrics-text" } else { "text/plain; version=0.0.4" };
    assert!(answer.header(header::CONTENT_TYPE).starts_with(kind), "{:?}", answer.headers);
    answer.text
}

fn parsed(text: &str) -> Scrape {
    Scrape::parse(text.lines().map(|line| io::Result::Ok(line.to_owned()))).unwrap()
}

/// The quantile as Prometheus computes it: without a bucket that has no limit it is not a number.
fn quantile(of: f64, buckets: &[HistogramCount]) -> f64 {
    let Some(last) = buckets.last().filter(|last| last.less_than == f64::INFINITY) else {
        return f64::NAN;
    };
    let rank = of * last.count;
    let at = buckets.iter().position(|bucket| bucket.count >= rank).unwrap();
    buckets[at.min(buckets.len() - 2)].less_than
}

/// PG3: every histogram has a last bucket without a limit that counts all, its buckets never fall, and its quantiles are numbers.
#[tokio::test]
async fn quantiles_of_every_phase_that_lasted_are_numbers() {
    let text = scraped(Vec::new).await;
    let scrape = parsed(&text);
    let single = |name: &str, phase: &str| {
        let is_it = |sample: &&prometheus_parse::Sample| {
            sample.metric == name && sample.labels.get("phase") == Some(phase)
        };
        match scrape.samples.iter().find(is_it).unwrap().value {
            Number::Untyped(value) => value,
            ref other => panic!("{name} is {other:?}"),
        }
    };
    let mut lasted = 0;
    let mut histograms = 0;
    for sample in &scrape.samples {
        let Number::Histogram(buckets) = &sample.value else { continue };
        histograms += 1;
        let phase = sample.labels.get("phase").unwrap();
        let last = buckets.last().unwrap();
        assert!(last.less_than.is_infinite(), "{phase}: {buckets:?}");
        let count = single("dirigent_phase_seconds_count", phase);
        assert!((last.count - count).abs() < f64::EPSILON, "{phase}");
        assert!(single("dirigent_phase_seconds_sum", phase) >= 0.0);
        for pair in buckets.windows(2) {
            assert!(pair[0].less_than < pair[1].less_than, "{phase}: {pair:?}");
            assert!(pair[0].count <= pair[1].count, "{phase}: {pair:?}");
            assert!(pair[0].less_than < 1e12, "{phase}: {pair:?} is no limit");
        }
        if last.count > 0.0 {
            lasted += 1;
            assert!(quantile(0.95, buckets).is_finite(), "{phase}: {buckets:?}");
        }
    }
    assert_eq!(histograms, 6, "{text}");
    assert!(lasted >= 3, "{text}");
}

/// A sample: its name, its labels as they are written, and its value.
fn sample(line: &str) -> (&str, &str, &str) {
    let name = line.split(['{', ' ']).next().unwrap();
    let rest = &line[name.len()..];
    let (labels, value) = rest.rsplit_once(' ').unwrap();
    (name, labels, value)
}

/// Checks the rules of the format line by line; returns the names of all samples, with the names of their labels.
fn check(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    assert!(text.ends_with("\n# EOF\n") && text.matches("# EOF").count() == 1, "{text}");
    let (mut families, mut told, mut seen) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut family = ("", "");
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().take_while(|line| *line != "# EOF") {
        assert!(!line.is_empty() && !line.contains('\r'), "{line:?}");
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        if let ["#", kind @ ("HELP" | "TYPE" | "UNIT"), name, what] = *words {
            assert!(told.insert((kind, name)), "{line}: told twice");
            if kind == "TYPE" {
                assert!(families.insert(name), "{line}: told twice");
                family = (name, what);
            }
            if kind == "UNIT" {
                assert!(name.ends_with(&format!("_{what}")), "{line}");
            }
        } else {
            assert!(!line.starts_with('#'), "{line}: no comment of this kind");
            let (name, labels, value) = sample(line);
            let ends: &[&str] = match family.1 {
                "counter" => &["_total"],
                "gauge" => &[""],
                "histogram" => &["_bucket", "_count", "_sum"],
                other => panic!("{line}: a family of the kind {other}"),
            };
            let is_of_family = |end: &&str| name.strip_suffix(*end) == Some(family.0);
            assert!(ends.iter().any(is_of_family), "{line}: not of {family:?}");
            let value: f64 = value.parse().unwrap();
            assert!(value.is_finite() && value >= 0.0, "{line}");
            assert!(seen.insert((name, labels)), "{line}: told twice");
            let labels = labels_of(labels);
            let distinct: BTreeSet<String> = labels.iter().cloned().collect();
            assert_eq!(distinct.len(), labels.len(), "{line}: a label twice");
            names.entry(name.to_owned()).or_default().extend(distinct);
        }
    }
    names
}

/// The names of labels, of which each value is in quotes, with its own quotes and line ends escaped.
fn labels_of(written: &str) -> Vec<String> {
    let mut names = Vec::new();
    let Some(mut rest) = written.strip_prefix('{').map(|inner| inner.strip_suffix('}').unwrap())
    else {
        assert!(written.is_empty(), "{written:?}");
        return names;
    };
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").unwrap();
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{written}");
        names.push(name.to_owned());
        let mut is_escaped = false;
        let end = value.char_indices().find(|(_, c)| {
            let is_end = *c == '"' && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            is_end
        });
        let after = &value[end.unwrap().0 + 1..];
        rest = after.strip_prefix(',').unwrap_or(after);
        assert!(rest.is_empty() || rest.len() < after.len(), "{written}");
    }
    names
}

/// PG3: whatever a host adds, the whole keeps the rules of the format: no name, no series and no label twice, and everything escaped.
#[tokio::test]
async fn whatever_a_host_adds_the_whole_can_be_read() {
    let text = scraped(|| {
        vec![
            Figure::gauge("good", "Good").value(3),
            Figure::gauge("channels", "A name of the page's own").value(41),
            Figure::counter("turns", "Another one").value(42),
            Figure::gauge("turns_total", "And its series").value(43),
            Figure::gauge("phase_seconds_count", "And a histogram's").value(44),
            Figure::counter("mine", "A counter").value(9),
            Figure::gauge("mine_total", "A gauge whose series has the counter's name").value(47),
            Figure::counter("helped", "Two\nlines, a \\ and a \"quote\"").value(5),
            Figure::counter("twice", "One series twice")
                .labelled(&[("a", "1"), ("b", "2")], 6)
                .labelled(&[("b", "2"), ("a", "1")], 45)
                .labelled(&[("a", "2")], 7),
            Figure::gauge("label", "One label twice").labelled(&[("a", "1"), ("a", "2")], 46),
            Figure::gauge("hostile", "Values").labelled(&[("of", "a\"} 1\nb 2 \\")], 8),
        ]
    })
    .await;
    let names = check(&text);
    for name in ["good", "helped_total", "twice_total", "hostile", "turns_total", "channels"] {
        assert!(names.contains_key(&format!("dirigent_{name}")), "{name}");
    }
    for bad in 41..=47 {
        assert!(!text.contains(&format!(" {bad}\n")), "{bad}");
    }
    assert!(
        text.contains("# HELP dirigent_helped Two\\nlines, a \\\\ and a \\\"quote\\\"\n"),
        "{text}"
    );
    assert!(parsed(&text).samples.iter().any(|sample| sample.metric == "dirigent_good"));
}

/// PG3: who does not ask for `OpenMetrics`, as `curl` and `promtool`, is told the same series in Prometheus's own text.
#[tokio::test]
async fn every_reader_is_told_the_same_series() {
    let figures = || vec![Figure::counter("helped", "Two\nlines, a \\ and a \"quote\"").value(5)];
    let open = scraped(figures).await;
    let plain = scraped_as("*/*", figures).await;
    let series = |text: &str| -> BTreeSet<(String, String)> {
        let samples = text.lines().filter(|line| !line.starts_with('#')).map(sample);
        let sorted = |labels: &str| {
            let mut labels: Vec<_> = labels.trim_matches(['{', '}']).split(',').collect();
            labels.sort_unstable();
            labels.join(",")
        };
        samples.map(|(name, labels, _)| (name.to_owned(), sorted(labels))).collect()
    };
    assert_eq!(series(&open), series(&plain));
    assert!(!plain.contains("# EOF") && !plain.contains("# UNIT"), "{plain}");
    let head = "# HELP dirigent_helped_total Two\\nlines, a \\\\ and a \"quote\"\n\
                # TYPE dirigent_helped_total counter\ndirigent_helped_total 5\n";
    assert!(plain.contains(head), "{plain}");
    let of_type = |kind: &str| plain.lines().filter(|line| line.ends_with(kind)).count();
    assert_eq!(of_type(" counter"), open.lines().filter(|line| line.ends_with(" counter")).count());
}

/// PG3: no name of a host's figure doubles one of the page's own, whichever it is.
#[tokio::test]
async fn no_name_of_the_pages_own_can_be_taken() {
    let text = scraped(Vec::new).await;
    let families: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE dirigent_")?.split(' ').next())
        .map(str::to_owned)
        .collect();
    let mut names: BTreeSet<String> = families.iter().cloned().collect();
    names.extend(check(&text).keys().map(|name| name["dirigent_".len()..].to_owned()));
    assert!(names.len() > families.len() && families.len() == 11, "{names:?}");
    let figures = move || {
        let both = |name: &String| {
            let short = name.strip_suffix("_total").unwrap_or(name);
            [Figure::gauge(name, "Mine").value(97), Figure::counter(short, "Mine").value(98)]
        };
        names.iter().flat_map(both).collect()
    };
    let text = scraped(figures).await;
    check(&text);
    for line in text.lines().filter(|line| line.ends_with(" 97") || line.ends_with(" 98")) {
        // A counter beside a gauge of its own name is another series.
        assert!(line.ends_with("_total 98"), "{line}");
        let name = line.split(' ').next().unwrap();
        assert_eq!(text.matches(&format!("\n{name}")).count(), 1, "{line}");
    }
}

/// PG3: every name that the shipped board asks for is told, with the labels that it asks for.
#[tokio::test]
async fn the_shipped_board_asks_for_nothing_that_is_not_told() {
    let told = check(&scraped(|| Figure::leases(1, 2, 3)).await);
    let board = include_str!("../grafana/dirigent.json");
    let board: Value = serde_json::from_str(board).unwrap();
    let mut queries = Vec::new();
    queries_of(&board, &mut queries);
    assert!(queries.len() > 15, "{queries:?}");
    // The relay tells these, with these labels: its own tests look at them.
    let of_relay: BTreeMap<&str, &[&str]> = [
        ("dirigent_forwards_total", &["rule", "outcome"][..]),
        ("dirigent_questions_total", &["outcome"]),
        ("dirigent_forwarded_events_total", &["outcome"]),
        ("dirigent_forwarded_events_waiting", &[]),
        ("dirigent_forwarded_events_refused", &[]),
    ]
    .into();
    for query in queries {
        let words: Vec<&str> =
            query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        let name = words.iter().find(|word| word.starts_with("dirigent_")).unwrap();
        let by = query.split_once("by (").map_or("", |(_, by)| by.split(')').next().unwrap());
        let within = query.split_once('{').map_or("", |(_, of)| of.split('}').next().unwrap());
        let within = within.split(',').filter_map(|label| label.split_once('=')).map(|(of, _)| of);
        for label in by.split(", ").filter(|label| !label.is_empty()).chain(within) {
            // Prometheus itself adds which process it is.
            let is_told = label == "instance"
                || told.get(*name).is_some_and(|labels| labels.contains(label))
                || of_relay.get(name).is_some_and(|labels| labels.contains(&label));
            assert!(is_told, "{query}: the label {label}");
        }
        assert!(told.contains_key(*name) || of_relay.contains_key(name), "{query}");
    }
}

fn queries_of(board: &Value, queries: &mut Vec<String>) {
    match board {
        Value::Object(fields) => {
            queries.extend(fields.get("expr").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| queries_of(field, queries));
        }
        Value::Array(items) => items.iter().for_each(|item| queries_of(item, queries)),
        _ => {}
    }
}
