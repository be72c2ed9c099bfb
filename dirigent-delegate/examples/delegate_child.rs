//! A program for tests of command-line agents. It reads its last argument as a list of words with operands, and does
//! what each word says:
//!
//! | word | what it does |
//! | --- | --- |
//! | `say TEXT`, `moan TEXT` | writes a line to one of its outputs |
//! | `raw JSON`, `moan-raw JSON` | writes a text, a string in JSON without spaces, to one of its outputs |

//! | `folder`, `variable NAME` | writes its working folder, a variable of its environment |
//! | `spy NAME` | writes in how many other processes' environments it can read the variable, and whether its parent's open files |
//! | `read` | reads its input to the end, and writes how long it was |
//! | `flood` | writes without end |
//! | `garbage` | writes what is no text |
//! | `files` | writes the lengths of the files that `--file` names |
//! | `stubborn` | ignores SIGTERM from here on |
//! | `note FOLDER` | notes its process in this folder |
//! | `child FOLDER`, `detached FOLDER` | starts a process that notes itself there and waits for ever, in this group or in a session of its own |
//! | `bare FOLDER` | the same as `child`, without any variable in its environment |
//! | `family FOLDER` | notes itself and starts a detached process that does the same and waits for ever, up to sixty |
//! | `wait` | waits for ever |
//! | `exit CODE` | ends |
//!
//! As `serve` it prints that a server listens at the address in `DELEGATE_LISTENS`, and waits for ever. If
//! `DELEGATE_FAILS` is set, it complains with that text instead, and ends.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for tests")]

use std::env;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio, exit, id};

use futures_util::future::pending;
use tokio::signal::unix::{SignalKind, signal};

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(obey());
}

async fn obey() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.first().is_some_and(|word| word == "serve") {
        if let Ok(complaint) = env::var("DELEGATE_FAILS") {
            eprintln!("{complaint}");
            exit(4);
        }
        println!("opencode server listening on {}", env::var("DELEGATE_LISTENS").unwrap());
        pending::<()>().await;
    }
    let order = arguments.last().cloned().unwrap_or_default();
    let mut words = order.split_whitespace();
    let mut ignored = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "say" => println!("{}", words.next().unwrap()),
            "moan" => eprintln!("{}", words.next().unwrap()),
            "raw" => print!("{}", of_json(words.next().unwrap())),
            "moan-raw" => eprint!("{}", of_json(words.next().unwrap())),
            "folder" => println!("{}", env::current_dir().unwrap().display()),
            "variable" => println!("{:?}", env::var(words.next().unwrap()).ok()),
            "spy" => spy(words.next().unwrap()),
            "read" => {
                let mut text = Vec::new();
                println!("{}", std::io::stdin().read_to_end(&mut text).unwrap());
            }
            "flood" => while std::io::stdout().write_all(&[b'x'; 4_096]).is_ok() {},
            "garbage" => {
                std::io::stdout().write_all(b"a\0\xff\xfe\x1b[31mb\x1b[0m\xc3(\x07c\n").unwrap();
            }
            "files" => show_files(&arguments),
            "stubborn" => ignored.push(signal(SignalKind::terminate()).unwrap()),
            "note" => note(words.next().unwrap()),
            "child" => start("note", words.next().unwrap(), "wait"),
            "bare" => {
                let folder = words.next().unwrap();
                let mut again = Command::new(env::current_exe().unwrap());
                again.env_clear().arg(format!("note {folder} wait")).stdin(Stdio::null());
                drop(again.spawn().unwrap());
            }
            "detached" => start("detach note", words.next().unwrap(), "wait"),
            "detach" => {
                rustix::process::setsid().unwrap();
            }
            "family" => {
                let folder = words.next().unwrap();
                note(folder);
                if fs::read_dir(folder).unwrap().count() < 60 {
                    start("detach family", folder, "wait");
                }
            }
            "wait" => pending().await,
            "exit" => exit(words.next().unwrap().parse().unwrap()),
            other => panic!("{other} is no order"),
        }
    }
    drop(ignored);
}

/// Looks into every process, as an agent with a shell could.
fn spy(name: &str) {
    let wanted = format!("{name}=");
    let of = |process: &Path| fs::read(process.join("environ")).unwrap_or_default();
    let has = |process: &Path| {
        let environment = of(process);
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(wanted.as_bytes()))
    };
    let processes = fs::read_dir("/proc").unwrap().map(|process| process.unwrap().path());
    let found = processes.filter(|process| has(process)).count();
    let parent = Path::new("/proc").join(std::os::unix::process::parent_id().to_string());
    println!("{found} {}", fs::read_dir(parent.join("fd")).is_ok());
}

fn of_json(word: &str) -> String {
    serde_json::from_str(word).unwrap()
}

fn show_files(arguments: &[String]) {
    let before = arguments.iter().zip(arguments.iter().skip(1));
    for (_, path) in before.filter(|(option, _)| *option == "--file") {
        let name = Path::new(path).file_name().unwrap().to_str().unwrap();
        println!("{name} {}", fs::metadata(path).unwrap().len());
        println!("{path}");
    }
}

fn note(folder: &str) {
    fs::write(Path::new(folder).join(id().to_string()), "").unwrap();
}

/// Starts this program again. The new process keeps the outputs open.
fn start(before: &str, folder: &str, after: &str) {
    let mut again = Command::new(env::current_exe().unwrap());
    again.arg(format!("{before} {folder} {after}")).stdin(Stdio::null());
    drop(again.spawn().unwrap());
}
