//! The server that is started for a host.

use std::ffi::OsString;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use dirigent::Clock;
use dirigent::ports::Timestamp;
use tokio::task::JoinHandle;

use super::client::Api;
use crate::cli::CliDelegate;
use crate::config::OpenCodeConfig;
use crate::process::{Capture, Pipes, Process};
use crate::random::letters;
use crate::terminal::with_complaint;

/// How long a server may take until it listens.
const START: Duration = Duration::from_secs(60);
/// How long a server that listens may take to answer, until it is asked anew: what it is asked in its first moments it may never
/// answer.
const PROBE: Duration = Duration::from_secs(2);
/// How much of what a server writes at its start is read.
const OUTPUT: usize = 256 * 1_024;
/// What stands before the address in what a server writes.
const LISTENING: &str = "listening on ";

/// A server that runs. Dropping it kills it with everything that it started.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) api: Api,
    /// How it was started: another configuration needs another server.
    pub(super) config: OpenCodeConfig,
    _process: Process,
    reading: JoinHandle<()>,
}

impl Server {
    /// Starts a server, and waits until it answers.
    ///
    /// # Errors
    ///
    /// A sentence for the person.
    pub(super) async fn start(
        process: &CliDelegate,
        config: &OpenCodeConfig,
        deadline: Timestamp,
    ) -> Result<Self, String> {
        let password =
            letters::<24>().map_err(|error| format!("No password can be drawn: {error}."))?;
        let port = config.serve_port.map_or(0, NonZeroU16::get);
        let arguments = ["serve", "--hostname", "127.0.0.1", "--port"].map(OsString::from);
        let mut arguments = Vec::from(arguments);
        arguments.push(port.to_string().into());
        let mut base = process.clone().env("OPENCODE_SERVER_PASSWORD", &password);
        base = base.env("OPENCODE_SERVER_USERNAME", "opencode");
        base.set_program(&config.binary);
        let mut process = base.launch(arguments).start()?;
        let mut pipes = process.pipes(OUTPUT);
        let until = (base.time().now() + START).min(deadline);
        let address = tokio::select! {
            address = address(&mut pipes) => address,
            () = base.time().sleep_until(until) => None,
        };
        let Some(address) = address else {
            let problem = if pipes.are_closed() {
                let ended =
                    process.stop().await.map_or_else(|_| String::new(), |end| format!(" ({end})"));
                format!("opencode's server ended before it listened{ended}.")
            } else {
                "opencode's server did not begin to listen.".to_owned()
            };
            let is_silent = pipes.stderr().trim_ascii().is_empty();
            let said = if is_silent { pipes.stdout() } else { pipes.stderr() };
            return Err(with_complaint(&problem, said));
        };
        let api = Api::new(&address, &password, None, base.time())
            .map_err(|error| format!("{error}."))?;
        // A server that cannot write is blocked, or ends.
        let reading = tokio::spawn(async move { pipes.discard().await });
        let server = Self { api, config: config.clone(), _process: process, reading };
        if !server.answers(base.time(), until).await {
            return Err("opencode's server does not answer.".to_owned());
        }
        Ok(server)
    }

    /// Asks the server until it answers.
    async fn answers(&self, clock: &Arc<dyn Clock>, until: Timestamp) -> bool {
        while clock.now() < until {
            let probed = clock.sleep_until((clock.now() + PROBE).min(until));
            tokio::pin!(probed);
            tokio::select! {
                health = self.api.health() => match health {
                    Ok(()) => return true,
                    Err(_) => probed.await,
                },
                () = &mut probed => {}
            }
        }
        false
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// Reads until the server tells its address; `None` if it ends before.
async fn address(pipes: &mut Pipes) -> Option<String> {
    loop {
        let captured = pipes.read().await;
        let written = String::from_utf8_lossy(pipes.stdout());
        // A line that is not whole may lack the end of the address.
        let mut lines = written.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let found = lines.find_map(|line| line.split_once(LISTENING));
        if let Some((_, address)) = found {
            return Some(address.trim().to_owned());
        }
        if captured == Capture::Full || pipes.are_closed() {
            return None;
        }
    }
}
