//! What an agent reads when a call was not carried out.

use std::collections::BTreeSet;
use std::time::Duration;

use dirigent::operate::Refusal;
use dirigent::ports::{ApiError, ErrorKind, RegisterError};
use dirigent::settings::Pace;
use dirigent::tools::ToolError;
use dirigent::{CallError, ChannelId, UserId};
use serde_json::json;

fn failed() -> ApiError {
    ApiError::new(ErrorKind::NoAnswer).with_source("token hunter2")
}

/// One of each.
fn all() -> Vec<ToolError> {
    let argument = "name";
    let limit = Pace { burst: 5, window: Duration::from_secs(3_600) };
    let retry_after = Some(Duration::from_secs(61));
    vec![
        ToolError::UnknownTool,
        ToolError::NotAnObject,
        ToolError::MissingArgument { argument },
        ToolError::ArgumentTwice { argument },
        ToolError::WrongKind { argument, expected: "a string" },
        ToolError::IdAsNumber { argument },
        ToolError::BadId { argument },
        ToolError::BadName { argument },
        ToolError::GuideEmpty,
        ToolError::GuideTooLong,
        ToolError::TooManyMembers { max: 64 },
        ToolError::NotInGuild,
        ToolError::ModeratorMissing,
        ToolError::NotAdministrator,
        ToolError::CallerUnregistered,
        ToolError::OtherGuild,
        ToolError::CallbackUnseen,
        ToolError::CallbackNotFound,
        ToolError::CallbackKind,
        ToolError::CallbackElsewhere,
        ToolError::Strangers { users: vec![UserId::new(7), UserId::new(8)] },
        ToolError::CreationLimit { limit, retry_after },
        ToolError::CreationRefused { source: ApiError::new(ErrorKind::Forbidden) },
        ToolError::CreationInDoubt { name: "tea".to_owned(), source: failed() },
        ToolError::NotStored { source: failed().into() },
        ToolError::LeftBehind { channel: ChannelId::new(9), source: failed().into() },
        ToolError::NotADiscussion,
        ToolError::NotTheInitiator,
        ToolError::AlreadyConcluded,
        ToolError::Archived,
        ToolError::NoWorkspace,
        ToolError::SummaryPath,
        ToolError::SummaryOutside,
        ToolError::SummaryLink,
        ToolError::SummaryMissing,
        ToolError::SummaryNotAFile,
        ToolError::SummaryUnreadable,
        ToolError::ModeratorAccount,
        ToolError::PersonsAccount,
        ToolError::AccountNotInGuild,
        ToolError::AccountTaken { owner: "b".into() },
        ToolError::NotRunning,
        ToolError::Failed(failed()),
        ToolError::Channel(CallError::UnknownChannel),
    ]
}

#[test]
fn every_error_is_whole_sentences_and_has_a_code_of_its_own() {
    let codes: BTreeSet<_> = all().iter().map(ToolError::code).collect();
    assert_eq!(codes.len(), all().len());
    for error in all() {
        let text = error.to_string();
        assert!(text.ends_with('.') && text.starts_with(char::is_uppercase), "{text}");
        assert!((40..600).contains(&text.len()) && !text.contains('\n'), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
        let is_code = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(error.code().chars().all(is_code), "{}", error.code());
        let told = serde_json::to_value(&error).unwrap();
        assert_eq!(told, json!({ "error": error.code(), "message": text }));
    }
}

#[test]
fn what_may_help_is_said_and_what_will_not_too() {
    let busy = ToolError::Failed(ApiError::new(ErrorKind::Unavailable)).to_string();
    assert!(busy.contains("Try again later"), "{busy}");
    let refused = ToolError::Failed(ApiError::new(ErrorKind::Forbidden)).to_string();
    assert!(refused.contains("will not help"), "{refused}");
}

#[test]
fn a_limit_is_told_with_the_time_after_which_it_is_over() {
    let limit = Pace { burst: 5, window: Duration::from_secs(3_600) };
    let told = |retry_after| ToolError::CreationLimit { limit, retry_after }.to_string();
    let soon = told(Some(Duration::from_millis(61_001)));
    assert!(soon.contains("you may create at most 5 channels within 60 min"), "{soon}");
    assert!(soon.ends_with("try again in 62 s."), "{soon}");
    let later = told(Some(Duration::from_secs(121)));
    assert!(later.ends_with("in 3 min."), "{later}");
    let never = told(None);
    assert!(never.contains("will not help"), "{never}");
}

#[test]
fn the_librarys_errors_become_the_tools() {
    let code = |error: CallError| ToolError::from(error).code();
    assert_eq!(code(CallError::NotRunning), "not-running");
    assert_eq!(code(CallError::UnknownAgent("a".into())), "caller-unregistered");
    assert_eq!(code(failed().into()), "failed");
    assert_eq!(code(CallError::UnknownChannel), "channel");
    assert_eq!(code(Refusal::AlreadyCreated.into()), "channel");
    assert_eq!(ToolError::from(RegisterError::Store(failed())).code(), "failed");
}

#[test]
fn a_long_or_strange_agents_name_is_shown_short_and_in_one_line() {
    let owner = format!("evil\n{}", "x".repeat(10_000)).into();
    let text = ToolError::AccountTaken { owner }.to_string();
    assert!(text.len() < 300 && !text.contains('\n'), "{text}");
}
