//! The roles that Discord manages for bots.

use super::*;

fn role(guild: &Value, bot: UserId) -> &Value {
    let roles = guild["roles"].as_array().unwrap();
    let mut own = roles.iter().filter(|role| role["tags"]["bot_id"] == bot.to_string());
    let found = own.next().expect("a role of the bot");
    assert_eq!(own.next(), None);
    found
}

#[tokio::test]
async fn a_bot_has_a_role_by_which_it_is_mentioned() {
    let scene = Scene::new().await;
    let mut client = scene.connect().await;
    client.send(&scene.identify(INTENTS)).await;
    client.event("READY").await;
    let guild = client.event("GUILD_CREATE").await;
    let own = role(&guild, scene.bot);
    let id = scene.server.managed_role(scene.guild, scene.bot);
    assert_eq!((&own["id"], &own["managed"]), (&json!(id.to_string()), &json!(true)));
    assert_eq!(own["name"], "bot-2");
    assert_eq!(guild["members"][0]["roles"], json!([id.to_string()]));
    let read = scene.ask("GET", &format!("guilds/{}", scene.guild), &Value::Null).await.json();
    assert_eq!(read["roles"], guild["roles"]);
    let listed =
        scene.ask("GET", &format!("guilds/{}/roles", scene.guild), &Value::Null).await.json();
    assert_eq!(listed, guild["roles"]);

    scene.server.say(scene.channel, scene.person, format!("<@&{id}> please")).unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!((&told["mention_roles"], &told["mentions"]), (&json!([id.to_string()]), &json!([])));
    assert_eq!(told["member"]["roles"], json!([]), "a person has no such role");

    let second = scene.discord.add_guild(scene.person);
    scene.discord.guild(second).add_member(scene.bot);
    let told = client.event("GUILD_CREATE").await;
    assert_eq!(
        role(&told, scene.bot)["id"],
        scene.server.managed_role(second, scene.bot).to_string()
    );
    assert_ne!(
        scene.server.managed_role(second, scene.bot),
        id,
        "each guild has a role of its own"
    );
}

#[tokio::test]
async fn the_role_of_a_bot_comes_and_goes_with_it() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(1 | 1 << 1).await;
    let guild = scene.discord.guild(scene.guild);
    let newcomer = scene.discord.add_bot();
    guild.add_member(newcomer);
    let id = scene.server.managed_role(scene.guild, newcomer).to_string();
    let created = client.event("GUILD_ROLE_CREATE").await;
    assert_eq!(
        (&created["role"]["id"], &created["guild_id"]),
        (&json!(id), &json!(scene.guild.to_string()))
    );
    assert_eq!(created["role"]["tags"]["bot_id"], newcomer.to_string());
    assert_eq!(client.event("GUILD_MEMBER_ADD").await["roles"], json!([id]));
    guild.remove_member(newcomer);
    assert_eq!(client.event("GUILD_ROLE_DELETE").await["role_id"], id);
    client.event("GUILD_MEMBER_REMOVE").await;
    guild.add_member(scene.discord.add_human());
    client.event("GUILD_MEMBER_ADD").await;

    guild.set_administrator(scene.bot, true);
    let id = scene.server.managed_role(scene.guild, scene.bot);
    let path = format!("guilds/{}/members/{}/roles/{id}", scene.guild, scene.person);
    let refused = scene.ask("PUT", &path, &Value::Null).await;
    assert_eq!(refused.refusal(), (400, 50028), "it cannot be given to anyone");
}
