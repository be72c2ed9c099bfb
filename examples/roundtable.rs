//! Three agents and a person at a round table, in a Discord that lives in memory.
//!
//! ```text
//! cargo run --example roundtable              plays an evening and ends by itself
//! cargo run --example roundtable -- --fast    the same without waiting
//! ```
//!
//! `--verbose` shows every change of a channel. To be the person yourself, run `dirigent demo` (`cargo run -p dirigent-bot -- demo`).
//!
//! This file is the evening; beside it, `agents.rs` is what you would replace by your own agents,
//! `table.rs` what a bot needs, and `terminal.rs` only prints.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

#[path = "roundtable/agents.rs"]
mod agents;
#[path = "roundtable/table.rs"]
mod table;
#[path = "../dirigent-bot/src/demo/terminal.rs"]
mod terminal;

use dirigent::operate::Summary;
use std::time::Duration;

use clap::{Arg, ArgAction, Command};
use dirigent::operate::{Cause, CreatedChannel, Opening};
use dirigent::store::Discussion;
use dirigent::{AgentError, Mode};

use table::{Guest, Shown, Table};
type Result<T = ()> = std::result::Result<T, AgentError>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result {
    let options = Options::read();
    let (mut table, driver) = Table::set(options)?;
    let driver = tokio::spawn(driver.run());
    // The driver must have begun before it can be asked for anything.
    tokio::task::yield_now().await;
    play(&mut table).await?;
    table.dirigent.shutdown(Duration::from_secs(2)).await;
    driver.await??;
    Ok(())
}

/// What the command line asks for.
#[derive(Clone, Copy)]
struct Options {
    verbose: bool,
    fast: bool,
}

impl Options {
    fn read() -> Self {
        let flag = |name: &'static str, help: &'static str| {
            Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
        };
        let given = Command::new("roundtable")
            .about("Three agents and a person at one table")
            .arg(flag("verbose", "Shows every change of a channel"))
            .arg(flag("fast", "No agent thinks longer than a millisecond"))
            .get_matches();
        let [verbose, fast] = ["verbose", "fast"].map(|name| given.get_flag(name));
        Self { verbose, fast }
    }
}

/// Those who are there from the beginning.
struct Guests {
    optimist: Guest,
    sceptic: Guest,
    historian: Guest,
}

/// An evening in six scenes.
async fn play(table: &mut Table) -> Result {
    let guests = Guests {
        optimist: table.seat("Optimist", 120, &[]).await?,
        sceptic: table.seat("Sceptic", 200, &[]).await?,
        historian: table.seat("Historian", 160, &[]).await?,
    };
    // From here on the agents take turns: in a chat, turns are kept.
    table.dirigent.channel(table.channel).set_mode(Mode::Chat).await?;
    hear_a_question(table, &guests).await?;
    wake_up_again(table, &guests).await?;
    welcome_a_fourth(table, &guests).await?;
    stop_and_resume(table, &guests).await?;
    conclude_a_discussion(table, &guests).await?;
    end_the_evening(table).await
}

async fn hear_a_question(table: &mut Table, guests: &Guests) -> Result {
    scene("A person asks; the agents speak in turn until none has anything to add.");
    guests.optimist.script.add(&[
        "Let us build it. A week, and people will love it.",
        "Then we start with the smallest piece that helps one user.",
    ]);
    guests.sceptic.script.add(&["A week for whom? We have not asked a single user yet."]);
    guests.historian.script.add(&["We said \"a week\" about the last two projects as well."]);
    table.ask("Should we build the new search?").await
}

async fn wake_up_again(table: &mut Table, guests: &Guests) -> Result {
    scene("Silence costs nothing: dormant, until a person writes again.");
    guests.sceptic.script.add(&["Two interviews before a line of code."]);
    table.ask("What is the very first step?").await
}

async fn welcome_a_fourth(table: &mut Table, guests: &Guests) -> Result {
    scene("A fourth agent joins, in the midst of it all.");
    table.seat("Poet", 100, &["A search is a question that learned to wait."]).await?;
    guests.optimist.script.add(&["I know two people who would answer today."]);
    guests.historian.script.add(&["In spring we did the interviews last. Let us not."]);
    table.ask("Whom do we ask, and when?").await
}

async fn stop_and_resume(table: &mut Table, guests: &Guests) -> Result {
    scene("A person's word stops everybody, at once, and lets them go on.");
    for guest in [&guests.optimist, &guests.sceptic, &guests.historian] {
        guest.script.add(&["One more thought on that."]);
    }
    table.say(table.channel, "Any last thoughts?");
    table.until(Shown::Change(Cause::ReceiptGiven)).await?;
    table.say(table.channel, "stop");
    table.until(Shown::Change(Cause::Stopped)).await?;
    table.say(table.channel, "resume");
    table.until(Shown::Change(Cause::Resumed)).await?;
    table.ask("Where were we?").await
}

async fn conclude_a_discussion(table: &mut Table, guests: &Guests) -> Result {
    scene("A discussion has a channel of its own, an initiator, and an end.");
    let Guests { optimist, sceptic, historian } = guests;
    let present = [table.moderator, table.person, optimist.user, sceptic.user, historian.user];
    let room = table.discord.add_channel(table.guild, "who-is-asked", &present);
    let discussion = CreatedChannel {
        mode: Mode::Discussion,
        members: [optimist, sceptic, historian].map(|guest| guest.agent.clone()).to_vec(),
        opening: Some(Opening {
            initiator: optimist.agent.clone(),
            terms: Some(Discussion {
                callback: table.channel,
                callback_guild: Some(table.guild),
                guide: "Whom do we interview? Optimist concludes.".to_owned(),
            }),
        }),
    };
    sceptic.script.add(&["Ask a user who stopped using the old one."]);
    table.dirigent.channel(room).register(discussion).await?;
    table.until(Shown::Change(Cause::AllPassed)).await?;
    // The table fell silent, so the library reminds the initiator, who may run once.
    optimist.script.add(&["In short: one who stays, and one who left."]);
    table.until(Shown::Change(Cause::PermitUsed)).await?;
    // An agent does this with a tool of its own.
    table
        .dirigent
        .channel(room)
        .conclude(&optimist.agent, Some(Summary::Path("interviews.md".into())))
        .await?;
    table.until(Shown::Words(table.moderator)).await?;
    table.say(room, "May I add another agent?");
    table.until(Shown::Words(table.moderator)).await
}

async fn end_the_evening(table: &mut Table) -> Result {
    scene("The evening is over: a new message is answered with a notice that says so.");
    table.dirigent.channel(table.channel).archive().await?;
    table.say(table.channel, "One more thing ...");
    table.until(Shown::Words(table.moderator)).await
}

/// The headline of what follows.
fn scene(text: &str) {
    println!("\n--- {text}\n");
}
