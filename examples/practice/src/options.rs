//! The flags of the bot.

use clap::{Arg, ArgAction, ArgMatches, Command};
use dirigent_llm::Endpoint;

/// What a bot was asked for on its command line.
#[derive(Debug)]
pub struct Options(ArgMatches);

impl Options {
    /// Reads the flags that are for trying it, and those of the bot. `--help` is answered on standard output,
    /// and a flag that is not known ends the process with 2.
    pub fn read(bot: Command) -> Self {
        let fast = flag("fast", "Twenty times as fast, on this machine");
        let verbose = flag("verbose", "Shows every change of a channel, on this machine");
        let llm = Arg::new("llm").long("llm").value_name("URL");
        let llm = llm.help("The agents ask a model at this address, which mostly ends with /v1");
        let model = Arg::new("model").long("model").value_name("NAME").requires("llm");
        let model = model.default_value("default").help("The model's name there");
        Self(bot.args([fast, verbose, llm, model]).get_matches())
    }

    /// The model that the agents are to ask, if they are. A key for it is taken from `DIRIGENT_LLM_KEY`.
    pub(crate) fn llm(&self) -> Option<Endpoint> {
        let (url, model) = (self.0.get_one::<String>("llm")?, self.0.get_one::<String>("model")?);
        let endpoint = Endpoint::new(url, model);
        Some(match std::env::var("DIRIGENT_LLM_KEY") {
            Ok(key) => endpoint.key(key),
            Err(_) => endpoint,
        })
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
