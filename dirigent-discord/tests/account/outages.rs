//! Discord away, in every way and order: afterwards requests go through again.

use dirigent::DiscordApi;
use dirigent::ports::ErrorKind;

use crate::account::server::Reply;
use crate::account::{AccountStage, post};

/// The time-out of [`AccountStage`]'s account.
const TIMEOUT: u64 = 9_000;

/// The window of the route in these tests.
const WINDOW_MILLIS: u64 = 5_000;

/// How a request does not get through.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The connection is refused.
    Refused,
    /// It arrives, and no answer ever comes.
    Hanging,
    /// It arrives, and the connection is closed before the answer.
    Reset,
    /// It arrives, and the connection is closed in the middle of the answer.
    CutShort,
}

use Fault::{CutShort, Hanging, Refused, Reset};

fn posted() -> Reply {
    Reply::ok(r#"{"id":"900"}"#).bucket("b", 5, 4, "5")
}

/// Makes one request that fails in this way.
async fn fail(stage: &mut AccountStage, fault: Fault) {
    let scripted = match fault {
        Refused => None,
        Hanging => Some(Reply::Silence),
        Reset => Some(Reply::Break),
        CutShort => Some(Reply::CutShort),
    };
    if let Some(reply) = scripted {
        stage.server.script([reply]);
    } else {
        stage.server.refuse().await;
    }
    let arriving = stage.server.count() + 1;
    let late = async {
        if matches!(fault, Hanging) {
            stage.server.arrived(arriving).await;
            stage.pass(TIMEOUT);
        } else {
            std::future::pending::<()>().await;
        }
    };
    let mut posted = stage.account.post(post("lost", 7));
    let failed = tokio::select! {
        biased;
        failed = &mut posted => failed,
        () = late => posted.await,
    };
    assert_ne!(failed.unwrap_err().kind(), ErrorKind::RateLimited, "{fault:?}");
    if matches!(fault, Refused) {
        stage.server.listen();
    }
}

/// Every order of these.
fn orders(faults: &[Fault]) -> Vec<Vec<Fault>> {
    if faults.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (place, first) in faults.iter().enumerate() {
        let mut others = faults.to_vec();
        others.remove(place);
        all.extend(orders(&others).into_iter().map(|mut order| {
            order.insert(0, *first);
            order
        }));
    }
    all
}

/// P1: in every order of faults, far more of them than the window has places.
#[tokio::test]
async fn after_an_outage_the_next_request_goes_through_at_once() {
    for order in orders(&[Refused, Hanging, Reset, CutShort]) {
        let mut stage = AccountStage::with([posted()]).await;
        stage.account.post(post("before", 1)).await.unwrap();
        stage.pass(60_000);
        for fault in &order {
            for _ in 0..4 {
                stage.pass(500);
                fail(&mut stage, *fault).await;
            }
        }
        stage.server.script([posted()]);
        let back = stage.account.post(post("after", 2)).await;
        assert!(back.is_ok(), "{order:?}: {back:?}");
    }
}

/// P1: of three places one is used and one may be; the refused requests took none. The next window is free.
#[tokio::test]
async fn within_a_window_only_what_may_have_arrived_keeps_its_place() {
    let reply = |left| Reply::ok(r#"{"id":"900"}"#).bucket("b", 3, left, "5");
    for order in orders(&[Refused, Reset, Refused]) {
        let mut stage = AccountStage::with([reply(2)]).await;
        stage.account.post(post("before", 1)).await.unwrap();
        for fault in &order {
            fail(&mut stage, *fault).await;
        }
        stage.server.script([reply(1), reply(2)]);
        stage.account.post(post("the last place", 2)).await.unwrap();
        stage.pass(WINDOW_MILLIS);
        stage.account.post(post("the next window", 3)).await.unwrap();
    }
}
