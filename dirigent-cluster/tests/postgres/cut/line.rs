//! A way to the server that cuts and delays what a test says.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::{Clock, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

/// The statement that renews, gives back and takes shards.
pub(crate) const BEAT: &str = "FROM mine WHERE s.shard = mine.shard";
/// The statement that commits.
pub(crate) const COMMIT: &str = "FOR SHARE OF s";

/// What happens to a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection is lost before the server has it.
    RequestCut,
    /// It arrives later, also where nobody waits for the answer any more.
    RequestLate(Duration),
    /// The connection is lost after so many bytes of the answer.
    AnswerCut(usize),
    /// The answer comes later.
    AnswerLate(Duration),
}

#[derive(Clone, Copy)]
struct Rule {
    statement: &'static str,
    fault: Fault,
    times: usize,
}

/// What is still to happen, and how often what has happened.
#[derive(Default)]
struct Plan {
    rules: Vec<Rule>,
    met: usize,
    /// How many requests that were late have been handed to the server.
    delivered: usize,
}

/// A way to a server, for one store.
pub(crate) struct Line {
    folder: tempfile::TempDir,
    plan: Arc<Mutex<Plan>>,
}

impl Line {
    /// To the server whose socket is in this folder.
    pub(crate) fn to(server: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let (plan, server) = (Arc::<Mutex<Plan>>::default(), server.join(".s.PGSQL.5432"));
        tokio::spawn(accept(listener, server, Arc::clone(&plan)));
        Self { folder, plan }
    }

    /// The address of a database on the other side.
    pub(crate) fn address(&self, name: &str) -> String {
        format!("host={} user=postgres dbname={name}", self.folder.path().display())
    }

    /// From now on this happens to the next so many of these statements.
    pub(crate) fn fail(&self, statement: &'static str, fault: Fault, times: usize) {
        self.plan.lock().unwrap().rules.push(Rule { statement, fault, times });
    }

    /// From now on nothing happens.
    pub(crate) fn heal(&self) {
        self.plan.lock().unwrap().rules.clear();
    }

    /// How often something has happened.
    pub(crate) fn met(&self) -> usize {
        self.plan.lock().unwrap().met
    }

    /// How many late requests the server has got.
    pub(crate) fn delivered(&self) -> usize {
        self.plan.lock().unwrap().delivered
    }
}

impl Plan {
    fn meets(&mut self, sent: &[u8]) -> Option<Fault> {
        let is_in = |text: &str| sent.windows(text.len()).any(|part| part == text.as_bytes());
        let mut rules = self.rules.iter_mut();
        let rule = rules.find(|rule| rule.times > 0 && is_in(rule.statement))?;
        rule.times -= 1;
        self.met += 1;
        Some(rule.fault)
    }
}

async fn accept(listener: UnixListener, server: PathBuf, plan: Arc<Mutex<Plan>>) {
    while let Ok((client, _)) = listener.accept().await {
        let Ok(server) = UnixStream::connect(&server).await else { continue };
        let plan = Arc::clone(&plan);
        tokio::spawn(async move {
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = server.into_split();
            let answers = Mutex::default();
            tokio::select! {
                () = carry_requests(from_client, to_server, &plan, &answers) => {}
                () = carry_answers(from_server, to_client, &answers) => {}
            }
        });
    }
}

async fn wait(time: Duration) {
    let clock = SystemClock::new();
    clock.sleep_until(clock.now() + time).await;
}

async fn carry_requests(
    mut client: OwnedReadHalf,
    mut server: OwnedWriteHalf,
    plan: &Mutex<Plan>,
    answers: &Mutex<Option<Fault>>,
) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let Ok(length @ 1..) = client.read(&mut buffer).await else { return };
        let sent = &buffer[..length];
        let fault = plan.lock().unwrap().meets(sent);
        match fault {
            Some(Fault::RequestCut) => return,
            Some(Fault::RequestLate(time)) => wait(time).await,
            Some(Fault::AnswerCut(_) | Fault::AnswerLate(_)) => *answers.lock().unwrap() = fault,
            None => {}
        }
        if server.write_all(sent).await.is_err() {
            return;
        }
        if matches!(fault, Some(Fault::RequestLate(_))) {
            plan.lock().unwrap().delivered += 1;
            // The server has done it, though the other side is gone.
            wait(Duration::from_millis(200)).await;
        }
    }
}

async fn carry_answers(
    mut server: OwnedReadHalf,
    mut client: OwnedWriteHalf,
    answers: &Mutex<Option<Fault>>,
) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let Ok(length @ 1..) = server.read(&mut buffer).await else { return };
        let fault = answers.lock().unwrap().take();
        let mut sent = &buffer[..length];
        match fault {
            Some(Fault::AnswerCut(bytes)) => sent = &sent[..bytes.min(length)],
            Some(Fault::AnswerLate(time)) => wait(time).await,
            Some(Fault::RequestCut | Fault::RequestLate(_)) | None => {}
        }
        // A client that is gone does not end what is under way to the server.
        let _ = client.write_all(sent).await;
        if matches!(fault, Some(Fault::AnswerCut(_))) {
            return;
        }
    }
}
