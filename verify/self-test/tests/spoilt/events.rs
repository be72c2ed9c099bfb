//! Discords whose gateway is not as assumed.

use dirigent_loopback::RestRoute as E;
use serde_json::Value;

use super::{Spoilt, answers, events};

pub(super) const SPOILT: &[Spoilt] = &[
    ("own posts are not pushed", "gateway 1", |scene| {
        events(scene, "MESSAGE_CREATE", |event| {
            event.data["author"]["id"] != event.account.to_string().as_str()
        });
    }),
    ("other bots' posts are not pushed", "gateway 1", |scene| {
        let first = scene.first.to_string();
        events(scene, "MESSAGE_CREATE", move |event| {
            // What is posted during a resume is another assumption.
            let is_others = event.data["author"]["id"] != first.as_str();
            !(event.account.to_string() == first && is_others && event.is_connected)
        });
    }),
    ("a resume is refused", "gateway 3", |scene| scene.server.alter().refuse_resumes()),
    ("a resume replays nothing", "gateway 3", |scene| {
        scene.server.alter().events(|event| event.is_connected);
    }),
    ("a channel has no last_message_id", "gateway 4", |scene| {
        events(scene, "GUILD_CREATE", |event| {
            for channel in event.data["channels"].as_array_mut().unwrap() {
                channel["last_message_id"] = Value::Null;
            }
            true
        });
    }),
    ("a channel's last_message_id is old", "gateway 4", |scene| {
        events(scene, "GUILD_CREATE", |event| {
            for channel in event.data["channels"].as_array_mut().unwrap() {
                channel["last_message_id"] = "1".into();
            }
            true
        });
    }),
    ("text is there without the intent", "gateway 6", |scene| {
        let second = scene.second;
        events(scene, "MESSAGE_CREATE", move |event| {
            if event.account == second && event.data["content"] == "" {
                event.data["content"] = "what was said".into();
            }
            true
        });
    }),
    ("text is missing although the intent is on", "gateway 6", |scene| {
        let first = scene.first;
        events(scene, "MESSAGE_CREATE", move |event| {
            if event.account == first && event.data["author"]["id"] != first.to_string().as_str() {
                event.data["content"] = "".into();
            }
            true
        });
    }),
    ("a message that mentions the bot has no text", "gateway 6", |scene| {
        let second = scene.second;
        events(scene, "MESSAGE_CREATE", move |event| {
            if event.account == second && event.data["author"]["id"] != second.to_string().as_str()
            {
                event.data["content"] = "".into();
            }
            true
        });
    }),
    ("the flags lack an intent that is on", "gateway 7", |scene| {
        answers(scene, E::GetCurrentApplication, |answer| answer.body["flags"] = (1 << 15).into());
    }),
    ("the flags have an intent that is off", "gateway 7", |scene| {
        scene.discord.account(scene.first).set_content_hidden(true);
        answers(scene, E::GetCurrentApplication, |answer| {
            answer.body["flags"] = (1 << 15 | 1 << 19).into();
        });
    }),
    ("changes are not pushed", "gateway 8", |scene| {
        events(scene, "MESSAGE_UPDATE", |_| false);
    }),
    ("a change is pushed with the old text", "gateway 8", |scene| {
        events(scene, "MESSAGE_UPDATE", |event| {
            event.data["content"] = "as before".into();
            true
        });
    }),
    ("deletions are not pushed", "gateway 11", |scene| {
        events(scene, "MESSAGE_DELETE", |_| false);
    }),
    ("a deletion does not name the channel", "gateway 11", |scene| {
        events(scene, "MESSAGE_DELETE", |event| {
            event.data["channel_id"] = Value::Null;
            true
        });
    }),
];
