//! The cost of an answer.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

/// The tokens and the cost of one answer. You get it in the hooks [`ChatAgent::on_usage`](crate::ChatAgent::on_usage)
/// and [`Chat::on_usage`](crate::Chat::on_usage).
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
    /// The model that answered, by the endpoint's name for it.
    pub model: String,
    /// The tokens of the prompt, including the cached ones.
    pub prompt_tokens: u64,
    /// The part of the prompt's tokens that the endpoint had in its cache.
    pub cached_tokens: u64,
    /// The tokens of the answer, including reasoning.
    pub reply_tokens: u64,
    /// True if the endpoint reported no numbers. They are then estimated at four letters a token.
    pub is_estimated: bool,
    /// The cost that was reported to the channel's budget. It follows from the [`Prices`], or is the
    /// [`total`](Self::total) if the model has no price.
    pub cost: u64,
}

impl Usage {
    /// Returns the tokens of prompt and answer together.
    pub const fn total(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.reply_tokens)
    }

    /// Reads the usage that an endpoint reported. Returns `None` if it did not count the prompt.
    pub(crate) fn told(usage: &Value) -> Option<Self> {
        let prompt_tokens = tokens(usage, &["/prompt_tokens", "/input_tokens"])?;
        let reply_tokens = tokens(usage, &["/completion_tokens", "/output_tokens"]).unwrap_or(0);
        let cached = ["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens"];
        let cached_tokens = tokens(usage, &cached).unwrap_or(0).min(prompt_tokens);
        Some(Self { prompt_tokens, cached_tokens, reply_tokens, ..Self::default() })
    }
}

/// The price of a model for a million tokens, in the unit of
/// [`BudgetRules::cost`](dirigent::settings::BudgetRules::cost).
///
/// For example, with micro-dollars as the unit, "$2.50 per million tokens" is 2,500,000, and one token costs 2.5 units.
///
/// ```
/// use dirigent_llm::Price;
/// let price = Price { prompt: 2_500_000, cached: 1_250_000, reply: 10_000_000 };
/// assert!(price.reply > price.prompt);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "three numbers that hosts write down")]
pub struct Price {
    /// The price of a million prompt tokens.
    pub prompt: u64,
    /// The price of a million prompt tokens that the endpoint had in its cache.
    pub cached: u64,
    /// The price of a million answer tokens, including reasoning.
    pub reply: u64,
}

impl Price {
    /// Returns the cost of this usage, rounded up.
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

/// The prices of models, by name. Clones share the table.
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
    /// Returns the price of the first of these names that has one.
    pub(crate) fn find(&self, names: [&str; 2]) -> Option<Price> {
        names.iter().find_map(|name| self.0.get(*name)).copied()
    }
}

impl<N: Into<String>> FromIterator<(N, Price)> for Prices {
    fn from_iter<I: IntoIterator<Item = (N, Price)>>(prices: I) -> Self {
        Self(Arc::new(prices.into_iter().map(|(name, price)| (name.into(), price)).collect()))
    }
}

/// Returns a number of tokens, wherever the endpoint put it.
fn tokens(usage: &Value, paths: &[&str]) -> Option<u64> {
    paths.iter().find_map(|path| {
        let count = usage.pointer(path)?;
        // Some endpoints count in floating point.
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
