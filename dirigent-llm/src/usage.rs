//! What an answer cost.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

/// What one answer of a model used. Given to [`ChatAgent::on_usage`](crate::ChatAgent::on_usage) and
/// [`Chat::on_usage`](crate::Chat::on_usage).
///
/// ```
/// use dirigent_llm::Usage;
///
/// let usage = Usage { prompt_tokens: 900, reply_tokens: 100, ..Usage::default() };
/// assert_eq!(usage.total(), 1_000);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that hosts compare")]
pub struct Usage {
    /// The model that answered, as the endpoint calls it.
    pub model: String,
    /// The tokens of the prompt, the cached ones included.
    pub prompt_tokens: u64,
    /// Those of them that the endpoint had in its cache.
    pub cached_tokens: u64,
    /// The tokens of the answer, reasoning included.
    pub reply_tokens: u64,
    /// Whether the endpoint told no numbers, so that these are estimated from the texts: four letters a token.
    pub is_estimated: bool,
    /// What was reported to the channel's budget: by the [`Prices`], or [`total`](Self::total) without a price for the model.
    pub cost: u64,
}

impl Usage {
    /// Returns the tokens of prompt and answer together.
    pub const fn total(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.reply_tokens)
    }

    /// What the endpoint told; nothing where it told no count of the prompt.
    pub(crate) fn told(usage: &Value) -> Option<Self> {
        let prompt_tokens = tokens(usage, &["/prompt_tokens", "/input_tokens"])?;
        let reply_tokens = tokens(usage, &["/completion_tokens", "/output_tokens"]).unwrap_or(0);
        let cached = ["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens"];
        let cached_tokens = tokens(usage, &cached).unwrap_or(0).min(prompt_tokens);
        Some(Self { prompt_tokens, cached_tokens, reply_tokens, ..Self::default() })
    }
}

/// What a model costs, for a million tokens each, in the unit of [`BudgetRules::cost`](dirigent::settings::BudgetRules::cost).
///
/// With micro-dollars as the unit, "$2.50 per million tokens" is 2,500,000: a token of it costs 2.5 units.
///
/// ```
/// use dirigent_llm::Price;
/// let price = Price { prompt: 2_500_000, cached: 1_250_000, reply: 10_000_000 };
/// assert!(price.reply > price.prompt);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "three numbers that hosts write down")]
pub struct Price {
    /// A million tokens of prompts.
    pub prompt: u64,
    /// A million tokens of prompts that the endpoint had in its cache.
    pub cached: u64,
    /// A million tokens of answers, reasoning included.
    pub reply: u64,
}

impl Price {
    /// What this usage costs, rounded up.
    pub(crate) fn of(self, usage: &Usage) -> u64 {
        let fresh = usage.prompt_tokens.saturating_sub(usage.cached_tokens);
        let parts = [
            (fresh, self.prompt),
            (usage.cached_tokens, self.cached),
            (usage.reply_tokens, self.reply),
        ];
        let total: u128 =
            parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// What models cost, by name. A clone shares the table.
///
/// ```
/// use dirigent_llm::{Price, Prices};
///
/// let small = Price { prompt: 150_000, cached: 75_000, reply: 600_000 };
/// let prices: Prices = [("gpt-5-mini", small)].into_iter().collect();
/// # let _ = prices;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Prices(Arc<HashMap<String, Price>>);

impl Prices {
    /// The price of the first of these names that has one.
    pub(crate) fn find(&self, names: [&str; 2]) -> Option<Price> {
        names.iter().find_map(|name| self.0.get(*name)).copied()
    }
}

impl<N: Into<String>> FromIterator<(N, Price)> for Prices {
    fn from_iter<I: IntoIterator<Item = (N, Price)>>(prices: I) -> Self {
        Self(Arc::new(prices.into_iter().map(|(name, price)| (name.into(), price)).collect()))
    }
}

/// A number of tokens, wherever endpoints put it.
fn tokens(usage: &Value, paths: &[&str]) -> Option<u64> {
    paths.iter().find_map(|path| {
        let count = usage.pointer(path)?;
        // Some count in floating point.
        count.as_u64().or_else(|| {
            let count = count.as_f64().filter(|count| (0.0..1e15).contains(count))?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked above"
            )]
            Some(count as u64)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_rounded_up_and_cached_tokens_have_their_own_price() {
        let price = Price { prompt: 2_500_000, cached: 1_000_000, reply: 10_000_000 };
        let usage =
            Usage { prompt_tokens: 101, cached_tokens: 100, reply_tokens: 1, ..Usage::default() };
        assert_eq!(price.of(&usage), 113, "2.5 + 100 + 10");
        assert_eq!(price.of(&Usage::default()), 0);
        let all = Usage { prompt_tokens: u64::MAX, reply_tokens: u64::MAX, ..Usage::default() };
        assert_eq!(price.of(&all), u64::MAX, "nothing overflows");
    }

    #[test]
    fn usage_is_read_in_the_forms_that_endpoints_have() {
        let told = |usage: &str| Usage::told(&serde_json::from_str(usage).unwrap());
        let openai = told(
            r#"{"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}}"#,
        );
        let openai = openai.unwrap();
        assert_eq!((openai.prompt_tokens, openai.cached_tokens, openai.reply_tokens), (9, 3, 4));
        let deepseek = told(r#"{"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}"#).unwrap();
        assert_eq!((deepseek.cached_tokens, deepseek.reply_tokens), (4, 0));
        let odd = r#"{"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 90}}"#;
        assert_eq!(told(odd).unwrap().cached_tokens, 9, "no more than there were");
        assert_eq!(told(r#"{"input_tokens": 9.0, "output_tokens": 1}"#).unwrap().total(), 10);
        assert_eq!(told("{}"), None);
        assert_eq!(told(r#"{"prompt_tokens": -4}"#), None);
        assert_eq!(told("7"), None);
    }
}
