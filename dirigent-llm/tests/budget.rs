//! What an agent costs.

use std::sync::{Arc, Mutex};

use dirigent::Config;
use dirigent::operate::Cause;
use dirigent_llm::script::ScriptedAnswer;
use dirigent_llm::{Price, Prices, Usage};
use serde_json::json;

use crate::fixture::{Fixture, say};
use crate::room::Room;

type Seen = Arc<Mutex<Vec<Usage>>>;

/// What the agent was told of, and a hook for it.
fn seen() -> (Seen, impl Fn(&dirigent::Turn, &Usage) + Send + Sync + 'static) {
    let seen = Seen::default();
    let told = Arc::clone(&seen);
    (seen, move |_, usage| told.lock().unwrap().push(usage.clone()))
}

#[tokio::test]
async fn each_answer_tells_what_it_used() {
    let (seen, hook) = seen();
    let fixture = Fixture::new().await.with(|agent| agent.on_usage(hook));
    fixture.model.script([
        ScriptedAnswer { usage: Some((100, 7)), ..ScriptedAnswer::call("fly", &json!({})) },
        ScriptedAnswer { usage: Some((200, 8)), ..ScriptedAnswer::text("No.") },
    ]);
    assert_eq!(fixture.speak().await, say("No."));
    let usage = |prompt_tokens, reply_tokens| Usage {
        model: "small".to_owned(),
        prompt_tokens,
        reply_tokens,
        cost: prompt_tokens + reply_tokens,
        ..Usage::default()
    };
    assert_eq!(*seen.lock().unwrap(), [usage(100, 7), usage(200, 8)]);
}

#[tokio::test]
async fn an_answer_that_is_none_has_its_cost_all_the_same() {
    let (seen, hook) = seen();
    let fixture = Fixture::new().await.with(|agent| agent.on_usage(hook));
    fixture
        .model
        .script([ScriptedAnswer { reasoning: "Hm.".to_owned(), ..ScriptedAnswer::default() }]);
    assert!(fixture.speak().await.is_err());
    assert_eq!(seen.lock().unwrap()[0].cost, 15);
}

#[tokio::test]
async fn without_numbers_the_cost_is_estimated() {
    let (seen, hook) = seen();
    let fixture = Fixture::new().await.with(|agent| agent.on_usage(hook));
    fixture.model.script([ScriptedAnswer { usage: None, ..ScriptedAnswer::text("12345678") }]);
    assert_eq!(fixture.speak().await, say("12345678"));
    let usage = seen.lock().unwrap().remove(0);
    assert!(usage.is_estimated && usage.reply_tokens == 2 && usage.prompt_tokens > 50, "{usage:?}");
}

#[tokio::test]
async fn a_price_is_found_by_the_models_name() {
    let (seen, hook) = seen();
    let price = Price { prompt: 2_000_000, cached: 0, reply: 10_000_000 };
    let prices: Prices = [("small", price)].into_iter().collect();
    let fixture = Fixture::new().await.with(|agent| agent.on_usage(hook).prices(prices));
    fixture.model.script([ScriptedAnswer { usage: Some((100, 7)), ..ScriptedAnswer::text("No.") }]);
    assert_eq!(fixture.speak().await, say("No."));
    assert_eq!(seen.lock().unwrap()[0].cost, 270);
    let (seen, hook) = self::seen();
    let told = Price { prompt: 1_000_000, ..Price::default() };
    let prices: Prices = [("small", price), ("small-2", told)].into_iter().collect();
    let fixture = Fixture::new().await.with(|agent| agent.on_usage(hook).prices(prices));
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 7 });
    let body = json!({ "model": "small-2", "choices": [{ "message": { "content": "No." }, "finish_reason": "stop" }], "usage": usage });
    fixture
        .model
        .script([ScriptedAnswer { body: Some(body.to_string()), ..ScriptedAnswer::default() }]);
    assert_eq!(fixture.speak().await, say("No."));
    assert_eq!(seen.lock().unwrap()[0].cost, 100, "the name that comes with the answer");
}

#[tokio::test]
async fn a_budget_that_is_spent_gives_no_more_turns() {
    let config = Config::default().with(|config| config.budget.cost = Some(100));
    let mut room = Room::new(config, |agent, _| agent).await;
    room.model.cycle([ScriptedAnswer { usage: Some((95, 5)), ..ScriptedAnswer::text("The sea.") }]);
    room.say("A line, please.").await;
    room.until(Cause::BudgetSpent).await;
    room.say("And another?").await;
    assert_eq!(room.model.requests().len(), 1);
}
