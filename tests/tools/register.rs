//! `dirigent-register`.

use dirigent::ports::Identity;
use dirigent::tools::Caller;
use dirigent::{IdentityStore, UserId};
use dirigent_verify::stage::{Setup, Stage};
use serde_json::{Value, json};

use super::{assert_refused, call, session, stage_with_channel_manager, user};

const TOOL: &str = "dirigent-register";

fn entries(stage: &mut Stage) -> Vec<Identity> {
    let identities = stage.identities().clone();
    stage.call(move |_| async move { identities.all().await }).unwrap()
}

fn entry(stage: &mut Stage, agent: &str) -> Option<Identity> {
    entries(stage).into_iter().find(|identity| identity.agent_id.as_str() == agent)
}

/// A bot that was invited.
fn invited(stage: &Stage) -> UserId {
    let account = stage.discord().add_bot();
    stage.discord().guild(stage.guild()).add_member(account);
    account
}

fn register(stage: &mut Stage, agent: &str, account: UserId, name: Option<&str>) -> Value {
    let caller = session(stage, agent);
    let arguments = json!({ "discordUserId": account, "agentName": name });
    call(stage, &caller, TOOL, arguments).unwrap()
}

/// R008, R011
#[test]
fn an_unknown_agent_is_added_under_its_own_name() {
    let mut stage = stage_with_channel_manager();
    let account = invited(&stage);
    let answer = register(&mut stage, "newcomer", account, None);
    let expected = json!({
        "agentId": "newcomer",
        "discordUserId": account,
        "agentName": "newcomer",
        "isNew": true,
    });
    assert_eq!(answer, expected);
    assert_eq!(entries(&mut stage).len(), 4);
    assert_eq!(entry(&mut stage, "newcomer").unwrap().discord_user_id, account);
}

/// R008
#[test]
fn a_newcomer_is_given_turns_without_a_restart() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).stage();
    stage.discord().guild(stage.guild()).set_channel_manager(stage.moderator(), true);
    let account = invited(&stage);
    register(&mut stage, "newcomer", account, Some("New"));
    let caller = session(&stage, "a");
    let arguments = json!({ "name": "x", "participants": [account] });
    let answer = call(&mut stage, &caller, "create-chat-channel", arguments).unwrap();
    assert_eq!(answer["unregistered"], json!([]));
    let channel = super::id(&answer, "channelId");
    assert_eq!(stage.status_of(channel).unwrap().list[0].0.as_str(), "newcomer");
}

/// R009, D1
#[test]
fn a_known_agent_is_changed_and_not_doubled() {
    let mut stage = stage_with_channel_manager();
    let account = invited(&stage);
    let answer = register(&mut stage, "a", account, Some(" Ada "));
    assert_eq!(answer["isNew"], false);
    assert_eq!(entries(&mut stage).len(), 3);
    let now = entry(&mut stage, "a").unwrap();
    assert_eq!((now.discord_user_id, now.agent_name.as_str()), (account, "Ada"));
}

/// R010
#[test]
fn the_entry_is_the_callers_whatever_the_arguments_say() {
    let mut stage = stage_with_channel_manager();
    let account = invited(&stage);
    let before = entry(&mut stage, "b");
    let caller = session(&stage, "a");
    let mut arguments = json!({ "discordUserId": account });
    for name in ["agentId", "agent-id", "agent_id", "agent"] {
        arguments[name] = json!("b");
    }
    let answer = call(&mut stage, &caller, TOOL, arguments).unwrap();
    assert_eq!(answer["agentId"], "a");
    assert_eq!(entry(&mut stage, "b"), before);
    assert_eq!(entry(&mut stage, "a").unwrap().discord_user_id, account);
}

/// R012, D4
#[test]
fn an_update_without_a_name_keeps_the_name() {
    let mut stage = stage_with_channel_manager();
    let account = user(&stage, "a");
    register(&mut stage, "a", account, Some("Ada"));
    let other = invited(&stage);
    let answer = register(&mut stage, "a", other, None);
    assert_eq!(answer["agentName"], "Ada");
    assert_eq!(entry(&mut stage, "a").unwrap().agent_name, "Ada");
}

