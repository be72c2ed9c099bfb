//! A NATS server for a test, in a folder that is removed with it.

use std::io::{self, BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A NATS server on a port of this machine. It is stopped when it is dropped.
///
/// ```
/// use dirigent_verify::nats::NatsServer;
///
/// // None where no server is installed.
/// if let Some(server) = NatsServer::start("max_payload: 8MB").unwrap() {
///     assert!(server.address().starts_with("nats://127.0.0.1:"));
/// }
/// ```
#[derive(Debug)]
pub struct NatsServer {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    child: Option<Child>,
}

impl NatsServer {
    /// Starts a server with this configuration; `None`, and a line on the standard error, where none is installed.
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub fn start(configuration: &str) -> io::Result<Option<Self>> {
        let Some(program) = program() else {
            eprintln!("skipped: no NATS server is installed (Debian: apt-get install nats-server)");
            return Ok(None);
        };
        // Free now; the server gets the same one when it is started again.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let folder =
            std::env::temp_dir().join(format!("dirigent-nats-{port}-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let mut server = Self { program, folder, port, child: None };
        server.configure(configuration)?;
        server.begin()?;
        Ok(Some(server))
    }

    /// Where it listens.
    pub fn socket(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// The same, as a client takes it.
    pub fn address(&self) -> String {
        format!("nats://{}", self.socket())
    }

    /// What files of the configuration are named from.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes another configuration, which is read at the next start, or [at once](Self::reload).
    ///
    /// # Errors
    ///
    /// The file could not be written.
    pub fn configure(&self, configuration: &str) -> io::Result<()> {
        std::fs::write(self.folder.join("nats.conf"), configuration)
    }

    /// Has the running server read its configuration.
    ///
    /// # Errors
    ///
    /// It does not run.
    pub fn reload(&self) -> io::Result<()> {
        let child = self.child.as_ref().ok_or_else(|| io::Error::other("it does not run"))?;
        let told = Command::new("kill").args(["-HUP", &child.id().to_string()]).status()?;
        if told.success() { Ok(()) } else { Err(io::Error::other("it could not be told")) }
    }

    /// Kills it.
    ///
    /// # Errors
    ///
    /// It could not be killed.
    pub fn stop(&mut self) -> io::Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Starts it again, on the same port.
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub fn begin(&mut self) -> io::Result<()> {
        let mut server = Command::new(&self.program);
        server.args(["-c", "nats.conf", "-a", "127.0.0.1", "-p", &self.port.to_string()]);
        server.current_dir(&self.folder).stdin(Stdio::null()).stdout(Stdio::null());
        let mut server = server.stderr(Stdio::piped()).spawn()?;
        let log = server.stderr.take().ok_or_else(|| io::Error::other("no pipe"))?;
        self.child = Some(server);
        let mut log = BufReader::new(log).lines();
        let mut said = String::new();
        for line in log.by_ref() {
            let line = line?;
            if line.ends_with("Server is ready") {
                // What it says from now on is read, so that it never waits for a reader.
                std::thread::spawn(move || log.for_each(drop));
                return Ok(());
            }
            said = said + &line + "\n";
        }
        Err(io::Error::other(format!("the server did not start: {said}")))
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Debian has it in a folder that users' searches leave out.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/bin".into()]);
    folders.map(|folder| folder.join("nats-server")).find(|program| program.is_file())
}
