//! The facts that a bot must know about this server, as environment variables.

use dirigent_loopback::LoopbackDiscord;

use super::stage::SeededGuild;

/// Returns every variable with its value. No value needs quotes in a shell.
pub(crate) fn variables(loopback: &LoopbackDiscord, stage: &SeededGuild) -> Vec<(String, String)> {
    let address = loopback.address();
    let mut all = Vec::new();
    let mut add = |name: &str, value: String| all.push((name.to_owned(), value));
    for (number, (name, bot)) in stage.bots.iter().enumerate() {
        let token = loopback.token(*bot);
        if number == 0 {
            add("DISCORD_TOKEN", token);
            // An application has the id of its bot.
            add("DISCORD_APPLICATION_ID", bot.to_string());
        } else {
            let name = name.to_uppercase();
            add(&format!("{name}_TOKEN"), token);
            add(&format!("{name}_APPLICATION_ID"), bot.to_string());
        }
    }
    add("DISCORD_GUILD_ID", stage.guild.to_string());
    add("DISCORD_CHANNEL_ID", stage.channel.to_string());
    add("DISCORD_USER_ID", stage.person.to_string());
    add("DISCORD_API_URL", format!("http://{address}/api/v10"));
    add("DISCORD_PROXY_URL", format!("http://{address}"));
    add("DISCORD_PROXY_HOST", address.to_string());
    add("DISCORD_GATEWAY_URL", format!("ws://{address}"));
    all
}
