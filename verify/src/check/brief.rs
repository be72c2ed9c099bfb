//! Steps and rules in few words.

use dirigent_core::{Config, Input};

/// The rules, as far as they are not the defaults.
pub(super) fn rules(config: &Config) -> String {
    let (defaults, ours) = (format!("{:?}", Config::default()), format!("{config:?}"));
    let pairs = defaults.split(", ").zip(ours.split(", "));
    let differing = pairs.filter(|(default, field)| default != field);
    let fields: Vec<&str> = differing.map(|(_, field)| field).collect();
    format!("the defaults, but {{ {} }}", fields.join(", "))
}

/// An input in one line.
pub(super) fn input(input: &Input) -> String {
    if let Input::Reconfigure(config) = input {
        return format!("Reconfigure to {}", rules(config));
    }
    format!("{input:?}")
}
