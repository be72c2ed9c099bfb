//! Uses the control page as a person does, in Chromium: signs in, sees the speaker move without a reload, reads why an
//! agent is silent, steers, also with many tabs, beside another operator, notified of what it does not see, with the keyboard alone, without JavaScript and behind nginx,
//! changes the registry, scrubs a recording; and has axe-core look at each page.
//!
//! ```text
//! cargo run -p browser-check -- --control target/debug/examples/control [--axe axe.min.js] [--screenshots docs/control]
//! ```
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a program that waits for a real browser, reports, and reads JSON of a known form"
)]

mod browser;
mod keys;
mod notified;
mod pictures;
mod plain;
mod proxy;
mod saved;
mod server;
mod story;
mod tabs;
mod two;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use browser::{Look, Visitor};
use server::Server;

type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Uses the control page as a person does, in Chromium.
#[derive(Parser)]
struct Options {
    /// The example `control`, built.
    #[arg(long)]
    control: PathBuf,
    /// The driver of Chromium.
    #[arg(long, default_value = "chromedriver")]
    driver: PathBuf,
    /// The script of axe-core; without it accessibility is not looked at.
    #[arg(long)]
    axe: Option<PathBuf>,
    /// Take pictures of each page into this folder: light and dark, on a desk and on a phone.
    #[arg(long)]
    screenshots: Option<PathBuf>,
    /// The recording that is scrubbed from a file.
    #[arg(long, default_value = "examples/pm_and_dev/hello.jsonl")]
    recording: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the browser check failed: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result {
    let mut server = Server::start(&options.control, &options.driver).await?;
    let axe = options.axe.as_ref().map(std::fs::read_to_string).transpose()?;
    if axe.is_none() {
        println!("skipped: axe-core, as its script was not given");
    }
    let visitor = Visitor::arrive(&server, Look::Light, axe.clone()).await?;
    let told = story::all(&visitor, &server, &std::fs::canonicalize(&options.recording)?).await;
    visitor.leave().await?;
    told?;
    let visitor = Visitor::arrive(&server, Look::Light, None).await?;
    visitor.sign_in(&server, server::OPERATOR).await?;
    println!("labels are readable and apart, and a saved score looks the same in librsvg");
    let mut told = saved::labels(&visitor, &server).await;
    if told.is_ok() {
        told = saved::looks_the_same(&visitor, &server).await;
    }
    if told.is_ok() {
        told = tabs::all(&visitor, &server).await;
    }
    if told.is_ok() {
        told = tabs::outlive_a_restart(&visitor, &mut server).await;
    }
    visitor.leave().await?;
    told?;
    two::all(&server).await?;
    notified::all(&server).await?;
    keys::all(&server).await?;
    plain::all(&server).await?;
    proxy::all(&mut server).await?;
    let visitor = Visitor::arrive(&server, Look::Phone, axe.clone()).await?;
    let told = story::on_a_phone(&visitor, &server).await;
    visitor.leave().await?;
    told?;
    if let Some(folder) = &options.screenshots {
        std::fs::create_dir_all(folder)?;
        // The world as it began: the story has changed it.
        let server = Server::start(&options.control, &options.driver).await?;
        for look in Look::ALL {
            let visitor = Visitor::arrive(&server, look, axe.clone()).await?;
            let taken = pictures::take(&visitor, &server, look, folder).await;
            visitor.leave().await?;
            taken?;
        }
    }
    Ok(())
}
