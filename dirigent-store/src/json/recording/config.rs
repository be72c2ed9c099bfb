//! The rules of a recorded channel, as they stand in its file.

use std::time::Duration;

use dirigent::Config;
use dirigent::settings::{HumanInterrupt, InterruptPolicy, MentionRule, TriggerCleanup, WakeRule};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::record::form::{Form, named};

/// Times in milliseconds.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// A time, or one that may be switched off.
    pub(super) trait Time: Sized {
        type Millis: Serialize + for<'de> Deserialize<'de>;
        fn millis(&self) -> Self::Millis;
        fn of(millis: Self::Millis) -> Self;
    }

    impl Time for Duration {
        type Millis = u64;

        fn millis(&self) -> u64 {
            u64::try_from(self.as_millis()).unwrap_or(u64::MAX)
        }

        fn of(millis: u64) -> Self {
            Self::from_millis(millis)
        }
    }

    impl Time for Option<Duration> {
        type Millis = Option<u64>;

        fn millis(&self) -> Option<u64> {
            self.as_ref().map(Time::millis)
        }

        fn of(millis: Option<u64>) -> Self {
            millis.map(Duration::from_millis)
        }
    }

    pub(super) fn serialize<T: Time, S: Serializer>(time: &T, to: S) -> Result<S::Ok, S::Error> {
        time.millis().serialize(to)
    }

    pub(super) fn deserialize<'de, T: Time, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        T::Millis::deserialize(from).map(T::of)
    }
}

named! {
    InterruptPolicy { RestartCycle = "restartCycle", AdvanceNormally = "advanceNormally", }
    HumanInterrupt { Inject = "inject", Queue = "queue", Interrupt = "interrupt", }
    WakeRule { FirstInList = "firstInList", NextAfterSender = "nextAfterSender", }
}

/// How long a trigger stays.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum CleanupFile {
    Immediate,
    OnNext,
    After(#[serde(with = "millis")] Duration),
    Never,
}

impl Form for TriggerCleanup {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Immediate => CleanupFile::Immediate,
            Self::OnNext => CleanupFile::OnNext,
            Self::After(time) => CleanupFile::After(*time),
            Self::Never => CleanupFile::Never,
            _ => return Err(S::Error::custom("a value is newer than this store")),
        }
        .serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match CleanupFile::deserialize(from)? {
            CleanupFile::Immediate => Self::Immediate,
            CleanupFile::OnNext => Self::OnNext,
            CleanupFile::After(time) => Self::After(time),
            CleanupFile::Never => Self::Never,
        })
    }
}

/// What a mention does. Recordings that are older know nothing of the addressed who are first.
mod mentions {
    use dirigent::settings::MentionRule;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::is_false;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    #[derive(Default)]
    struct MentionsFile {
        mention_rounds: bool,
        #[serde(skip_serializing_if = "is_false")]
        mentioned_first: bool,
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(rule: &MentionRule, to: S) -> Result<S::Ok, S::Error> {
        let (mention_rounds, mentioned_first) = match rule {
            MentionRule::Ignored => (false, false),
            MentionRule::First => (false, true),
            MentionRule::Only => (true, false),
            _ => return Err(S::Error::custom("a value is newer than this store")),
        };
        MentionsFile { mention_rounds, mentioned_first }.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<MentionRule, D::Error> {
        let file = MentionsFile::deserialize(from)?;
        Ok(match (file.mention_rounds, file.mentioned_first) {
            (true, _) => MentionRule::Only,
            (false, true) => MentionRule::First,
            (false, false) => MentionRule::Ignored,
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Writes each rule under its own name, with `=` a time in milliseconds, with `as` in a form of its own; one that
/// is absent is as by default. A rule that came later is absent where it is off, as in recordings before it.
macro_rules! rules {
    ($($(#[$form:meta])* $field:ident $(: $of:ty)? $(= $time:ty)? $(as $plain:ty)?,)+) => {
        /// All rules.
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub(super) struct ConfigFile {
            $(
                $(#[$form])*
                $(#[serde(with = "crate::record::form")] $field: $of,)?
                $(#[serde(with = "millis")] $field: $time,)?
                $($field: $plain,)?
            )+
        }

        impl From<&Config> for ConfigFile {
            fn from(config: &Config) -> Self {
                Self { $($field: config.$field,)+ }
            }
        }

        impl From<ConfigFile> for Config {
            fn from(file: ConfigFile) -> Self {
                let mut config = Self::default();
                $(config.$field = file.$field;)+
                config
            }
        }

        #[cfg(test)]
        const FIELDS: &[&str] = &[$(stringify!($field),)+];
    };
}

rules! {
    fingerprint_length: usize,
    delivery_timeout = Duration,
    quiet_period = Duration,
    any_message_fallback: bool,
    poll_first = Duration,
    poll_interval = Duration,
    poll_interval_max = Duration,
    start_deadline = Option<Duration>,
    retriggers: u8,
    run_deadline = Option<Duration>,
    late_grace = Duration,
    refresh_deadline = Duration,
    list_fresh = Duration,
    recount_interval = Duration,
    shuffle_first: bool,
    interrupt: InterruptPolicy,
    bots_qualify: bool,
    trigger_cleanup: TriggerCleanup,
    turns_max: Option<u32>,
    cycles_max: Option<u32>,
    discussion_turns_max: Option<u32>,
    discussion_cycles_max: Option<u32>,
    discussion_time_max = Option<Duration>,
    overdue_archive_after = Option<Duration>,
    reminder_interval = Duration,
    farewell = Duration,
    bot_notice_interval = Duration,
    continuations: u8,
    turn_deadline = Option<Duration>,
    slow_after = Option<Duration>,
    announce_timeouts: bool,
    announce_offline: bool,
    auto_requeue: bool,
    human_interrupt: HumanInterrupt,
    consult_deadline = Duration,
    outage_max = Duration,
    wake_rule: WakeRule,
    skip_passed: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    skip_last_speaker as bool,
    #[serde(flatten, with = "mentions")]
    mentions as MentionRule,
    agent_turns_per_hour: Option<u8>,
    budget_turns: Option<u32>,
    budget_cycles: Option<u32>,
    budget_cost: Option<u64>,
    forget_after = Duration,
    acknowledge: bool,
}

impl Form for Config {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        ConfigFile::from(self).serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        ConfigFile::deserialize(from).map(Self::from)
    }
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
    fn a_recording_from_before_a_rule_is_replayed_without_it() {
        let older: Config = serde_json::from_str::<ConfigFile>("{}").unwrap().into();
        assert_eq!((older.skip_last_speaker, older.mentions), (false, MentionRule::Ignored));
        let rounds = r#"{"mentionRounds":true}"#;
        let older: Config = serde_json::from_str::<ConfigFile>(rounds).unwrap().into();
        assert_eq!(older.mentions, MentionRule::Only);
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
        config.mentions = MentionRule::Only;
        config.interrupt = InterruptPolicy::AdvanceNormally;
        config.budget_cost = Some(u64::MAX);
        config.slow_after = Some(Duration::from_millis(1));
        assert_eq!(through_a_file(&config), config);
    }
}
