//! The contract that every [`IdentityStore`] keeps.

use std::sync::Arc;

use async_trait::async_trait;
use dirigent::ports::{Identity, RegisterError};
use dirigent::{IdentityStore, UserId};

use super::report::{ContractReport, Failures, Outcome, checks, ensure, equal, left_out, works};

/// Makes stores for the suite. A function that makes an empty store is a harness, too.
///
/// ```
/// use std::sync::Arc;
/// use dirigent::{IdentityStore, MemoryIdentities};
/// use dirigent_testkit::contract;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), contract::Failures> {
/// let factory = || Arc::new(MemoryIdentities::new()) as Arc<dyn IdentityStore>;
/// contract::identity_store(&factory).await?;
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait IdentityStoreHarness: Send + Sync {
    /// Returns a new empty store.
    fn fresh(&self) -> Arc<dyn IdentityStore>;

    /// Opens the store again from the place where it keeps its data. Return `None` if it keeps
    /// none, and some checks are left out.
    async fn reopened(&self, store: Arc<dyn IdentityStore>) -> Option<Arc<dyn IdentityStore>> {
        let _ = store;
        None
    }
}

impl<F> IdentityStoreHarness for F
where
    F: Fn() -> Arc<dyn IdentityStore> + Send + Sync,
{
    fn fresh(&self) -> Arc<dyn IdentityStore> {
        self()
    }
}

/// Runs all checks of the contract.
///
/// # Errors
///
/// Returns the checks that failed.
pub async fn identity_store(
    harness: &dyn IdentityStoreHarness,
) -> Result<ContractReport, Failures> {
    let mut report = ContractReport::new("identity_store");
    checks!(report, harness;
        a_fresh_store_is_empty,
        entries_come_in_the_order_in_which_they_were_added,
        a_known_agent_is_updated_in_its_place,
        the_same_entry_again_changes_nothing,
        an_account_that_is_taken_names_its_owner_and_changes_nothing,
        a_known_agent_cannot_move_to_a_taken_account,
        an_account_that_became_free_can_be_taken,
        a_removed_agent_is_gone_and_comes_back_last,
        removing_nobody_says_so,
        every_name_and_every_account_survives,
    );
    if harness.reopened(harness.fresh()).await.is_some() {
        checks!(report, harness; what_was_registered_survives_reopening);
    } else {
        left_out!(report; what_was_registered_survives_reopening);
    }
    report.finish()
}

async fn a_fresh_store_is_empty(harness: &dyn IdentityStoreHarness) -> Outcome {
    holds(&*harness.fresh(), &[]).await
}

async fn entries_come_in_the_order_in_which_they_were_added(
    harness: &dyn IdentityStoreHarness,
) -> Outcome {
    let store = harness.fresh();
    let entries = [entry("zoe", 3), entry("adam", 9), entry("mia", 1)];
    add(&*store, &entries).await?;
    holds(&*store, &entries).await
}

async fn a_known_agent_is_updated_in_its_place(harness: &dyn IdentityStoreHarness) -> Outcome {
    let store = harness.fresh();
    add(&*store, &[entry("zoe", 3), entry("adam", 9)]).await?;
    let moved = Identity { agent_name: "Zoë".to_owned(), ..entry("zoe", 4) };
    add(&*store, std::slice::from_ref(&moved)).await?;
    holds(&*store, &[moved, entry("adam", 9)]).await?;
    // Change only the name, then only the account.
    add(&*store, &[entry("zoe", 4), entry("adam", 8)]).await?;
    holds(&*store, &[entry("zoe", 4), entry("adam", 8)]).await
}

async fn the_same_entry_again_changes_nothing(harness: &dyn IdentityStoreHarness) -> Outcome {
    let store = harness.fresh();
    add(&*store, &[entry("zoe", 3), entry("adam", 9), entry("zoe", 3)]).await?;
    holds(&*store, &[entry("zoe", 3), entry("adam", 9)]).await
}

async fn an_account_that_is_taken_names_its_owner_and_changes_nothing(
    harness: &dyn IdentityStoreHarness,
) -> Outcome {
    let store = harness.fresh();
    add(&*store, &[entry("zoe", 3)]).await?;
    is_taken_by("zoe", store.register(entry("thief", 3)).await)?;
    holds(&*store, &[entry("zoe", 3)]).await
}

