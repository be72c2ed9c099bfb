//! The commands that a person types at the terminal.

use std::time::Duration;

use dirigent_loopback::ServerOutage;
use serde_json::Value;

/// A command at the terminal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Order {
    /// Say this.
    Say(String),
    /// Use a bot's command, with options.
    Use { name: String, options: Vec<(String, Value)> },
    /// Go to another channel, by name or id.
    Go(String),
    /// List the channels.
    Channels,
    /// List the accounts that see this channel.
    Who,
    /// Show the requests to the server.
    Traffic,
    /// Take these parts of the server away, for a while or until they are brought back.
    Outage { parts: Vec<ServerOutage>, duration: Option<Duration> },
    /// Bring everything back.
    Back,
    /// Explain the arguments of `/outage`.
    BadOutage,
    /// Show the addresses and tokens again.
    Addresses,
    /// List the commands.
    Help,
    /// End the program.
    Quit,
    /// An empty line, which has no effect.
    Nothing,
}

/// The list of commands.
pub(crate) const HELP: &str = "\
  anything             is said by you in the channel; @tester mentions the bot of that name
  /set-channel-mode X  uses that command, and so with every command that a bot has registered;
                       several options are given by name: /command one=1 other=text
  /channels  /go NAME  lists the channels, goes to another
  /who                 who sees this channel
  /addresses           where the server listens, and the tokens
  /traffic             what was asked of the server
  /outage PART [SECONDS]
                       takes a part of the server away: rest-refused, rest-hanging, gateway, or both
                       (rest-refused and gateway), for that time or until /back
  /back                brings everything back
  /quit";

impl Order {
    /// Reads a line.
    pub(crate) fn read(line: &str) -> Self {
        let line = line.trim();
        let Some(order) = line.strip_prefix('/') else {
            return if line.is_empty() { Self::Nothing } else { Self::Say(line.to_owned()) };
        };
        let mut words = order.split_whitespace();
        let name = words.next().unwrap_or_default();
        match name {
            "channels" => Self::Channels,
            "go" => Self::Go(words.next().unwrap_or_default().trim_start_matches('#').to_owned()),
            "who" => Self::Who,
            "traffic" => Self::Traffic,
            "outage" => Self::outage(words.next(), words.next()),
            "back" => Self::Back,
            "addresses" => Self::Addresses,
            "help" | "" => Self::Help,
            "quit" => Self::Quit,
            _ => Self::Use { name: name.to_owned(), options: words.map(option).collect() },
        }
    }
}

impl Order {
    fn outage(part: Option<&str>, seconds: Option<&str>) -> Self {
        let parts = match part {
            Some("rest-refused") => vec![ServerOutage::RestRefused],
            Some("rest-hanging") => vec![ServerOutage::RestHanging { is_applied: false }],
            Some("gateway") => vec![ServerOutage::GatewayCut],
            Some("both") => vec![ServerOutage::RestRefused, ServerOutage::GatewayCut],
            Some(_) | None => return Self::BadOutage,
        };
        match seconds.map(str::parse) {
            None => Self::Outage { parts, duration: None },
            Some(Ok(seconds)) => {
                Self::Outage { parts, duration: Some(Duration::from_secs(seconds)) }
            }
            Some(Err(_)) => Self::BadOutage,
        }
    }
}

/// Returns an option by its name. Without a name it is the command's only option.
fn option(word: &str) -> (String, Value) {
    let (name, value) = word.split_once('=').unwrap_or(("", word));
    let number = value.parse::<i64>().ok().map(Value::from);
    let switch = value.parse::<bool>().ok().map(Value::from);
    (name.to_owned(), number.or(switch).unwrap_or_else(|| Value::from(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_said_unless_it_is_an_order() {
        assert_eq!(Order::read("  good morning "), Order::Say("good morning".to_owned()));
        assert_eq!(Order::read(" "), Order::Nothing);
        assert_eq!(Order::read("/go #den"), Order::Go("den".to_owned()));
        assert_eq!(Order::read("/quit"), Order::Quit);
        let parts = vec![ServerOutage::RestRefused, ServerOutage::GatewayCut];
        let duration = Some(Duration::from_secs(60));
        assert_eq!(Order::read("/outage both 60"), Order::Outage { parts, duration });
        assert_eq!(Order::read("/outage everything"), Order::BadOutage);
        assert_eq!(Order::read("/outage gateway soon"), Order::BadOutage);
        let options = vec![(String::new(), Value::from("chat"))];
        assert_eq!(
            Order::read("/set-channel-mode chat"),
            Order::Use { name: "set-channel-mode".to_owned(), options }
        );
        let options = vec![("a".to_owned(), Value::from(1)), ("b".to_owned(), Value::from(true))];
        assert_eq!(Order::read("/x a=1 b=true"), Order::Use { name: "x".to_owned(), options });
    }
}
