//! Commands that people use, as bots are told of them.

use dirigent_loopback::CommandError;
use twilight_model::application::interaction::{Interaction, InteractionData};

use super::*;

impl Scene {
    /// Registers a command with an option of each kind that names something.
    async fn register(&self) {
        let option =
            |name: &str, kind: u8| json!({ "name": name, "description": "x", "type": kind });
        let options = [option("who", 6), option("where", 7), option("role", 8), option("whom", 9)];
        let command = json!({ "name": "why", "description": "x", "options": options });
        let path = format!("applications/{}/guilds/{}/commands", self.bot, self.guild);
        assert_eq!(self.ask("PUT", &path, &json!([command])).await.status, 200);
    }

    fn ask_why(&self, options: &[(&str, Value)]) -> Result<(), CommandError> {
        let used = self.server.use_command(self.channel, self.person, self.bot, "why", options);
        used.map(|_| ())
    }
}

#[tokio::test]
async fn what_an_option_names_comes_with_it_however_it_is_written() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    scene.register().await;
    let id = scene.bot.to_string();
    for written in [
        json!(id),
        json!(scene.bot.get()),
        json!(format!("<@{id}>")),
        json!(format!("<@!{id}>")),
        json!("bot-2"),
        json!("@Bot-2"),
    ] {
        scene.ask_why(&[("who", written.clone())]).unwrap();
        let told = client.event("INTERACTION_CREATE").await;
        assert_eq!(told["data"]["options"][0]["value"], id, "{written}");
        let resolved = &told["data"]["resolved"];
        assert_eq!(resolved["users"][&id]["username"], "bot-2");
        let role = scene.server.managed_role(scene.guild, scene.bot).to_string();
        assert_eq!(resolved["members"][&id]["roles"], json!([role]));
        assert_eq!(resolved["members"][&id].get("user"), None);
    }
    for written in ["nobody-here", "<@7>", "<@", ""] {
        let wrong = scene.ask_why(&[("who", json!(written))]);
        assert_eq!(wrong, Err(CommandError::BadValue("who".to_owned())), "{written}");
    }
    scene.ask_why(&[]).unwrap();
    let told = client.event("INTERACTION_CREATE").await;
    assert_eq!(told["data"].get("resolved"), None, "nothing is named");
}

#[tokio::test]
async fn channels_and_roles_come_along_too_and_twilight_reads_them() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    scene.register().await;
    let role = scene.server.managed_role(scene.guild, scene.bot);
    let options = [
        ("where", json!("#round-table")),
        ("role", json!("bot-2")),
        ("whom", json!(format!("<@&{role}>"))),
    ];
    scene.ask_why(&options).unwrap();
    let told = client.event("INTERACTION_CREATE").await;
    let values = told["data"]["options"].as_array().unwrap().iter().map(|option| &option["value"]);
    let (channel, role) = (json!(scene.channel.to_string()), json!(role.to_string()));
    assert_eq!(values.collect::<Vec<_>>(), [&channel, &role, &role]);
    let read: Interaction = serde_json::from_value(told).unwrap();
    let Some(InteractionData::ApplicationCommand(data)) = read.data else { panic!() };
    let resolved = data.resolved.unwrap();
    assert_eq!((resolved.channels.len(), resolved.roles.len(), resolved.users.len()), (1, 1, 0));
}
