//! What goes wrong on demand.

use dirigent_loopback::{RestFault, RestFaults, RestRoute};

use super::*;

async fn try_post(stage: &RestStage) -> Option<u16> {
    let token = format!("Bot {}", stage.loopback.token(stage.bot));
    let headers = [("Authorization", token.as_str()), ("User-Agent", AGENT)];
    let path = format!("channels/{}/messages", stage.channel);
    let answer = stage.send("POST", &path, &headers, json!({ "content": "hello" })).await;
    answer.map(|answer| answer.status)
}

#[tokio::test(flavor = "current_thread")]
async fn every_fault_happens_once_and_is_applied_as_it_says() {
    let stage = RestStage::new().await;
    let error = |status, is_applied| RestFault::ServerError { status, is_applied };
    let cases = [
        (RestFault::LostAnswer, None),
        (RestFault::NotDelivered, None),
        (error(500, true), Some(500)),
        (error(500, false), Some(500)),
        (error(502, true), Some(502)),
        (error(502, false), Some(502)),
        (RestFault::Unauthorized, Some(401)),
        (RestFault::Forbidden, Some(403)),
    ];
    for (fault, status) in cases {
        let before = stage.discord.messages(stage.channel).len();
        stage.loopback.next(RestRoute::CreateMessage, fault);
        assert_eq!(stage.get("users/@me").await.status, 200, "other routes work");
        assert_eq!(try_post(&stage).await, status, "{fault:?}");
        let made = stage.discord.messages(stage.channel).len() - before;
        assert_eq!(made, usize::from(fault.is_applied()), "{fault:?}");
        assert_eq!(try_post(&stage).await, Some(200), "only once");
    }
    let traffic = stage.loopback.traffic();
    assert_eq!((traffic.cut(), traffic.answered(RestRoute::CreateMessage, 502)), (2, 2));
}

#[tokio::test(flavor = "current_thread")]
async fn a_slow_answer_comes_when_the_clock_says_so() {
    let stage = RestStage::new().await;
    for (fault, made_at_once) in [
        (RestFault::SlowAnswer { by: 3 * SECOND }, 1),
        (RestFault::SlowRequest { by: 3 * SECOND }, 0),
    ] {
        let before = stage.discord.messages(stage.channel).len();
        stage.loopback.next(RestRoute::CreateMessage, fault);
        let meanwhile = async {
            while stage.clock.waiting() == 0 {
                tokio::task::yield_now().await;
            }
            let made = stage.discord.messages(stage.channel).len() - before;
            stage.clock.advance(3 * SECOND);
            made
        };
        let (answer, made) = tokio::join!(stage.post("hello"), meanwhile);
        assert_eq!((answer.status, made), (200, made_at_once), "{fault:?}");
        assert_eq!(stage.discord.messages(stage.channel).len(), before + 1);
    }
}

#[tokio::test(flavor = "current_thread")]
async fn the_same_seed_gives_the_same_faults() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let stage = RestStage::new().await;
        let faults = RestFaults::new(7)
            .with_rate(Some(RestRoute::CreateMessage), RestFault::LostAnswer, 300)
            .with_rate(None, RestFault::ServerError { status: 502, is_applied: false }, 100);
        stage.loopback.set_faults(faults);
        let mut statuses = Vec::new();
        for _ in 0..60 {
            statuses.push(try_post(&stage).await);
        }
        let cut = statuses.iter().filter(|status| status.is_none()).count();
        assert!((8..30).contains(&cut), "{cut}");
        assert!(statuses.contains(&Some(502)) && statuses.contains(&Some(200)));
        stage.loopback.inject(RestFaults::stop);
        assert_eq!(try_post(&stage).await, Some(200));
        runs.push(statuses);
    }
    assert_eq!(runs[0], runs[1]);
}
