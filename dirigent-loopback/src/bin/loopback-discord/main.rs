//! A Discord on this machine, for developing a bot without a token.
//!
//! ```text
//! cargo run -p dirigent-loopback -- --port 8120
//! ```
//!
//! It prints where it listens, and a token for each of its bots: a moderator and three agents in one
//! guild with one channel. What you type is said in the channel by a person; `/help` tells the rest.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, Command, value_parser};
use dirigent::SystemClock;
use dirigent_loopback::LoopbackDiscord;
use dirigent_testkit::MemoryDiscord;

mod order;
mod terminal;
mod town;

/// The flags.
fn command() -> Command {
    let port = Arg::new("port").long("port").value_name("PORT").value_parser(value_parser!(u16));
    Command::new("loopback-discord")
        .about("A Discord on this machine, with a guild, a moderator, three agents and you")
        .arg(port.default_value("0").help("The port to listen on; 0 takes a free one"))
}

fn main() -> ExitCode {
    let port = command().get_matches().get_one("port").copied().unwrap_or_default();
    match run(port) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A failure to write to standard error cannot be reported anywhere.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
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
        let read = |words: &[&str]| {
            let matches = command().try_get_matches_from([&["loopback-discord"], words].concat());
            matches.map(|matches| *matches.get_one::<u16>("port").unwrap()).ok()
        };
        assert_eq!(read(&[]), Some(0));
        assert_eq!(read(&["--port", "8120"]), Some(8_120));
        assert_eq!(read(&["--port", "many"]), None);
        assert_eq!(read(&["--prot", "8120"]), None);
    }
}
