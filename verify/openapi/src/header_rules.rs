//! What Discord's documentation asks of every request, and an OpenAPI document has no words for.

use super::exchange::Request;

/// The longest reason for the audit log, in characters.
pub(super) const REASON_CHARS_MAX: usize = 512;

/// What is wrong with the headers that every request has, by header.
pub(super) fn faults(request: &Request) -> Vec<(&'static str, String)> {
    let mut faults = Vec::new();
    match request.get("user-agent") {
        Some(agent) if is_agent(agent) => {}
        Some(_) => {
            faults.push(("user-agent", "is not of the form `DiscordBot (url, version)`".into()));
        }
        None => faults.push(("user-agent", "is missing".into())),
    }
    if let Some(reason) = request.get("x-audit-log-reason")
        && (reason.is_empty() || reason.chars().count() > REASON_CHARS_MAX)
    {
        let says = format!("has {} characters", reason.chars().count());
        faults.push(("x-audit-log-reason", says));
    }
    faults
}

/// What is wrong with an authorization, which must be a bot's token.
pub(super) fn authorization_fault(value: Option<&str>) -> Option<String> {
    let Some(value) = value else {
        return Some("is missing".to_owned());
    };
    let Some(token) = value.strip_prefix("Bot ") else {
        return Some("is not of the form `Bot token`".to_owned());
    };
    let is_token = !token.is_empty() && token.chars().all(|c| c.is_ascii_graphic());
    (!is_token).then(|| "holds no token".to_owned())
}

fn is_agent(agent: &str) -> bool {
    let inner = agent.strip_prefix("DiscordBot (").and_then(|rest| rest.split_once(')'));
    let parts = inner.and_then(|(inner, _)| inner.split_once(", "));
    parts.is_some_and(|(url, version)| {
        let has_scheme = url.starts_with("https://") || url.starts_with("http://");
        has_scheme && !version.is_empty()
    })
}
