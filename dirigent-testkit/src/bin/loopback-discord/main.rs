//! A Discord on this machine, for developing a bot without a token.
//!
//! ```text
//! cargo run -p dirigent-testkit --bin loopback-discord -- --port 8120
//! ```
//!
//! It prints where it listens, and a token for each of its bots: a moderator and three agents in one
//! guild with one channel. What you type is said in the channel by a person; `/help` tells the rest.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use dirigent::SystemClock;
use dirigent_testkit::{LoopbackDiscord, MemoryDiscord};

mod order;
mod terminal;
mod town;

/// How it is used.
const USAGE: &str = "usage: loopback-discord [--port PORT]";

fn main() -> ExitCode {
    let port = match port(std::env::args().skip(1)) {
        Ok(port) => port,
        Err(wrong) => {
            // A failure to write to standard error cannot be reported anywhere.
            let _ = writeln!(io::stderr(), "{wrong}\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    match run(port) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// The port to listen on; 0 is any.
fn port(mut arguments: impl Iterator<Item = String>) -> Result<u16, String> {
    let mut port = 0;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--port" => {
                let given = arguments.next().and_then(|given| given.parse().ok());
                port = given.ok_or("--port takes a number from 0 to 65535")?;
            }
            "--help" => return Err("A Discord on this machine".to_owned()),
            other => return Err(format!("what is {other}?")),
        }
    }
    Ok(port)
}

fn run(port: u16) -> io::Result<()> {
    dirigent_testkit::print_warnings();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(serve(port));
    // A thread that waits for a line must not keep the process.
    runtime.shutdown_background();
    ended
}

async fn serve(port: u16) -> io::Result<()> {
    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let town = town::Town::new(&discord);
    let loopback = LoopbackDiscord::start_on(discord, port).await?;
    let mut terminal = terminal::Terminal::new(&loopback, town);
    terminal.greet()?;
    terminal.run().await?;
    loopback.shutdown().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_read_and_nothing_else() {
        let read = |words: &[&str]| port(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(read(&[]), Ok(0));
        assert_eq!(read(&["--port", "8120"]), Ok(8_120));
        assert!(read(&["--port", "many"]).is_err());
        assert!(read(&["--prot", "8120"]).is_err());
    }
}
