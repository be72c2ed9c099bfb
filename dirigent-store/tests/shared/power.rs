//! Power cuts: the disk as it is in one moment, with nothing of what the system still holds back.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Child;
use std::sync::Arc;

use dirigent::ChannelId;
use dirigent::store::ChannelStore;
use dirigent_testkit::Random;

use crate::shared::commits::stored;
use crate::shared::mount::{Disk, Mount};
use crate::shared::process::{Acknowledged, Player, ack};

/// How a store is opened at a path.
type Open = fn(&Path) -> Arc<dyn ChannelStore>;

/// Everything that was acknowledged before the disk was copied is on the copy, whole.
async fn is_on(copy: &Path, name: &str, known: &Acknowledged, open: Open) {
    let after = Mount::looped(copy.to_owned()).expect("the copy cannot be mounted");
    let store = open(&after.path().join(name));
    for (channel, made) in &known.made {
        let found = stored(&*store, ChannelId::new(*channel)).await;
        let (revision, mark) = found.expect("a channel is lost");
        assert_eq!(mark, revision, "what was written belongs to another commit");
        assert!(revision >= *made, "{made} of {channel} is lost, found {revision}");
    }
}

/// Starts a process that writes.
fn start(
    player: Player,
    role: &str,
    path: &Path,
) -> (Child, impl Iterator<Item = std::io::Result<String>> + use<>) {
    let mut writer = player.start(role, path);
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    assert_eq!(ack(&mut lines).as_deref(), Some("open"));
    (writer, lines)
}

/// The power is cut at any moment.
pub(crate) async fn at_any_moment(player: Player, name: &str, open: Open) {
    let home = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(home.path()) else { return };
    let mut random = Random::new(0x706f_7765);
    let mut known = Acknowledged::default();
    for _ in 0..8 {
        let (mut writer, mut lines) = start(player, "write", &disk.path().join(name));
        for _ in 0..20 + random.draw() % 40 {
            assert!(known.hear(&mut lines), "the other process gave up");
        }
        let copy = home.path().join("copy");
        disk.copy(&copy);
        is_on(&copy, name, &known, open).await;
        writer.kill().unwrap();
        while known.hear(&mut lines) {}
        writer.wait().unwrap();
    }
}

/// The power is cut right after a commit was acknowledged: the writer rests until the disk was copied, so that no later sync
/// stands in for one that was left out.
pub(crate) async fn right_after_a_commit(player: Player, name: &str, open: Open) {
    let home = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(home.path()) else { return };
    let (mut writer, mut lines) = start(player, "pause", &disk.path().join(name));
    let mut known = Acknowledged::default();
    // Turns and facts, the first of each channel and later ones.
    for _ in 0..16 {
        assert!(known.hear(&mut lines), "the other process gave up");
        let copy = home.path().join("copy");
        disk.copy(&copy);
        writer.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        is_on(&copy, name, &known, open).await;
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
}
