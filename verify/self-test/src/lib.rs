//! Tries at a Discord what the adapter and the loopback Discord assume about it (`verify/assumptions.md`), and says what
//! differs.
//!
//! Steps send requests and listen, within a budget ([`run`]); what they see is evidence, as plain data; probes
//! judge it, one for each assumption ([`assumptions`]). The steps post some messages and delete them again.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use dirigent::Clock;

mod account;
mod budget;
mod clean_up;
mod evidence;
mod probes;
mod report;
mod rights;
mod session;
mod settings;
mod steps;
mod trial;
mod trouble;

pub use report::{Report, Row, Seen};
pub use settings::Settings;
pub use trouble::Trouble;

use probes::Probe;
use trial::Trial;

/// The time after which nothing more is tried. The clean-up has the rest of two minutes.
const STEPS_END: Duration = Duration::from_secs(112);

/// The time after which the clean-up ends, too.
const END: Duration = Duration::from_secs(119);

/// How long the clean-up may take after an interruption.
const CLEAN_UP_MAX: Duration = Duration::from_secs(20);

/// The assumptions that are tried, by their numbers in `verify/assumptions.md`.
pub fn assumptions() -> impl Iterator<Item = &'static str> {
    probes().map(|probe| probe.assumption)
}

fn probes() -> impl Iterator<Item = &'static Probe> {
    steps::STEPS.iter().flat_map(|step| step.probes)
}

/// Tries all assumptions, within 60 requests and two minutes, and removes what it made. `say` is given a line for each of
/// them as soon as it is known. When `interrupted` ends, the rest is not tried.
///
/// # Cancellation
///
/// Dropped before its end, it leaves behind what it has posted.
pub async fn run(
    settings: Settings,
    clock: Arc<dyn Clock>,
    interrupted: impl Future<Output = ()> + Send,
    mut say: impl FnMut(&str) + Send,
) -> Report {
    let started = clock.now();
    let mut trial = match Trial::begin(settings, Arc::clone(&clock)) {
        Ok(trial) => trial,
        Err(trouble) => return report(Vec::new(), Some(trouble), None),
    };
    let mut rows = Vec::new();
    let mut trouble = tokio::select! {
        ended = try_all(&mut trial, &mut rows, &mut say) => ended.err(),
        () = clock.sleep_until(started + STEPS_END) => Some(Trouble::Late),
        () = pin!(interrupted) => Some(Trouble::Interrupted),
    };
    let clean_up_end = (started + END).min(clock.now() + CLEAN_UP_MAX);
    let left_behind = tokio::select! {
        left = trial.clean_up() => left,
        () = clock.sleep_until(clean_up_end) => {
            trouble = trouble.or(Some(Trouble::Late));
            trial.unremoved()
        }
    };
    let why = trouble.as_ref().map_or_else(String::new, ToString::to_string);
    for probe in probes().skip(rows.len()) {
        rows.push(probe.row(Seen::NotTried(why.clone())));
    }
    let took = clock.now().since(started);
    report(rows, trouble, Some((left_behind, trial.requests(), took)))
}

/// Takes every step, and judges what it shows. After a step that fails the others are taken, if they can be.
async fn try_all(
    trial: &mut Trial,
    rows: &mut Vec<Row>,
    say: &mut (impl FnMut(&str) + Send),
) -> Result<(), Trouble> {
    let mut first_trouble = None;
    for step in steps::STEPS {
        if let Some(notice) = step.notice {
            say(notice);
        }
        let ended = (step.take)(trial).await;
        trial.catch_up();
        let why = match &ended {
            Ok(()) => "what it needs was not seen".to_owned(),
            Err(trouble) => trouble.to_string(),
        };
        for probe in step.probes {
            let seen = (probe.see)(&trial.evidence);
            let row = probe.row(seen.unwrap_or_else(|| Seen::NotTried(why.clone())));
            say(&row.to_string());
            rows.push(row);
        }
        match ended {
            Err(trouble) if step.is_needed || trouble == Trouble::BudgetSpent => {
                return Err(trouble);
            }
            Err(trouble) => drop(first_trouble.get_or_insert(trouble)),
            Ok(()) => {}
        }
    }
    first_trouble.map_or(Ok(()), Err)
}

fn report(
    mut rows: Vec<Row>,
    trouble: Option<Trouble>,
    end: Option<(Vec<String>, u32, Duration)>,
) -> Report {
    rows.sort_by_key(|row| probes::place_in_page(row.assumption));
    let (left_behind, requests, took) = end.unwrap_or_default();
    Report { rows, trouble, left_behind, requests, took }
}
