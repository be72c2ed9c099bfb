//! The registry changes while the chat is away, and while it is being read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::ports::{ApiError, Identity, RegisterError};
use dirigent::{Clock, Dirigent, IdentityStore, UserId, async_trait};
use dirigent_testkit::memory_discord::Outage;
use dirigent_testkit::{ManualClock, MemoryDiscord};
use dirigent_verify::stage::Setup;

use super::kit::SECOND;

#[test]
fn a_change_of_the_registry_holds_at_once_while_the_chat_is_away() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    stage.discord().begin_outage(Outage::refused());
    let (identities, began) = (stage.identities().clone(), stage.clock().now());
    let changed = stage.call(move |d| async move {
        identities.remove("b".into()).await.unwrap();
        d.identities_changed().await
    });
    assert!(changed.is_ok(), "{changed:?}");
    assert_eq!(stage.clock().now().since(began), Duration::ZERO);
    assert_eq!(stage.dirigent().agent_accounts(), [stage.agent("a").user()]);
}

/// A registry that answers each question with the next of these lists, after this time.
struct Lists {
    clock: ManualClock,
    next: Mutex<VecDeque<(Duration, Vec<Identity>)>>,
}

#[async_trait]
impl IdentityStore for Lists {
    async fn all(&self) -> Result<Vec<Identity>, ApiError> {
        let next = self.next.lock().unwrap().pop_front();
        let (after, list) = next.unwrap();
        self.clock.sleep_until(self.clock.now() + after).await;
        Ok(list)
    }

    async fn register(&self, _: Identity) -> Result<(), RegisterError> {
        Ok(())
    }

    async fn remove(&self, _: dirigent::AgentId) -> Result<bool, ApiError> {
        Ok(false)
    }
}

#[tokio::test]
async fn of_two_changes_of_the_registry_at_once_the_newest_list_stays() {
    let clock = ManualClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock.clone()));
    let account = Arc::new(discord.account(discord.add_bot()));
    let identity = |name: &str, user| Identity {
        discord_user_id: UserId::new(user),
        agent_id: name.into(),
        agent_name: name.to_owned(),
    };
    let (old, new) = (vec![identity("a", 101)], vec![identity("a", 101), identity("b", 102)]);
    let lists = [(Duration::ZERO, old.clone()), (SECOND * 3, old), (Duration::ZERO, new)];
    let registry = Lists { clock: clock.clone(), next: Mutex::new(lists.into()) };
    let (dirigent, driver) =
        Dirigent::builder(account).identities(registry).clock(clock.clone()).build().unwrap();
    let _running = tokio::spawn(driver.run());
    let pass = async |seconds: u32| {
        for _ in 0..seconds {
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            clock.advance(SECOND);
        }
    };
    pass(1).await;
    let begin = || {
        let dirigent = dirigent.clone();
        tokio::spawn(async move { dirigent.identities_changed().await })
    };
    let first = begin();
    pass(1).await;
    let second = begin();
    pass(8).await;
    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
    let mut accounts = dirigent.agent_accounts();
    accounts.sort_unstable();
    assert_eq!(accounts, [UserId::new(101), UserId::new(102)]);
}
