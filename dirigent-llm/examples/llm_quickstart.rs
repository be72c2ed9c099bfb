//! Two agents talk through a model, in a Discord in memory:
//! `DIRIGENT_LLM_URL=http://127.0.0.1:11434/v1 DIRIGENT_LLM_MODEL=llama3.2`.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::env;

use dirigent::prelude::*;
use dirigent_llm::{ChatAgent, Endpoint};
use dirigent_testkit::{MemoryDiscord, memory_discord::Event};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AgentError> {
    let discord = MemoryDiscord::default();
    let [moderator, poet, critic] = [discord.add_bot(), discord.add_bot(), discord.add_bot()];
    let person = discord.add_human();
    let guild = discord.add_guild(person);
    let channel = discord.add_channel(guild, "round-table", &[moderator, poet, critic, person]);

    let model = Endpoint::new(env::var("DIRIGENT_LLM_URL")?, env::var("DIRIGENT_LLM_MODEL")?);
    let agent = |persona: &str| ChatAgent::new(model.clone()).persona(persona);
    let (dirigent, driver) = Dirigent::builder(discord.account(moderator))
        .host("poet", agent("You are a poet of few words."), discord.account(poet))
        .host("critic", agent("You are a critic, and brief."), discord.account(critic))
        .build()?;
    tokio::spawn(driver.run());
    dirigent.channel(channel).set_mode(Mode::Chat).await?;

    let mut events = discord.events();
    discord.say(channel, person, "A line about the sea, please. And what do you think of it?");
    for _ in 0..3 {
        if let Some(Event::MessageCreated(message)) = events.next().await {
            println!("{message}");
            dirigent.message_created(message).await?;
        }
    }
    Ok(())
}
