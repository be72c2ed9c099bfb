//! Power cuts: the disk as it is in one moment, with nothing of what the system still holds back.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use dirigent::ChannelId;
use dirigent_testkit::check::Random;

use crate::crash::{Known, ack, other_process};
use crate::mount::{Mount, image, succeeds};
use crate::place::{Place, stored};

/// A disk that can be stopped at once, with a file behind it.
struct Disk {
    /// What the kernel calls it.
    name: String,
    device: String,
    file: PathBuf,
}

impl Disk {
    /// A disk of the file's size; none where that is not allowed, which is said.
    fn new(file: PathBuf) -> Option<Self> {
        let output = Command::new("losetup").args(["--find", "--show"]).arg(&file).output().ok();
        let output = output.filter(|output| output.status.success());
        let Some(output) = output else {
            println!("left out: there are no loop devices here");
            return None;
        };
        let device = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        let name = format!("dirigent-{}", std::process::id());
        let disk = Self { name, device, file };
        let sectors = fs::metadata(&disk.file).unwrap().len() / 512;
        let table = format!("0 {sectors} linear {} 0", disk.device);
        let mut create = Command::new("dmsetup");
        create.args(["create", &disk.name, "--noudevsync", "--table", &table]);
        if succeeds(&mut create) && disk.path().exists() {
            return Some(disk);
        }
        println!("left out: there is no device mapper here");
        None
    }

    fn path(&self) -> PathBuf {
        Path::new("/dev/mapper").join(&self.name)
    }

    /// What is on the disk in this moment. Nothing that waits is written before.
    fn copy(&self, to: &Path) {
        let frozen = ["suspend", "--nolockfs", "--noflush", "--noudevsync", &self.name];
        assert!(succeeds(Command::new("dmsetup").args(frozen)), "cannot freeze the disk");
        let copied = fs::copy(&self.file, to);
        let thawed = ["resume", "--noudevsync", &self.name];
        assert!(succeeds(Command::new("dmsetup").args(thawed)), "cannot thaw the disk");
        copied.unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        succeeds(Command::new("dmsetup").args(["remove", "--noudevsync", &self.name]));
        succeeds(Command::new("losetup").args(["--detach", &self.device]));
    }
}

/// R046, R143, D77
#[tokio::test]
async fn a_power_cut_takes_no_fact() {
    let home = tempfile::tempdir().unwrap();
    let Some(image) = image(home.path().join("image"), 24) else { return };
    let Some(disk) = Disk::new(image) else { return };
    let Some(mount) = Mount::new(&[disk.path()]) else { return };
    let mut random = Random::new(0x706f_7765);
    let root = mount.path().join("state");
    let mut known = Known::default();
    let (mut torn, mut turns_lost) = (0, 0);
    for round in 0..8 {
        let wait = [1, 20, 60_000][round % 3];
        let mut writer = other_process(&format!("write {wait}"), &root);
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        assert_eq!(ack(&mut lines).as_deref(), Some("open"));
        for _ in 0..20 + random.draw() % 40 {
            assert!(known.hear(&mut lines), "the other process gave up");
        }
        let copy = home.path().join("copy");
        disk.copy(&copy);
        let facts = known.facts.clone();
        writer.kill().unwrap();
        while known.hear(&mut lines) {}
        writer.wait().unwrap();

        let arguments = ["-o".into(), "loop".into(), copy.into_os_string()];
        let after = Mount::new(&arguments).expect("the copy cannot be mounted");
        let place = Place::at(after.path().join("state"));
        let store = place.lazy();
        for (channel, fact) in &facts {
            let found = stored(&store, ChannelId::new(*channel)).await;
            let (revision, mark) = found.unwrap_or_default();
            assert_eq!(mark, revision, "what was written belongs to another commit");
            assert!(revision >= *fact, "round {round}: fact {fact} of {channel}, not {revision}");
            turns_lost += known.made[channel].saturating_sub(revision);
        }
        for problem in store.problems() {
            let kept = problem.kept.to_str().unwrap().to_owned();
            assert!(kept.contains(".turn.json.corrupt-"), "round {round}: {problem}");
            torn += 1;
        }
        store.close().await.unwrap();
    }
    println!("8 power cuts: no fact lost, {turns_lost} turns, {torn} of them torn");
}
