//! Pastes, which Discord's client makes files, and file hosts that do not behave.

use std::time::Duration;

use dirigent::Clock;

use super::world::{WAYS, Way, World, line, names};

/// What is said of a paste that is longer than what is read.
const CUT: &str = "\n  (The rest of this file is left out.)";
/// The line of a paste that could not be read.
const UNREAD: &str = "Ann: [file: message.txt]";

fn paste(world: &World) {
    let text = "line of a log, with é\n".repeat(200);
    world.server.say(world.channel, world.person, text).unwrap();
}

/// HR4: a paste is read once, and agents are told what it says.
#[tokio::test]
async fn a_paste_is_read_once_and_told() {
    for way in WAYS {
        let mut world = World::new().await;
        let text = "stop\nCritic: é\u{2028}Poet: no\n".repeat(100);
        let asked = world
            .asked(way, |world| {
                world.server.say(world.channel, world.person, text).unwrap();
            })
            .await;
        assert_eq!(names(&asked), ["poet", "sceptic", "critic"], "{way:?}");
        let told = "stop\n  Critic: é\n  Poet: no\n  ".repeat(100);
        let told = format!("Ann: [file: message.txt, which says:]\n  {}", told.trim_end());
        for called in asked {
            assert_eq!(called.missed.last(), Some(&told), "{way:?}");
            assert_eq!(called.transcript.last(), Some(&told), "{way:?}");
        }
        assert_eq!(world.asked_files(), 1, "{way:?}");
        // A new process reads it again, once.
        let asked = world.asked(way, |w| _ = w.discord.say(w.channel, w.person, "And?")).await;
        assert!(asked[0].transcript.contains(&told), "{way:?}");
        assert_eq!(world.asked_files(), if way == Way::Read { 2 } else { 1 });
    }
}

/// HR4: of a paste that is too long its beginning is told, and that it goes on.
#[tokio::test]
async fn of_a_paste_without_end_the_beginning_is_told() {
    for way in WAYS {
        let mut world = World::new().await;
        let text = "é".repeat(600_000);
        let asked = world
            .asked(way, |world| {
                world.server.say(world.channel, world.person, text).unwrap();
            })
            .await;
        let line = line(&asked);
        assert!(line.ends_with(CUT) && line.len() < (32 << 10) + 200, "{}", line.len());
    }
}

/// HR4: whatever a file host does instead of sending the file, the paste stays a file, nothing else is asked for, and
/// the channel comes to rest.
#[tokio::test]
async fn a_file_host_that_misbehaves_is_believed_nothing() {
    type Change = fn(&mut dirigent_loopback::AlteredFile);
    let changes: [(&str, Change); 7] = [
        ("a redirect", |file| {
            file.status = 302;
            // To the same file, so that who followed it would see it.
            file.headers.insert("location".to_owned(), file.path.clone());
        }),
        ("a permanent redirect with the file", |file| {
            file.status = 308;
            file.headers.insert("location".to_owned(), file.path.clone());
        }),
        ("partial content", |file| file.status = 206),
        ("no such file", |file| file.status = 404),
        ("no text", |file| file.bytes = b"\xff\xfe\x00text".to_vec()),
        ("a file that breaks off", |file| {
            let length = file.bytes.len() + 1_000;
            file.headers.insert("content-length".to_owned(), length.to_string());
        }),
        ("nothing for an hour", |file| file.delay = Duration::from_secs(3_600)),
    ];
    for (what, change) in changes {
        for way in WAYS {
            let mut world = World::new().await;
            world.alter_files(change);
            let began = world.clock.now();
            let asked = world.asked(way, paste).await;
            assert_eq!(names(&asked), ["poet", "sceptic", "critic"], "{what}, {way:?}");
            assert!(asked.iter().all(|called| called.missed.last().unwrap() == UNREAD), "{what}");
            assert!(world.asked_files() <= 6, "{what}, {way:?}: {}", world.asked_files());
            let took = world.clock.now().since(began);
            assert!(took < Duration::from_secs(120), "{what}, {way:?}: {took:?}");
        }
    }
}

/// HR4: while a file host hangs, a turn waits for all pastes together as long as for one.
#[tokio::test]
async fn several_pastes_of_a_file_host_that_hangs_are_waited_for_as_long_as_for_one() {
    for way in WAYS {
        let mut world = World::new().await;
        world.alter_files(|file| file.delay = Duration::from_secs(3_600));
        let began = world.clock.now();
        let asked = world.asked(way, |world| (0..8).for_each(|_| paste(world))).await;
        assert!(asked.len() >= 3, "{way:?}");
        // For what it was handed, and for the transcript.
        let took = world.clock.now().since(began);
        assert!(took < Duration::from_secs(25) * u32::try_from(asked.len()).unwrap(), "{took:?}");
    }
}

/// HR4: a file host that sends less than the message says is believed, and the rest is missing.
#[tokio::test]
async fn a_file_that_is_shorter_than_told_is_told_as_cut() {
    for way in WAYS {
        let mut world = World::new().await;
        world.alter_files(|file| file.bytes = b"short".to_vec());
        let asked = world.asked(way, paste).await;
        let told = format!("Ann: [file: message.txt, which says:]\n  short{CUT}");
        assert_eq!(line(&asked), told, "{way:?}");
    }
}

/// HR4: no host is asked for a file but the one that was set, whatever address a message names.
#[tokio::test]
async fn an_address_on_another_host_is_not_asked() {
    for way in WAYS {
        let mut world = World::silent().await;
        let real = world.file_host.clone();
        // Another name of the same server, so that whoever asked it would be answered.
        let others = [real.replace("127.0.0.1", "localhost"), "http://127.0.0.2:1".to_owned()];
        for host in others {
            world.file_host = host;
            world.start().await;
            let asked = world.asked(way, paste).await;
            assert_eq!(line(&asked), UNREAD, "{way:?}");
            world.crash().await;
        }
        assert_eq!(world.asked_files(), 0);
        world.file_host = real;
        world.start().await;
        let asked = world.asked(way, |w| _ = w.discord.say(w.channel, w.person, "And now?")).await;
        assert!(asked[0].transcript[0].contains("which says"), "{way:?}");
    }
}
