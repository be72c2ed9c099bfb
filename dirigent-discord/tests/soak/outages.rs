//! Parts of Discord are away in the middle of a talk: afterwards it goes on by itself, nothing is lost, and
//! nothing is there twice.

use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent::{Clock, UserId};
use dirigent_loopback::ServerOutage;

use crate::soak::fixture::{Agents, Fixture, default_rules};
use crate::soak::line::PAUSE;
use crate::soak::told;

/// How soon after Discord's return every channel must go on, though nobody says a word.
const GOES_ON: Duration = Duration::from_secs(30);

/// How long an agent that missed its trigger is waited for, by default.
const START: Duration = Duration::from_secs(45);

/// How often a line that may connect has the chance to do so; the first takes some hundred.
const CHANCES: u32 = 1_000_000;

/// The moments of a turn in which Discord is away, one after the other.
const MOMENTS: u64 = 8;

const SHORT: Duration = Duration::from_secs(15);
const LONG: Duration = Duration::from_secs(600);

const REFUSED: &[ServerOutage] = &[ServerOutage::RestRefused];
const HANGING: &[ServerOutage] = &[ServerOutage::RestHanging { is_applied: false }];
const HANGING_APPLIED: &[ServerOutage] = &[ServerOutage::RestHanging { is_applied: true }];
const CUT: &[ServerOutage] = &[ServerOutage::GatewayCut];
const BOTH: &[ServerOutage] = &[ServerOutage::RestRefused, ServerOutage::GatewayCut];

/// Who hears of the gateway first after it was away. An agent with a session of its own that comes later than
/// the library misses a trigger posted in between: it cannot resume after ten minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    Agents,
    Library,
}

/// Lets these be away for so long, again and again.
async fn away(agents: Agents, outages: &[ServerOutage], lasts: Duration, first: First) {
    let (mut config, settings) = default_rules();
    // The agents that ask repeat their post until it arrives; their runs must not be over before.
    config.deadlines.run = Some(Duration::from_secs(3_600));
    let mut fixture = Fixture::ruled(agents, 11, (config, settings)).await;
    let distance = (MOMENTS / told("SOAK_MOMENTS").unwrap_or(MOMENTS / 4).clamp(1, MOMENTS)).max(1);
    for moment in (0..MOMENTS).step_by(usize::try_from(distance).unwrap()) {
        fixture.talk(fixture.turns() + 6).await;
        fixture.go_on_until_moment(moment).await;
        let taken = fixture.taken();
        for outage in outages {
            fixture.server.begin_outage(*outage);
        }
        fixture.agents_connect.send_replace(false);
        fixture.library_connects.send_replace(false);
        fixture.pass(lasts).await;
        fixture.server.end_outages();
        let began = fixture.clock.now();
        if outages.contains(&ServerOutage::GatewayCut) {
            fixture.connect(first).await;
        }
        let until = began + GOES_ON + if first == First::Library { START } else { Duration::ZERO };
        fixture.go_on_everywhere(&taken, moment, until).await;
    }
    fixture.talk(fixture.turns() + 20).await;
    fixture.fall_silent().await;
    fixture.check().await;
}

impl Fixture {
    /// Stops in the midst of what happens at once when a deadline has come, or before or after it.
    async fn go_on_until_moment(&self, moment: u64) {
        self.settle().await;
        self.clock.advance_to_next_wake().unwrap();
        for _ in 0..moment * 7 {
            tokio::task::yield_now().await;
        }
    }

    /// How many turns were taken in each channel.
    fn taken(&self) -> Vec<usize> {
        self.channels.iter().map(|channel| self.minutes.of(*channel).len()).collect()
    }

    /// Lets so much time pass.
    async fn pass(&self, time: Duration) {
        let until = self.clock.now() + time;
        while self.clock.now() < until {
            self.settle().await;
            self.advance_until(until);
        }
    }

    /// Lets everybody come back, one after the other.
    async fn connect(&self, first: First) {
        match first {
            First::Agents => {
                self.connect_agents().await;
                self.connect_library().await;
            }
            First::Library => {
                self.connect_library().await;
                self.settle().await;
                self.connect_agents().await;
            }
        }
    }

