//! Parts of Discord are away in the middle of a talk: afterwards it goes on by itself, nothing is lost, and
//! nothing is there twice.

use std::time::Duration;

use dirigent::Clock;
use dirigent_testkit::loopback::ServerOutage;

use crate::house::{Agents, House, default_rules};

/// How soon after Discord's return every channel must go on, though nobody says a word.
const GOES_ON: Duration = Duration::from_secs(30);

/// How often Discord is away in one test, each time at another moment of a turn.
const MOMENTS: u64 = 8;

const SHORT: Duration = Duration::from_secs(15);
const LONG: Duration = Duration::from_secs(600);

const REFUSED: &[ServerOutage] = &[ServerOutage::RestRefused];
const HANGING: &[ServerOutage] = &[ServerOutage::RestHanging { is_applied: false }];
const HANGING_APPLIED: &[ServerOutage] = &[ServerOutage::RestHanging { is_applied: true }];
const CUT: &[ServerOutage] = &[ServerOutage::GatewayCut];
const BOTH: &[ServerOutage] = &[ServerOutage::RestRefused, ServerOutage::GatewayCut];

/// Lets these be away for so long, again and again.
async fn away(agents: Agents, outages: &[ServerOutage], lasts: Duration) {
    let (mut config, settings) = default_rules();
    // The agents that ask repeat their post until it arrives; their runs must not be over before.
    config.run_deadline = Some(Duration::from_secs(3_600));
    let mut house = House::ruled(agents, 11, (config, settings)).await;
    for moment in 0..MOMENTS {
        house.talk(house.turns() + 6).await;
        house.go_on_until_moment(moment).await;
        let taken = house.taken();
        for outage in outages {
            house.server.begin_outage(*outage);
        }
        house.pass(lasts).await;
        house.server.end_outages();
        house.go_on_everywhere(&taken, moment).await;
    }
    house.talk(house.turns() + 20).await;
    house.fall_silent().await;
    house.check().await;
}

impl House {
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

    fn advance_until(&self, until: dirigent::Timestamp) {
        let next = self.clock.next_wake().map_or(until, |next| next.min(until));
        self.clock.advance(next.since(self.clock.now()));
    }

    /// In every channel another turn is taken soon, though nobody says a word.
    async fn go_on_everywhere(&self, before: &[usize], moment: u64) {
        let until = self.clock.now() + GOES_ON;
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
    ($($name:ident: $agents:ident, $outages:ident, $lasts:ident;)*) => {$(
        #[tokio::test(flavor = "current_thread")]
        async fn $name() {
            away(Agents::$agents, $outages, $lasts).await;
        }
    )*};
}

outages! {
    hosted_rest_refused_for_15_seconds: Hosted, REFUSED, SHORT;
    hosted_rest_refused_for_10_minutes: Hosted, REFUSED, LONG;
    hosted_rest_hanging_for_15_seconds: Hosted, HANGING, SHORT;
    hosted_rest_hanging_for_10_minutes: Hosted, HANGING, LONG;
    hosted_rest_hanging_and_applied_for_15_seconds: Hosted, HANGING_APPLIED, SHORT;
    hosted_rest_hanging_and_applied_for_10_minutes: Hosted, HANGING_APPLIED, LONG;
    hosted_gateway_cut_for_15_seconds: Hosted, CUT, SHORT;
    hosted_gateway_cut_for_10_minutes: Hosted, CUT, LONG;
    hosted_all_away_for_15_seconds: Hosted, BOTH, SHORT;
    hosted_all_away_for_10_minutes: Hosted, BOTH, LONG;
    asking_rest_refused_for_15_seconds: Asking, REFUSED, SHORT;
    asking_rest_refused_for_10_minutes: Asking, REFUSED, LONG;
    asking_rest_hanging_for_15_seconds: Asking, HANGING, SHORT;
    asking_rest_hanging_for_10_minutes: Asking, HANGING, LONG;
    asking_gateway_cut_for_15_seconds: Asking, CUT, SHORT;
    asking_gateway_cut_for_10_minutes: Asking, CUT, LONG;
    asking_all_away_for_15_seconds: Asking, BOTH, SHORT;
    asking_all_away_for_10_minutes: Asking, BOTH, LONG;
}
