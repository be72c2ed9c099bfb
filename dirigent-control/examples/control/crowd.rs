//! Many channels and agents with realistic names, for example long ones, names from right to left, and names with
//! emoji. They are for people who work on the page.

use std::time::Duration;

use dirigent::{Dirigent, Mode, UserId};

use crate::Result;
use crate::agents::Scripted;
use crate::world::Scene;

/// Agents with names that need more room or other letters than the names of the cast.
const AGENTS: [(&str, &str); 7] = [
    ("mohandes", "مهندس معماری ارشد"),
    ("mevaker", "המבקר הספרותי"),
    ("astronaut", "👩‍🚀🧑‍🚀👨‍🚀 🚀🚀🚀"),
    ("kanji", "設計審査担当の上級建築家"),
    (
        "longest",
        "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz-Beauftragte in Vertretung",
    ),
    ("zalgo", "Z̵̢̛̠̳̮̯̼̱̥͕̙ͅa̸̡̧̛̮̗̠̹͓̝l̶̢̢͖̪̪̘̭̩ģ̵̡̛͉̰̯̗̱͉o̶̡̢̜̺̙̭̻"),
    ("script", "</script><b onmouseover=alert(3)>\"'&amp;"),
];

/// The names of the channels. Each one gets a number behind it.
const CHANNELS: [&str; 7] = [
    "support-tickets",
    "غرفة-التصميم",
    "חדר-הדיונים",
    "🚀-launch-🚀-👩‍👩‍👧‍👦",
    "設計審査",
    "a-name-of-the-hundred-characters-that-discord-allows-which-goes-on-and-on-until-there-is-no-room-left-at",
    "plain\u{202e}desrever\u{202c}",
];

const TOPIC: &str = "https://example.org/a/very/long/address/without/any/space/in/it/that/could/be/broken/somewhere?and=more ";

/// The parts of the crowd, before the library is built.
pub(crate) struct Crowd {
    pub(crate) agents: Vec<(&'static str, &'static str, UserId)>,
    channels: usize,
}

impl Crowd {
    pub(crate) fn gather(scene: &Scene, channels: usize) -> Self {
        let agents = AGENTS.iter().filter(|_| channels > 0).map(|(agent, name)| {
            let user = scene.discord.add_bot();
            scene.discord.guild(scene.guild).add_member(user);
            (*agent, *name, user)
        });
        Self { agents: agents.collect(), channels }
    }

    /// Creates the channels: one in which all agents of the crowd talk, a discussion with a result that cannot be
    /// delivered, and the others.
    pub(crate) async fn settle(&self, scene: &Scene, dirigent: &Dirigent) -> Result {
        if self.channels == 0 {
            return Ok(());
        }
        for (agent, _, user) in &self.agents {
            let speaks =
                Scripted::new(&["I see it in another way.", ""], Duration::from_millis(700));
            dirigent.host(*agent, speaks, scene.discord.account(*user));
        }
        let all = scene.channel("everyone", &TOPIC.repeat(8), &[0, 1, 2, 3, 4]);
        for (_, _, user) in &self.agents {
            scene.discord.join(all, *user);
        }
        dirigent.channel(all).set_mode(Mode::Chat).await?;
        scene.discord.say(all, scene.person, "What do all of you think?");
        for (at, name) in CHANNELS.iter().cycle().take(self.channels).enumerate() {
            let channel = scene.channel(&format!("{name}-{at}"), TOPIC, &[at % 5, (at + 1) % 5]);
            if at % 3 != 0 {
                dirigent.channel(channel).set_mode(Mode::Chat).await?;
            }
        }
        Ok(())
    }
}
