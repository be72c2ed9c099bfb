//! The flags of the bots.

use clap::{Arg, ArgAction, ArgMatches, Command};

/// What a bot was asked for on its command line.
#[derive(Debug)]
pub struct Options(ArgMatches);

impl Options {
    /// Reads the flags that all bots take, and those of this one. `--help` is answered on standard output,
    /// and a flag that is not known ends the process with 2.
    pub fn read(bot: Command) -> Self {
        let fast = flag("fast", "Twenty times as fast, on this machine");
        let verbose = flag("verbose", "Shows every change of a channel, on this machine");
        Self(bot.arg(fast).arg(verbose).get_matches())
    }

    /// Whether a flag without a value was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.get_flag(name)
    }

    /// The number given with a flag.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.0.get_one(name).copied()
    }
}

/// A flag without a value.
pub fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}