    async fn connect_library(&self) {
        self.pass(PAUSE).await;
        self.library_connects.send_replace(true);
        self.are_connected(&[self.moderator], self.channels.len()).await;
    }

    async fn connect_agents(&self) {
        self.pass(PAUSE).await;
        self.agents_connect.send_replace(true);
        if self.agents == Agents::Asking {
            self.are_connected(&self.bots, 1).await;
        }
    }

    /// Waits until each of these has so many connections.
    async fn are_connected(&self, users: &[UserId], lines: usize) {
        for _ in 0..CHANCES {
            let connected = |user: &UserId| {
                let sessions = self.server.sessions(*user).into_iter();
                sessions.filter(|session| session.connected).count()
            };
            if users.iter().all(|user| connected(user) == lines) {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("somebody does not connect again");
    }

    fn advance_until(&self, until: Timestamp) {
        let next = self.clock.next_wake().map_or(until, |next| next.min(until));
        self.clock.advance(next.since(self.clock.now()));
    }

    /// In every channel another turn is taken soon, though nobody says a word.
    async fn go_on_everywhere(&self, before: &[usize], moment: u64, until: Timestamp) {
        loop {
            self.settle().await;
            if self.taken().iter().zip(before).all(|(now, before)| now > before) {
                return;
            }
            let statuses = self.statuses().await;
            assert!(self.clock.now() < until, "moment {moment}: nothing goes on: {statuses:?}");
            self.advance_until(until);
        }
    }
}

macro_rules! outages {
    ($($name:ident: $agents:ident, $outages:ident, $lasts:ident, $first:ident;)*) => {$(
        #[tokio::test(flavor = "current_thread")]
        async fn $name() {
            away(Agents::$agents, $outages, $lasts, First::$first).await;
        }
    )*};
}

outages! {
    hosted_rest_refused_for_15_seconds: Hosted, REFUSED, SHORT, Agents;
    hosted_rest_refused_for_10_minutes: Hosted, REFUSED, LONG, Agents;
    hosted_rest_hanging_for_15_seconds: Hosted, HANGING, SHORT, Agents;
    hosted_rest_hanging_for_10_minutes: Hosted, HANGING, LONG, Agents;
    hosted_rest_hanging_and_applied_for_15_seconds: Hosted, HANGING_APPLIED, SHORT, Agents;
    hosted_rest_hanging_and_applied_for_10_minutes: Hosted, HANGING_APPLIED, LONG, Agents;
    hosted_gateway_cut_for_15_seconds: Hosted, CUT, SHORT, Agents;
    hosted_gateway_cut_for_10_minutes: Hosted, CUT, LONG, Agents;
    hosted_all_away_for_15_seconds: Hosted, BOTH, SHORT, Agents;
    hosted_all_away_for_10_minutes: Hosted, BOTH, LONG, Agents;
    personas_rest_hanging_for_10_minutes: Personas, HANGING, LONG, Agents;
    personas_rest_hanging_and_applied_for_15_seconds: Personas, HANGING_APPLIED, SHORT, Agents;
    personas_rest_hanging_and_applied_for_10_minutes: Personas, HANGING_APPLIED, LONG, Agents;
    personas_all_away_for_10_minutes: Personas, BOTH, LONG, Agents;
    asking_rest_refused_for_15_seconds: Asking, REFUSED, SHORT, Agents;
    asking_rest_refused_for_10_minutes: Asking, REFUSED, LONG, Agents;
    asking_rest_hanging_for_15_seconds: Asking, HANGING, SHORT, Agents;
    asking_rest_hanging_for_10_minutes: Asking, HANGING, LONG, Agents;
    asking_gateway_cut_for_15_seconds: Asking, CUT, SHORT, Agents;
    asking_gateway_cut_for_10_minutes: Asking, CUT, LONG, Agents;
    asking_gateway_cut_for_10_minutes_and_back_last: Asking, CUT, LONG, Library;
    asking_all_away_for_15_seconds: Asking, BOTH, SHORT, Agents;
    asking_all_away_for_10_minutes: Asking, BOTH, LONG, Agents;
}
