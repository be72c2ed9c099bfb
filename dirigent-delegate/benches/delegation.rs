//! Measures the CPU time of a delegation without the model and the agent: for one alone, and for each of a
//! thousand at once.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a bench may panic, and prints")]

use std::time::Duration;

use cpu_time::ThreadTime;
use dirigent_delegate::config::OrchestratorConfig;
use dirigent_delegate::model::{ChatAnswer, ModelError, ModelToolCall, Question, RoutingModel};
use dirigent_delegate::{Router, Task, TaskOutcome, UserRequest, delegate_fn};
use serde_json::json;

/// The most CPU time that each of a thousand delegations may take.
const MOST: Duration = Duration::from_micros(100);

/// A model that delegates a message this many times.
struct Fan(usize);

#[dirigent::async_trait]
impl RoutingModel for Fan {
    async fn ask(
        &self,
        _model: &str,
        _question: &Question<'static>,
    ) -> Result<ChatAnswer, ModelError> {
        let call = |at: usize| {
            let message = Some(json!({ "message": format!("part {at}") }));
            ModelToolCall::new(at.to_string(), "delegate_to_opencode", message)
        };
        Ok(ChatAnswer::calls((0..self.0).map(call)))
    }
}

fn router(calls: usize, cap: u32) -> Router {
    let config = OrchestratorConfig::new(|config| {
        config.enabled = true;
        config.max_parallel_agents = cap.try_into().expect("not zero");
    });
    let instant = delegate_fn(|_: Task| async { TaskOutcome::success("Done.") });
    let builder = Router::builder(Fan(calls)).config(config).open_code(instant);
    let most = u32::try_from(calls).expect("few");
    builder.limits(|limits| (limits.queue, limits.calls) = (calls, most)).build().expect("a router")
}

/// Returns the median CPU time of one message over several runs.
fn measure(router: &Router, times: usize) -> Duration {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut taken: Vec<Duration> = (0..times)
        .map(|_| {
            let began = ThreadTime::now();
            let response =
                runtime.block_on(router.answer(UserRequest::new("session", "Go"))).expect("on");
            assert!(response.payloads.iter().all(|payload| !payload.is_error));
            began.elapsed()
        })
        .collect();
    taken.sort_unstable();
    taken.get(times / 2).copied().unwrap_or_default()
}

fn main() {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let times = if is_test { 1 } else { 101 };
    let one = measure(&router(1, 3), times * 20);
    println!("one delegation: {one:?}");
    for cap in [3, 1_000] {
        let all = measure(&router(1_000, cap), times);
        let each = all / 1_000;
        println!("1,000 instant delegates, {cap} at once: {all:?}, {each:?} each");
        assert!(is_test || each <= MOST, "more than {MOST:?} each");
    }
}
