//! Tries in a channel of Discord what the library assumes about it.
//!
//! ```text
//! DISCORD_TOKEN=... OPTIMIST_TOKEN=... cargo run -p self-test -- CHANNEL_ID
//! ```

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, Command, value_parser};
use dirigent::SystemClock;
use self_test::Settings;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "this is what one came to see")]
async fn main() -> ExitCode {
    // Twilight's gateway needs to be told which cryptography to use; it was told before if this fails.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let settings = match Settings::from_environment(channel()) {
        Ok(settings) => settings,
        Err(trouble) => {
            eprintln!("the self-test cannot begin: {trouble}");
            return ExitCode::from(2);
        }
    };
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let clock = Arc::new(SystemClock::new());
    let say = |line: &str| println!("{line}");
    let report = self_test::run(settings, clock, interrupted, say).await;
    println!("\n{report}");
    ExitCode::from(report.exit_code())
}

/// The channel that the command line names.
fn channel() -> u64 {
    let channel = Arg::new("channel").value_name("CHANNEL_ID").required(true);
    let channel = channel.value_parser(value_parser!(u64).range(1..));
    let read = Command::new("self-test")
        .about(
            "Tries in this channel what is assumed about Discord, in less than two minutes, and ends with 1 if something \
             differs. DISCORD_TOKEN is the token of a bot, OPTIMIST_TOKEN that of a second one",
        )
        .arg(channel.help("A private text channel without a mode, which both bots see"))
        .get_matches();
    read.get_one("channel").copied().unwrap_or_default()
}
