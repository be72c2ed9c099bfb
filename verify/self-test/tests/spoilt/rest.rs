//! Discords whose limits, permissions, members and commands are not as assumed.

use std::sync::Mutex;

use dirigent_loopback::RestRoute as E;
use serde_json::{Value, json};

use super::{Spoilt, answers, events, refusals};

pub(super) const SPOILT: &[Spoilt] = &[
    ("answers have no headers of limits", "limit 1", |scene| {
        answers(scene, E::CreateMessage, |answer| {
            if answer.status == 200 {
                answer.headers.retain(|name, _| !name.starts_with("x-ratelimit-"));
            }
        });
    }),
    ("answers do not name the bucket", "limit 1", |scene| {
        scene.server.alter().answers(|answer| drop(answer.headers.remove("x-ratelimit-bucket")));
    }),
    ("accounts share a bucket", "limit 2", |scene| {
        let second = scene.second;
        answers(scene, E::CreateMessage, move |answer| {
            if answer.account == Some(second) {
                answer.headers.insert("x-ratelimit-remaining".into(), "2".into());
            }
        });
    }),
    ("a 429 does not say for whom", "limit 4", |scene| {
        refusals(scene, |answer| drop(answer.headers.remove("x-ratelimit-scope")));
    }),
    ("a 429 does not say how long", "limit 4", |scene| {
        refusals(scene, |answer| {
            answer.headers.remove("retry-after");
            answer.body.as_object_mut().unwrap().remove("retry_after");
        });
    }),
    ("a 429 says too short a time", "limit 4", |scene| {
        refusals(scene, |answer| {
            answer.headers.insert("retry-after".into(), "1".into());
            answer.body["retry_after"] = 0.5.into();
        });
    }),
    ("the user agent is refused", "limit 9", |scene| {
        answers(scene, E::GetCurrentUser, |answer| {
            answer.status = 403;
            answer.body = json!({ "message": "internal network error", "code": 40333 });
        });
    }),
    ("a missing permission has another code", "sight 1", |scene| {
        let second = scene.second;
        answers(scene, E::DeleteMessage, move |answer| {
            if answer.account == Some(second) && answer.status == 403 {
                answer.body["code"] = 50001.into();
            }
        });
    }),
    ("a missing permission is there", "sight 1", |scene| {
        let second = scene.second;
        answers(scene, E::DeleteMessage, move |answer| {
            if answer.account == Some(second) && answer.status == 403 {
                (answer.status, answer.body) = (204, Value::Null);
            }
        });
    }),
    ("a permission that a role gives is not there", "sight 1", |scene| {
        let second = scene.second;
        events(scene, "GUILD_CREATE", move |event| {
            if event.account == second {
                for role in event.data["roles"].as_array_mut().unwrap() {
                    role["permissions"] = "8192".into();
                }
            }
            true
        });
    }),
    ("one member needs the intent", "sight 4", |scene| {
        answers(scene, E::GetGuildMember, |answer| {
            if answer.status == 200 {
                (answer.status, answer.body) = (403, json!({ "code": 50001 }));
            }
        });
    }),
    ("a stranger is an unknown guild", "sight 4", |scene| {
        answers(scene, E::GetGuildMember, |answer| {
            if answer.status == 404 {
                answer.body["code"] = 10004.into();
            }
        });
    }),
    ("members are missing although the intent is on", "sight 5", |scene| {
        answers(scene, E::ListGuildMembers, |answer| answer.body = json!([]));
    }),
    ("the list of members is refused although the intent is on", "sight 5", |scene| {
        answers(scene, E::ListGuildMembers, |answer| {
            (answer.status, answer.body) = (403, json!({ "code": 50001 }));
        });
    }),
    ("the list of members is given although the intent is off", "sight 5", |scene| {
        scene.discord.account(scene.first).set_members_hidden(true);
        answers(scene, E::ListGuildMembers, |answer| {
            (answer.status, answer.body) = (200, json!([{ "user": { "id": "1" } }]));
        });
    }),
    ("GUILD_CREATE has no roles", "sight 7", |scene| {
        let first = scene.first;
        events(scene, "GUILD_CREATE", move |event| {
            if event.account == first {
                event.data["roles"] = json!([]);
            }
            true
        });
    }),
    ("GUILD_CREATE has not the bot's member", "sight 7", |scene| {
        let first = scene.first;
        events(scene, "GUILD_CREATE", move |event| {
            if event.account == first {
                event.data["members"] = json!([]);
            }
            true
        });
    }),
    ("an answer to a command is refused", "command 1", |scene| {
        answers(scene, E::CreateInteractionAnswer, |answer| {
            (answer.status, answer.body) = (404, json!({ "code": 10062 }));
        });
    }),
    ("a second answer has another code", "command 2", |scene| {
        answers(scene, E::CreateInteractionAnswer, |answer| {
            if answer.status == 400 {
                answer.body["code"] = 10062.into();
            }
        });
    }),
    ("commands are there later", "command 3", |scene| {
        let count = Mutex::new(0);
        answers(scene, E::ListGuildCommands, move |answer| {
            let mut count = count.lock().unwrap();
            *count += 1;
            if *count == 2 {
                answer.body = json!([]);
            }
        });
    }),
    ("commands are read back otherwise", "command 3", |scene| {
        answers(scene, E::ListGuildCommands, |answer| {
            for command in answer.body.as_array_mut().unwrap() {
                command["options"][0]["description"] = "Another one".into();
            }
        });
    }),
    ("a use of a command has no permissions", "command 4", |scene| {
        events(scene, "INTERACTION_CREATE", |event| {
            event.data["member"].as_object_mut().unwrap().remove("permissions");
            true
        });
    }),
    ("an answer to a command needs a token", "command 5", |scene| {
        answers(scene, E::CreateInteractionAnswer, |answer| {
            (answer.status, answer.body) = (401, json!({ "code": 0 }));
        });
    }),
    ("typing is refused", "command 6", |scene| {
        answers(scene, E::TriggerTyping, |answer| {
            (answer.status, answer.body) = (403, json!({ "code": 50013 }));
        });
    }),
    ("typing is not shown", "command 6", |scene| {
        events(scene, "TYPING_START", |_| false);
    }),
];
