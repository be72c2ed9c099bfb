//! The scan before the first reading.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dirigent::operate::Reason;
use dirigent::ports::{ApiError, ErrorKind, Identity, RegisterError};
use dirigent::{AgentId, Dirigent, IdentityStore, MemoryIdentities, Mode, async_trait};
use dirigent_store::ego::{EgoAbsent, EgoOptions, RescanError, ScannedIdentities, SkipReason};
use dirigent_store::{JsonIdentities, OpenError};
use dirigent_testkit::{ManualClock, MemoryDiscord};
use futures_util::FutureExt;
use tokio::sync::Notify;

use crate::registry::place::{Place, put, who};

fn ego(agent: &str, number: u64) -> String {
    let id = crate::registry::place::account(number);
    format!(r#"{{"columns":["discord-id"],"agentScope":{{"{agent}":{{"discord-id":"{id}"}}}}}}"#)
}

/// R016
#[tokio::test]
async fn the_file_is_scanned_once_at_the_first_reading() {
    let place = Place::new();
    let path = place.folder().join("ego.json");
    fs::write(&path, ego("zoe", 3)).unwrap();
    let identities = ScannedIdentities::new(place.open(), &path, EgoOptions::default());
    assert!(place.names() == ["ego.json"], "something was done before it was asked for");
    let driver = identities.clone();
    assert_eq!(who(&driver).await, "zoe 3");
    fs::write(&path, ego("adam", 9)).unwrap();
    assert_eq!(who(&driver).await, "zoe 3");
    let report = identities.report().unwrap();
    assert_eq!(report.added.len(), 1);
    assert!(identities.is_detected());
}

/// R016
#[tokio::test]
async fn a_driver_that_starts_knows_the_agents_of_the_file() {
    let clock = ManualClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock.clone()));
    let person = discord.add_human();
    let [moderator, zoe, adam] = [(); 3].map(|()| discord.add_bot());
    let guild = discord.add_guild(moderator);
    let channel = discord.add_channel(guild, "round-table", &[person, zoe, adam]);
    let place = Place::new();
    let path = place.folder().join("ego.json");
    let agents = [("zoe", zoe), ("adam", adam), ("mod", moderator)]
        .map(|(agent, account)| format!(r#""{agent}":{{"discord-id":"{account}"}}"#));
    let scope = agents.join(",");
    fs::write(&path, format!(r#"{{"columns":["discord-id"],"agentScope":{{{scope}}}}}"#)).unwrap();
    let options = EgoOptions { moderator: Some(moderator), ..EgoOptions::default() };
    let identities = ScannedIdentities::new(place.open(), &path, options);

    let account = Arc::new(discord.account(moderator));
    let (dirigent, driver) =
        Dirigent::builder(account).identities(identities.clone()).clock(clock).build().unwrap();
    assert!(identities.report().is_none(), "building read a file");
    let driver = tokio::spawn(driver.run());
    tokio::task::yield_now().await;
    dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
    for (agent, is_known) in [("zoe", true), ("adam", true), ("mod", false)] {
        let denial = dirigent.channel(channel).may_speak(&agent.into(), None).await.unwrap_err();
        assert_eq!(denial.reason() != Some(Reason::NotRegistered), is_known, "{agent}");
    }
    dirigent.identities_changed().await.unwrap();
    let report = identities.report().unwrap();
    assert_eq!(report.added.len(), 2, "it was scanned twice");
    assert_eq!(report.skipped, [("mod".into(), SkipReason::Moderator)]);
    driver.abort();
}

/// R016
#[tokio::test]
async fn readers_that_come_at_once_wait_for_one_scan() {
    let place = Place::new();
    let path = place.folder().join("ego.json");
    fs::write(&path, ego("zoe", 3)).unwrap();
    let identities = ScannedIdentities::new(place.open(), &path, EgoOptions::default());
    let (a, b) = tokio::join!(identities.all(), identities.all());
    assert_eq!(a.unwrap(), b.unwrap());
    // A second scan would have found it unchanged.
    assert_eq!(identities.report().unwrap().added.len(), 1);
}

/// R025
#[tokio::test]
async fn scanning_again_finds_what_is_new_and_is_refused_where_nothing_is_there() {
    let place = Place::new();
    let path = place.folder().join("ego.json");
    let identities = ScannedIdentities::new(place.open(), &path, EgoOptions::default());
    assert_eq!(who(&identities).await, "");
    assert!(!identities.is_detected());
    let refused = || async { identities.rescan().await.unwrap_err() };
    assert!(matches!(refused().await, RescanError::Absent(EgoAbsent::NoFile)));
    fs::write(&path, ego("zoe", 3)).unwrap();
    let report = identities.rescan().await.unwrap();
    assert_eq!(report.added.len(), 1);
    assert!(identities.is_detected());
    assert_eq!(who(&identities).await, "zoe 3");
    fs::remove_file(&path).unwrap();
    assert!(matches!(refused().await, RescanError::Absent(EgoAbsent::NoFile)));
    assert!(!identities.is_detected());
    assert_eq!(who(&identities).await, "zoe 3", "an entry outlives the file it came from");
}

/// A registry that can be told to fail.
#[derive(Clone, Default)]
struct Failing {
    inner: MemoryIdentities,
    reads_fail: Arc<AtomicBool>,
    writes_fail: Arc<AtomicBool>,
    changed: Arc<Notify>,
}

fn unless(fails: &AtomicBool) -> Result<(), ApiError> {
    if fails.load(Ordering::SeqCst) { Err(ApiError::new(ErrorKind::Store)) } else { Ok(()) }
}

#[async_trait]
impl IdentityStore for Failing {
    async fn all(&self) -> Result<Vec<Identity>, ApiError> {
        unless(&self.reads_fail)?;
        self.inner.all().await
    }

    async fn register(&self, identity: Identity) -> Result<(), RegisterError> {
        unless(&self.writes_fail)?;
        self.inner.register(identity).await
    }

    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError> {
        self.inner.remove(agent).await
    }

    async fn changed_elsewhere(&self) {
        self.changed.notified().await;
    }
}

#[tokio::test]
async fn a_registry_that_cannot_be_read_is_scanned_into_later() {
    let place = Place::new();
    let path = place.folder().join("ego.json");
    fs::write(&path, ego("zoe", 3)).unwrap();
    let registry = Failing::default();
    let identities = ScannedIdentities::new(registry.clone(), &path, EgoOptions::default());
    registry.reads_fail.store(true, Ordering::SeqCst);
    assert!(identities.all().await.is_err());
    assert!(identities.rescan().await.is_err());
    assert!(identities.report().is_none());
    registry.reads_fail.store(false, Ordering::SeqCst);
    assert_eq!(who(&identities).await, "zoe 3");
}

/// As where several processes share it.
#[tokio::test]
async fn a_change_that_another_process_makes_in_the_registry_is_told() {
    let registry = Failing::default();
    let identities =
        ScannedIdentities::new(registry.clone(), "/nowhere/ego.json", EgoOptions::default());
    let mut told = Box::pin(identities.changed_elsewhere());
    assert!((&mut told).now_or_never().is_none());
    registry.changed.notify_one();
    assert!(told.now_or_never().is_some());
}

#[tokio::test]
async fn a_registry_that_cannot_be_written_does_not_stop_the_start() {
    let place = Place::new();
    let path = place.folder().join("ego.json");
    fs::write(&path, ego("zoe", 3)).unwrap();
    let registry = Failing::default();
    put(&registry, "adam", 9).await;
    registry.writes_fail.store(true, Ordering::SeqCst);
    let identities = ScannedIdentities::new(registry, &path, EgoOptions::default());
    assert_eq!(who(&identities).await, "adam 9");
    let skipped = identities.report().unwrap().skipped.clone();
    assert_eq!(skipped, [("zoe".into(), SkipReason::StoreFailed)]);
}

/// What this test does when it is run as another process, with a home folder of its own.
#[cfg(unix)]
const AT_HOME: &str = "DIRIGENT_REGISTRY_AT_HOME";

/// The registry and `ego.json` are opened at their default paths in one call.
#[cfg(unix)]
#[tokio::test]
async fn the_default_paths_are_in_the_home_folder() {
    if std::env::var_os(AT_HOME).is_some() {
        match ScannedIdentities::open_default(EgoOptions::default()) {
            Ok(identities) => println!("\nfound {}", who(&identities).await),
            Err(error) => println!("\nfailed {error:?}"),
        }
        return;
    }
    let place = Place::new();
    let seen_at_home = |home: &std::path::Path| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "registry::scanned::the_default_paths_are_in_the_home_folder"]);
        command.args(["--nocapture"]).env(AT_HOME, "1").env("HOME", home);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let seen = seen_at_home(place.folder());
    assert!(seen.contains("found \n"), "nothing is there yet: {seen}");
    let folder = place.folder().join(".openclaw");
    let registry = JsonIdentities::open(folder.join("dirigent-identity.json")).unwrap();
    put(&registry, "adam", 9).await;
    drop(registry);
    fs::write(folder.join("ego.json"), ego("zoe", 3)).unwrap();
    let seen = seen_at_home(place.folder());
    assert!(seen.contains("found adam 9, zoe 3\n"), "{seen}");
    let seen = seen_at_home("not/absolute".as_ref());
    assert!(seen.contains("failed the home folder is not known"), "{seen}");
}

/// Both files of any folder are opened in one call, before which nothing need be there.
#[tokio::test]
async fn both_files_of_a_folder_are_opened_in_one_call() {
    let place = Place::new();
    let folder = place.folder().join("new");
    let identities = ScannedIdentities::open_in(&folder, EgoOptions::default()).unwrap();
    fs::write(folder.join("ego.json"), ego("zoe", 3)).unwrap();
    assert_eq!(who(&identities).await, "zoe 3");
    assert_eq!(identities.inner().path().file_name().unwrap(), JsonIdentities::FILE_NAME);
    let again = ScannedIdentities::open_in(&folder, EgoOptions::default());
    assert!(matches!(again, Err(OpenError::InUse { .. })));
}