/// R013, D8
#[test]
fn a_bad_id_or_name_changes_nothing() {
    let mut stage = stage_with_channel_manager();
    let before = entries(&mut stage);
    let caller = session(&stage, "newcomer");
    let account = invited(&stage);
    let bad = [
        (json!({ "discordUserId": "123" }), "bad-id"),
        (json!({ "discordUserId": account.get() }), "id-as-number"),
        (json!({ "discordUserId": [account] }), "wrong-kind"),
        (json!({ "agentName": "New" }), "missing-argument"),
        (json!({ "discordUserId": account, "agentName": "a\nb" }), "bad-name"),
        (json!({ "discordUserId": account, "agentName": "" }), "bad-name"),
        (json!({ "discordUserId": account, "agentName": 7 }), "wrong-kind"),
    ];
    for (arguments, code) in bad {
        assert_refused(call(&mut stage, &caller, TOOL, arguments), code);
        assert_eq!(entries(&mut stage), before);
    }
}

/// R014, D1, D10
#[test]
fn the_account_of_another_agent_or_of_the_moderator_is_refused() {
    let mut stage = stage_with_channel_manager();
    let before = entries(&mut stage);
    for agent in ["a", "newcomer"] {
        let caller = session(&stage, agent);
        let taken = json!({ "discordUserId": user(&stage, "b") });
        let message = assert_refused(call(&mut stage, &caller, TOOL, taken), "account-taken");
        assert!(message.contains("agent b already"), "{message}");
        let moderator = json!({ "discordUserId": stage.moderator() });
        let message =
            assert_refused(call(&mut stage, &caller, TOOL, moderator), "moderator-account");
        assert!(message.contains("moderator"), "{message}");
        assert_eq!(entries(&mut stage), before);
    }
}

/// R009
#[test]
fn the_same_entry_again_is_no_fault() {
    let mut stage = stage_with_channel_manager();
    let before = entries(&mut stage);
    let account = user(&stage, "a");
    assert_eq!(register(&mut stage, "a", account, None)["isNew"], false);
    assert_eq!(entries(&mut stage), before);
}

#[test]
fn a_persons_account_is_refused() {
    let mut stage = stage_with_channel_manager();
    let before = entries(&mut stage);
    let guest = stage.discord().add_human();
    stage.discord().guild(stage.guild()).add_member(guest);
    for agent in ["a", "newcomer"] {
        for account in [stage.person(), guest] {
            let caller = session(&stage, agent);
            let arguments = json!({ "discordUserId": account });
            let message =
                assert_refused(call(&mut stage, &caller, TOOL, arguments), "persons-account");
            assert!(message.contains("your own bot account"), "{message}");
            assert_eq!(entries(&mut stage), before);
        }
    }
}

#[test]
fn an_account_that_is_not_in_the_sessions_guild_is_refused() {
    let mut stage = stage_with_channel_manager();
    let before = entries(&mut stage);
    let stranger = stage.discord().add_bot();
    let elsewhere = stage.discord().add_guild(stage.person());
    stage.discord().guild(elsewhere).add_member(stranger);
    stage.discord().guild(elsewhere).add_member(stage.moderator());
    let nowhere = UserId::new(999_999_999_999_999_999);
    for account in [stranger, nowhere] {
        let caller = session(&stage, "newcomer");
        let arguments = json!({ "discordUserId": account });
        let message =
            assert_refused(call(&mut stage, &caller, TOOL, arguments), "account-not-in-guild");
        assert!(message.contains("invite"), "{message}");
        assert_eq!(entries(&mut stage), before);
    }
}

#[test]
fn without_a_guild_there_is_nobody_to_ask_about_an_account() {
    let mut stage = stage_with_channel_manager();
    let before = entries(&mut stage);
    let account = user(&stage, "a");
    let direct = Caller::new("a");
    let arguments = json!({ "discordUserId": account });
    assert_refused(call(&mut stage, &direct, TOOL, arguments.clone()), "not-in-guild");
    let foreign = stage.discord().add_guild(stage.person());
    let elsewhere = Caller { guild: Some(foreign), ..Caller::new("a") };
    assert_refused(call(&mut stage, &elsewhere, TOOL, arguments), "moderator-missing");
    assert_eq!(entries(&mut stage), before);
}
