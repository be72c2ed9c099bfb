//! Runs the control page over an in-memory Discord with some activity. There are rooms that talk, a room that waits for
//! a person, a discussion, and a damaged record. It uses no network except for the page, and no model.
//!
//! ```text
//! cargo run -p dirigent-control --example control -- --port 8130 --token "an operator's secret" --viewer-token "a viewer's secret"
//! ```
//!
//! Then open <http://127.0.0.1:8130/dirigent>. A token has at least 16 characters.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

mod agents;
mod crowd;
mod glue;
mod world;

use std::error::Error;
use std::process::ExitCode;

use clap::{Arg, ArgAction, Command, value_parser};
use dirigent_control::Control;
use tokio::net::TcpListener;

use world::World;

type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

struct Options {
    port: u16,
    token: String,
    viewer_token: String,
    operators: Vec<(String, String)>,
    crowd: usize,
}

impl Options {
    fn read() -> Self {
        let text = |name: &'static str, help: &'static str| {
            Arg::new(name).long(name).value_name("TOKEN").required(true).help(help)
        };
        let given = Command::new("control")
            .about("Dirigent's control page over an in-memory Discord in which things happen")
            .arg(
                Arg::new("port")
                    .long("port")
                    .value_parser(value_parser!(u16))
                    .default_value("8130")
                    .help("Where the page is served, on 127.0.0.1; 0 for any free port"),
            )
            .arg(text("token", "Who has it sees and steers everything; at least 16 characters"))
            .arg(text("viewer-token", "Who has it sees everything; at least 16 characters"))
            .arg(
                Arg::new("operator")
                    .long("operator")
                    .value_name("NAME=TOKEN")
                    .action(ArgAction::Append)
                    .value_parser(named)
                    .help("One more operator, by name; may be given several times"),
            )
            .arg(
                Arg::new("crowd")
                    .long("crowd")
                    .value_parser(value_parser!(usize))
                    .default_value("0")
                    .help("That many further channels, and agents with long and rare names"),
            )
            .get_matches();
        let given_text = |name| given.get_one::<String>(name).cloned().unwrap_or_default();
        let port = given.get_one("port").copied().unwrap_or_default();
        let crowd = given.get_one("crowd").copied().unwrap_or_default();
        let (token, viewer_token) = (given_text("token"), given_text("viewer-token"));
        let operators = given.get_many("operator").unwrap_or_default().cloned().collect();
        Self { port, token, viewer_token, operators, crowd }
    }
}

fn named(given: &str) -> std::result::Result<(String, String), String> {
    let (name, token) = given.split_once('=').ok_or("a name, =, and a token")?;
    Ok((name.to_owned(), token.to_owned()))
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Options::read()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result {
    let world = World::begin(options.crowd).await?;
    let mut control =
        Control::builder(world.dirigent.clone(), world.moderator(), world.identities.clone())
            .operator_token(options.token)
            .viewer_token(options.viewer_token)
            .recorder(world.recorder.clone())
            .ego(glue::Ego(world.identities.clone()))
            .recordings(glue::read);
    for (name, token) in options.operators {
        control = control.operator(name, token);
    }
    let control = control.build()?;
    let listener = TcpListener::bind(("127.0.0.1", options.port)).await?;
    println!("http://{}/dirigent", listener.local_addr()?);
    tokio::select! {
        served = control.serve(listener) => served?,
        _ = tokio::signal::ctrl_c() => {}
    }
    world.end().await
}
