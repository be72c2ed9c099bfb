//! The rules of a recorded channel, as they stand in its file.

use std::time::Duration;

use dirigent::{Config, HumanInterrupt, InterruptPolicy, TriggerCleanup, WakeRule};
use serde::{Deserialize, Serialize};

/// A time, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Millis(u64);

impl From<Duration> for Millis {
    fn from(time: Duration) -> Self {
        Self(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<Millis> for Duration {
    fn from(millis: Millis) -> Self {
        Self::from_millis(millis.0)
    }
}

/// A time that may be switched off.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct MaybeMillis(Option<Millis>);

impl From<Option<Duration>> for MaybeMillis {
    fn from(time: Option<Duration>) -> Self {
        Self(time.map(Millis::from))
    }
}

impl From<MaybeMillis> for Option<Duration> {
    fn from(millis: MaybeMillis) -> Self {
        millis.0.map(Duration::from)
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum CleanupFile {
    Immediate,
    OnNext,
    After(Millis),
    Never,
    #[serde(skip)]
    Newer,
}

impl From<TriggerCleanup> for CleanupFile {
    fn from(cleanup: TriggerCleanup) -> Self {
        match cleanup {
            TriggerCleanup::Immediate => Self::Immediate,
            TriggerCleanup::OnNext => Self::OnNext,
            TriggerCleanup::After(time) => Self::After(time.into()),
            TriggerCleanup::Never => Self::Never,
            _ => Self::Newer,
        }
    }
}

impl From<CleanupFile> for TriggerCleanup {
    fn from(file: CleanupFile) -> Self {
        match file {
            CleanupFile::Immediate | CleanupFile::Newer => Self::Immediate,
            CleanupFile::OnNext => Self::OnNext,
            CleanupFile::After(time) => Self::After(time.into()),
            CleanupFile::Never => Self::Never,
        }
    }
}

/// Gives the choices of an enumeration their names.
macro_rules! choices {
    ($($file:ident = $type:ident { $($choice:ident,)+ })+) => {
        $(
            #[derive(Clone, Copy, Debug, Serialize, Deserialize)]
            #[serde(rename_all = "camelCase")]
            enum $file {
                $($choice,)+
                /// One that is newer than this crate.
                #[serde(skip)]
                Newer,
            }

            impl From<$type> for $file {
                fn from(choice: $type) -> Self {
                    match choice {
                        $($type::$choice => Self::$choice,)+
                        _ => Self::Newer,
                    }
                }
            }

            impl From<$file> for $type {
                fn from(file: $file) -> Self {
                    let newer = ($($type::$choice,)+).0;
                    match file {
                        $($file::$choice => Self::$choice,)+
                        $file::Newer => newer,
                    }
                }
            }
        )+
    };
}

choices! {
    PolicyFile = InterruptPolicy { RestartCycle, AdvanceNormally, }
    HumanFile = HumanInterrupt { Inject, Queue, Interrupt, }
    WakeFile = WakeRule { FirstInList, NextAfterSender, }
}

/// Writes each rule under its own name; one that is absent is as by default.
macro_rules! rules {
    ($($field:ident: $form:ty,)+) => {
        /// All rules.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub(super) struct ConfigFile {
            $($field: $form,)+
        }

        impl From<&Config> for ConfigFile {
            fn from(config: &Config) -> Self {
                Self { $($field: <$form>::from(config.$field),)+ }
            }
        }

        impl From<ConfigFile> for Config {
            fn from(file: ConfigFile) -> Self {
                let mut config = Self::default();
                $(config.$field = file.$field.into();)+
                config
            }
        }

        #[cfg(test)]
        const FIELDS: &[&str] = &[$(stringify!($field),)+];
    };
}

rules! {
    fingerprint_length: usize,
    delivery_timeout: Millis,
    quiet_period: Millis,
    any_message_fallback: bool,
    poll_first: Millis,
    poll_interval: Millis,
    poll_interval_max: Millis,
    start_deadline: MaybeMillis,
    retriggers: u8,
    run_deadline: MaybeMillis,
    late_grace: Millis,
    refresh_deadline: Millis,
    list_fresh: Millis,
    recount_interval: Millis,
    shuffle_first: bool,
    interrupt: PolicyFile,
    bots_qualify: bool,
    trigger_cleanup: CleanupFile,
    turns_max: Option<u32>,
    cycles_max: Option<u32>,
    discussion_turns_max: Option<u32>,
    discussion_cycles_max: Option<u32>,
    discussion_time_max: MaybeMillis,
    overdue_archive_after: MaybeMillis,
    reminder_interval: Millis,
    farewell: Millis,
    bot_notice_interval: Millis,
    continuations: u8,
    turn_deadline: MaybeMillis,
    slow_after: MaybeMillis,
    announce_timeouts: bool,
    announce_offline: bool,
    auto_requeue: bool,
    human_interrupt: HumanFile,
    consult_deadline: Millis,
    outage_max: Millis,
    wake_rule: WakeFile,
    skip_passed: bool,
    mention_rounds: bool,
    agent_turns_per_hour: Option<u8>,
    budget_turns: Option<u32>,
    budget_cycles: Option<u32>,
    budget_cost: Option<u64>,
    forget_after: Millis,
    acknowledge: bool,
}

impl Default for ConfigFile {
    fn default() -> Self {
        Self::from(&Config::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through_a_file(config: &Config) -> Config {
        let json = serde_json::to_string(&ConfigFile::from(config)).unwrap();
        serde_json::from_str::<ConfigFile>(&json).unwrap().into()
    }

    #[test]
    fn every_rule_stands_in_the_file() {
        let shown = format!("{:#?}", Config::default());
        let names =
            shown.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
        let mut names: Vec<_> =
            names.filter_map(|line| line.trim().split_once(": ")).map(|(name, _)| name).collect();
        let mut fields = FIELDS.to_vec();
        names.sort_unstable();
        fields.sort_unstable();
        assert_eq!(fields, names);
    }

    #[test]
    fn rules_come_back_as_they_were() {
        for config in [Config::default(), Config::seed_literal()] {
            let (back, mut expected) = (through_a_file(&config), config);
            if expected.list_fresh == Duration::MAX {
                expected.list_fresh = Duration::from_millis(u64::MAX);
            }
            assert_eq!(back, expected);
        }
        let mut config = Config::default();
        config.trigger_cleanup = TriggerCleanup::After(Duration::from_secs(3));
        config.human_interrupt = HumanInterrupt::Queue;
        config.wake_rule = WakeRule::NextAfterSender;
        config.interrupt = InterruptPolicy::AdvanceNormally;
        config.budget_cost = Some(u64::MAX);
        config.slow_after = Some(Duration::from_millis(1));
        assert_eq!(through_a_file(&config), config);
    }
}
