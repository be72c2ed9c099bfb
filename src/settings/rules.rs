//! All settings of a host in one file.

use dirigent_core::Config;
use dirigent_core::config::{
    BudgetRules, Ceiling, Ceilings, Confirmation, Deadlines, DiscussionRules, MemberRules,
    OrderRules, PeopleRules,
};
use dirigent_core::text::Signal;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_path_to_error::Track;

use super::profiles::Profile;
use super::written::{As, Name, Over, Setting, groups};
use super::{
    Heartbeat, Hooks, LimitRules, ObservedBot, Pace, Pacing, ReadingRules, Texts, TimeLimits,
};
use crate::Settings;

/// All settings of a host, as they stand in one file. Use any format that serde reads.
///
/// The groups of [`Config`] and of [`Settings`] stand side by side, and each is a table. A setting that the file does
/// not name has its default. Times have a unit (`"45s"`, `"1h 30m"`). You switch an optional setting off with `"none"`.
/// An unknown name or a value that cannot work is an error, and the error names the setting with all tables around it.
///
/// ```
/// use dirigent::settings::Rules;
///
/// let rules: Rules = serde_json::from_str(
///     r#"{ "ceilings": { "chat": { "turns": 20 } }, "deadlines": { "start": "none" } }"#,
/// )?;
/// assert_eq!((rules.config.ceilings.chat.turns, rules.config.deadlines.start), (Some(20), None));
/// assert_eq!(rules.config.ceilings.chat.cycles, Some(12));
///
/// let misspelt = serde_json::from_str::<Rules>(r#"{ "limits": { "creatons": "none" } }"#).unwrap_err();
/// assert!(misspelt.to_string().starts_with("limits.creatons: unknown field"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "the two halves of what a host may choose")]
pub struct Rules {
    /// The rules.
    pub config: Config,
    /// The settings of how the rules are carried out.
    pub settings: Settings,
}

groups! {
    Rules {
        confirmation = config.confirmation,
        deadlines = config.deadlines,
        ceilings = config.ceilings,
        budget = config.budget,
        people = config.people,
        order = config.order,
        discussion = config.discussion,
        members = config.members,
        trigger_cleanup = config.trigger_cleanup,
        announce_timeouts = config.announce_timeouts,
        announce_offline = config.announce_offline,
        texts = settings.texts,
        reading = settings.reading,
        hooks = settings.hooks,
        limits = settings.limits,
        time_limits = settings.time_limits,
        typing = settings.typing,
        inherit_parent_mode = settings.inherit_parent_mode,
    }
    Config {
        confirmation,
        deadlines,
        ceilings,
        budget,
        people,
        order,
        discussion,
        members,
        trigger_cleanup,
        announce_timeouts,
        announce_offline,
    }
    Confirmation {
        fingerprint_length,
        delivery_timeout,
        quiet_period,
        any_message_fallback,
        late_grace,
        poll_first,
        poll_interval,
        poll_interval_max,
    }
    Deadlines { start, retriggers, run, turn, slow_after, outage_max, }
    Ceilings { chat, discussion, discussion_time, }
    Ceiling { turns, cycles, }
    BudgetRules { turns, cycles, cost, agent_turns_per_hour, }
    PeopleRules {
        human_interrupt,
        consult_deadline,
        mentions,
        acknowledge,
        interrupt,
        bots_qualify,
        settle,
        withdraw_deleted,
    }
    OrderRules {
        shuffle_first,
        wake_rule,
        skip_passed,
        skip_last_speaker,
        continuations,
        auto_requeue,
        single_agent,
    }
    DiscussionRules { reminder_interval, overdue_archive_after, }
    MemberRules { refresh_deadline, list_fresh, recount_interval, forget_after, }
    Texts {
        idle_reminder,
        ceiling_reminder,
        archived_notice,
        closed_notice,
        ceiling_notice,
        timeout_notice,
        disconnect_notice,
        budget_notice,
        stopped_notice,
        resumed_notice,
        resumed_idle_notice,
        cut_notice,
        repetition_hint,
        pass_hint,
        trigger_template,
        trigger_identifier,
        result_template,
        result_text_template,
        unfinished_template,
        overdue_template,
    }
    ReadingRules {
        silence,
        completion,
        human_marker,
        skip_repetitions,
        skip_talk_of_people,
        stop_words,
        resume_words,
    }
    Signal { token, word_boundary, stripped, }
    Hooks { no_reply_model, notify, heartbeat, offline_after_failures, lost_runs, }
    Heartbeat { period, misses, }
    LimitRules {
        pacing,
        reply_parts_max,
        creations,
        poll_limit,
        missed_max,
        missed_bytes_max,
        texts_bytes_max,
        calls_max,
        agent_calls_max,
    }
    Pacing { channel, agent, global, }
    Pace { burst, window, }
    TimeLimits { request, call, missed_wake_max, backfill, }
    ObservedBot {
        silent_after,
        answers_people_within,
        trigger_stays,
        pass_words,
        notices,
        removes,
        remedy,
    }
}

impl Serialize for Rules {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.write(to)
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut rules = Self::default();
        read(&mut rules, from)?;
        rules.config.validate().map_err(D::Error::custom)?;
        Ok(rules)
    }
}

impl ObservedBot {
    /// Reads settings over these, in the form that [`Rules`] has: what is not named stays.
    ///
    /// ```
    /// use dirigent::settings::ObservedBot;
    ///
    /// let mut file = serde_json::Deserializer::from_str(r#"{ "silent_after": "45s", "removes": true }"#);
    /// let bot = ObservedBot::open_claw().read_over(&mut file)?;
    /// assert_eq!((bot.silent_after.as_secs(), bot.removes), (45, true));
    /// assert_eq!(bot.notices, ObservedBot::open_claw().notices);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A name that is no setting, or a value that is none of it; the message begins with the name.
    pub fn read_over<'de, D: Deserializer<'de>>(mut self, from: D) -> Result<Self, D::Error> {
        read(&mut self, from)?;
        Ok(self)
    }
}

impl From<Profile> for Rules {
    fn from(profile: Profile) -> Self {
        let (config, settings) = profile.rules();
        Self { config, settings }
    }
}

/// Reads values over those that are there. An error begins with the name of the setting, with all tables around it.
fn read<'de, T: Setting, D: Deserializer<'de>>(into: &mut T, from: D) -> Result<(), D::Error> {
    let mut track = Track::new();
    let read = into.read_over(serde_path_to_error::Deserializer::new(from, &mut track));
    read.map_err(|error| match track.path() {
        path if path.iter().next().is_none() => error,
        path => D::Error::custom(format_args!("{path}: {error}")),
    })
}

/// The rules alone, in the form that they have in [`Rules`], for `#[serde(with = "…")]`. A recording stores its rules
/// in this form.
pub mod config {
    use super::{As, Config, Deserializer, Serialize as _, Serializer};

    /// Writes all rules.
    ///
    /// # Errors
    ///
    /// Fails if a value has no form in a file yet.
    pub fn serialize<S: Serializer>(config: &Config, to: S) -> Result<S::Ok, S::Error> {
        As(config).serialize(to)
    }

    /// Reads the rules that are named. The others have their defaults.
    ///
    /// # Errors
    ///
    /// Fails if a name is unknown, or if a value is not valid.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Config, D::Error> {
        let mut config = Config::default();
        super::read(&mut config, from)?;
        Ok(config)
    }
}
