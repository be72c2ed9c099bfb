//! A PostgreSQL server for a test, in a folder that is removed with it.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Runs as the server's user: PostgreSQL refuses root. It obeys lines, answers each with one, and removes everything when its
/// input ends, however this process ends.
const SCRIPT: &str = include_str!("database/keeper.sh");

/// What the keeper is told, and what it answers.
#[derive(Debug)]
struct Lines {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// A PostgreSQL server on a socket in a folder of its own. It is stopped, and its folder removed, when it is dropped or when this
/// process ends, however that happens.
///
/// ```
/// use dirigent_verify::database::Database;
///
/// // None where no PostgreSQL is installed.
/// if let Some(server) = Database::start().unwrap() {
///     let address = server.create().unwrap();
///     assert_eq!(server.sql(&address, "SELECT 1 + 1").unwrap(), "2");
/// }
/// ```
#[derive(Debug)]
pub struct Database {
    keeper: Child,
    lines: Mutex<Option<Lines>>,
    databases: AtomicU32,
    folder: PathBuf,
    programs: PathBuf,
}

impl Database {
    /// Starts a server, with the newest of the programs that are installed; `None` where there are none.
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub fn start() -> io::Result<Option<Self>> {
        let Some(programs) = programs() else {
            return Ok(None);
        };
        let mut command = as_user("sh");
        command.args(["-c", SCRIPT, "sh"]).arg(&programs).current_dir("/");
        // What interrupts this process, as a terminal does, would end it before it has stopped the server.
        command.process_group(0);
        let mut keeper = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let ends = keeper.stdin.take().zip(keeper.stdout.take());
        let (input, output) = ends.ok_or_else(|| io::Error::other("no pipes"))?;
        let mut output = BufReader::new(output);
        let mut folder = String::new();
        output.read_line(&mut folder)?;
        if folder.is_empty() {
            return Err(io::Error::other("the server did not start"));
        }
        let folder = PathBuf::from(folder.trim_end());
        let lines = Mutex::new(Some(Lines { input, output }));
        Ok(Some(Self { keeper, lines, databases: AtomicU32::new(0), folder, programs }))
    }

    /// Makes an empty database; returns its address.
    ///
    /// # Errors
    ///
    /// The server refused.
    pub fn create(&self) -> io::Result<String> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        self.sql(&self.address("postgres"), &format!("CREATE DATABASE d{number}"))?;
        Ok(self.address(&format!("d{number}")))
    }

    /// The address of a database.
    pub fn address(&self, name: &str) -> String {
        format!("host={} user=postgres dbname={name}", self.folder.display())
    }

    /// The address of a database on the server and its standby, whichever of them takes writes.
    pub fn address_of_both(&self, name: &str) -> String {
        let first = self.folder.display();
        format!(
            "host={first},{first}/other user=postgres dbname={name} target_session_attrs=read-write"
        )
    }

    /// Where the server's socket, data and log are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What a statement answers, as text.
    ///
    /// # Errors
    ///
    /// The server refused.
    pub fn sql(&self, address: &str, sql: &str) -> io::Result<String> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-qAtX", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", sql]);
        let output = psql.output()?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
        } else {
            Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
        }
    }

    /// Stops the server, `fast` or `immediate`, the latter as a kill would.
    ///
    /// # Errors
    ///
    /// It could not be stopped.
    pub fn stop(&self, how: &str) -> io::Result<()> {
        self.tell(&format!("stop {how}"))
    }

    /// Starts it again, with further settings (`-c name=value`).
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub fn start_again(&self, settings: &str) -> io::Result<()> {
        self.tell(&format!("start {settings}"))
    }

    /// Has all of the server's processes stand still.
    ///
    /// # Errors
    ///
    /// They could not be signalled.
    pub fn pause(&self) -> io::Result<()> {
        self.tell("pause")
    }

    /// Has all of them go on.
    ///
    /// # Errors
    ///
    /// They could not be signalled.
    pub fn resume(&self) -> io::Result<()> {
        self.tell("resume")
    }

    /// Makes a synchronous standby of the server: from then on it acknowledges nothing that is not on both disks.
    ///
    /// # Errors
    ///
    /// It could not be made.
    pub fn add_standby(&self) -> io::Result<()> {
        self.tell("standby")
    }

    /// Kills the server and has its standby take its place, without a standby of its own.
    ///
    /// # Errors
    ///
    /// There is no standby, or it could not be promoted.
    pub fn fail_over(&self) -> io::Result<()> {
        self.stop("immediate")?;
        self.promote()
    }

    /// Has the standby take the place of the server, whatever becomes of that one.
    ///
    /// # Errors
    ///
    /// There is no standby, or it could not be promoted.
    pub fn promote(&self) -> io::Result<()> {
        self.tell("promote")
    }

    /// Puts pgbouncer before the server, which gives a client a connection for the length of a `transaction` or a `statement`;
    /// returns the address of a database through it, or `None` where pgbouncer is not installed.
    ///
    /// # Errors
    ///
    /// The keeper has ended.
    pub fn add_pooler(&self, name: &str, mode: &str) -> io::Result<Option<String>> {
        let folder = self.folder.display();
        let address = format!("host={folder} port=6432 user=postgres dbname={name}");
        match self.tell(&format!("pooler {mode}")) {
            Ok(()) => Ok(Some(address)),
            Err(error) if error.kind() == io::ErrorKind::Other => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn tell(&self, line: &str) -> io::Result<()> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Lines { input, output }) = &mut *lines else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        writeln!(input, "{line}")?;
        let mut answer = String::new();
        output.read_line(&mut answer)?;
        if answer.trim_end() == "0" { Ok(()) } else { Err(io::Error::other(line.to_owned())) }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Its input ends: it stops the server and removes the folder.
        *self.lines.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let _ = self.keeper.wait();
    }
}

/// Where the newest PostgreSQL's programs are.
fn programs() -> Option<PathBuf> {
    let version = |path: &PathBuf| path.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
    let installed = fs::read_dir("/usr/lib/postgresql").ok()?;
    let bins = installed.flatten().map(|entry| entry.path().join("bin"));
    bins.filter(|bin| bin.join("initdb").exists() && bin.join("psql").exists()).max_by_key(version)
}

/// A command of a user that PostgreSQL accepts: of `postgres` where this process is root's.
fn as_user(program: &str) -> Command {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !is_root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", program]);
    command
}
