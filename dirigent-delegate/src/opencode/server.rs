//! Starts and stops a server.

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

/// The longest time until a server listens.
const START: Duration = Duration::from_secs(60);
/// The longest wait for a first answer before the server is asked again. It may never answer what it was asked in its
/// first moments.
const PROBE: Duration = Duration::from_secs(2);
/// The most bytes of a server's first output that are read.
const OUTPUT: usize = 256 * 1_024;
/// The words before the address in the server's output.
const LISTENING: &str = "listening on ";

/// A running server. Dropping it kills the server and everything that it started.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) api: Api,
    /// The configuration of this server. With another one a new server is needed.
    pub(super) config: OpenCodeConfig,
    _process: Process,
    reading: JoinHandle<()>,
}

impl Server {
    /// Starts a server, and waits until it answers.
    ///
    /// # Errors
    ///
    /// Returns a sentence for the person.
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
        // Go on reading, because a server that cannot write is blocked or ends.
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

/// Reads until the server prints its address. Returns `None` if the server ends first.
async fn address(pipes: &mut Pipes) -> Option<String> {
    loop {
        let captured = pipes.read().await;
        let written = String::from_utf8_lossy(pipes.stdout());
        // An incomplete line may lack the end of the address.
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