async fn a_known_agent_cannot_move_to_a_taken_account(
    harness: &dyn IdentityStoreHarness,
) -> Outcome {
    let store = harness.fresh();
    add(&*store, &[entry("zoe", 3), entry("adam", 9)]).await?;
    is_taken_by("zoe", store.register(entry("adam", 3)).await)?;
    holds(&*store, &[entry("zoe", 3), entry("adam", 9)]).await
}

async fn an_account_that_became_free_can_be_taken(harness: &dyn IdentityStoreHarness) -> Outcome {
    let store = harness.fresh();
    add(&*store, &[entry("zoe", 3), entry("adam", 9)]).await?;
    // An account becomes free if its agent moves away or is removed.
    add(&*store, &[entry("zoe", 4), entry("mia", 3)]).await?;
    works("removing an agent", store.remove("adam".into()).await)?;
    add(&*store, &[entry("heir", 9)]).await?;
    holds(&*store, &[entry("zoe", 4), entry("mia", 3), entry("heir", 9)]).await
}

async fn a_removed_agent_is_gone_and_comes_back_last(
    harness: &dyn IdentityStoreHarness,
) -> Outcome {
    let store = harness.fresh();
    add(&*store, &[entry("zoe", 3), entry("adam", 9)]).await?;
    let removed = works("removing an agent", store.remove("zoe".into()).await)?;
    ensure(removed, "removing an agent says that there was none")?;
    holds(&*store, &[entry("adam", 9)]).await?;
    add(&*store, &[entry("zoe", 3)]).await?;
    holds(&*store, &[entry("adam", 9), entry("zoe", 3)]).await
}

async fn removing_nobody_says_so(harness: &dyn IdentityStoreHarness) -> Outcome {
    let store = harness.fresh();
    add(&*store, &[entry("zoe", 3)]).await?;
    for agent in ["ZOE", "zo", "Agent zoe"] {
        let removed = works("removing an unknown agent", store.remove(agent.into()).await)?;
        ensure(!removed, "removing an agent that is not there says that it was")?;
    }
    holds(&*store, &[entry("zoe", 3)]).await
}

async fn every_name_and_every_account_survives(harness: &dyn IdentityStoreHarness) -> Outcome {
    let store = harness.fresh();
    let names =
        ["", "\"quoted\" \\ back", "line\nbreak", "東京 🎻 e\u{301}", "../..", "\u{202e}rtl"];
    let mut entries = Vec::new();
    for (number, name) in (0..).zip(names) {
        // A JSON number cannot hold the highest accounts exactly.
        let account = UserId::new(u64::MAX - number);
        entries.push(Identity {
            discord_user_id: account,
            agent_id: format!("agent-{number}").into(),
            agent_name: name.to_owned(),
        });
    }
    add(&*store, &entries).await?;
    holds(&*store, &entries).await?;
    match harness.reopened(store).await {
        Some(again) => holds(&*again, &entries).await,
        None => Ok(()),
    }
}

async fn what_was_registered_survives_reopening(harness: &dyn IdentityStoreHarness) -> Outcome {
    let store = harness.fresh();
    add(&*store, &[entry("zoe", 3), entry("adam", 9), entry("mia", 1), entry("zoe", 4)]).await?;
    works("removing an agent", store.remove("adam".into()).await)?;
    let Some(again) = harness.reopened(store).await else {
        return Ok(());
    };
    holds(&*again, &[entry("zoe", 4), entry("mia", 1)]).await?;
    is_taken_by("mia", again.register(entry("thief", 1)).await)
}

/// Returns an agent with an account that looks like Discord's.
fn entry(agent: &str, account: u64) -> Identity {
    Identity {
        discord_user_id: UserId::new(123_456_789_012_345_000 + account),
        agent_id: agent.into(),
        agent_name: format!("Agent {agent}"),
    }
}

async fn add(store: &dyn IdentityStore, entries: &[Identity]) -> Outcome {
    for identity in entries {
        works("registering an agent", store.register(identity.clone()).await)?;
    }
    Ok(())
}

async fn holds(store: &dyn IdentityStore, entries: &[Identity]) -> Outcome {
    let found = works("reading all entries", store.all().await)?;
    equal("the entries", &found, &entries.to_vec())
}

fn is_taken_by(owner: &str, result: Result<(), RegisterError>) -> Outcome {
    match result {
        Err(RegisterError::AccountTaken { owner: found }) => {
            equal("the owner named", &found.as_str(), &owner)
        }
        Err(error) => Err(format!("registering a taken account failed otherwise: {error}")),
        Ok(()) => Err("a taken account was registered".to_owned()),
    }
}
