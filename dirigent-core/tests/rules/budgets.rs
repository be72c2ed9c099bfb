//! What agents may use up: turns in an hour, turns, cycles and cost in all (rules 64 and 65).

use crate::room::{A, B, Room, STRANGER, secs};
use dirigent_core::view::Budget;
use dirigent_core::{Cause, Config, Input, Mode, Outcome, PhaseKind, Reason, Refusal, WakeCause};

fn capped(count: usize, most: u8) -> Room {
    let mut room = Room::chat_with(count, |config| config.budget.agent_turns_per_hour = Some(most));
    room.human("hello");
    room
}

fn room(change: impl FnOnce(&mut Config)) -> Room {
    let mut room = Room::chat_with(2, change);
    room.human("hello");
    room
}

const OPERATOR: Input = Input::Wake { first: None, cause: WakeCause::Operator };

/// F09
#[test]
fn an_agent_that_has_had_its_turns_for_this_hour_is_skipped() {
    let mut room = capped(2, 1);
    room.speaks(A);
    assert!(room.channel.view().is_capped(A) && !room.channel.view().is_capped(B));
    assert_eq!(room.explain(A), Reason::Capped);
    room.passes(B);
    let step = room.members();
    assert_eq!(step.causes(), [Cause::NextCycle, Cause::AgentCapped, Cause::NextInList]);
    assert_eq!(room.speaker(), Some(B));
    room.passes(B);
    room.members();
    room.wait(secs(3_600));
    room.human("again");
    room.members();
    assert_eq!(room.speaker(), Some(A), "an hour later");
}

/// F09
#[test]
fn only_replies_of_the_last_hour_count() {
    let mut room = capped(2, 2);
    room.speaks(A);
    room.passes(B);
    room.members();
    room.passes(A);
    assert!(!room.channel.view().is_capped(A), "silence costs nothing");
    room.passes(B);
    room.members();
    room.wait(secs(1_800));
    room.human("more");
    room.members();
    room.speaks(A);
    assert!(room.channel.view().is_capped(A));
    room.wait(secs(1_799));
    assert!(room.channel.view().is_capped(A));
    room.wait(secs(1));
    assert!(!room.channel.view().is_capped(A), "the first is an hour old");
}

/// F09, R265
#[test]
fn a_word_for_which_everybody_is_capped_waits_for_the_first_who_is_not() {
    let mut room = capped(2, 1);
    room.speaks(A);
    room.wait(secs(60));
    room.speaks(B);
    room.wait(secs(60));
    room.members_or_nothing();
    room.human("and now?");
    room.members_or_nothing();
    room.members_or_nothing();
    assert_eq!((room.phase(), room.channel.view().is_wake_pending()), (PhaseKind::Dormant, true));
    room.sleep(secs(3_600 - 121));
    assert!(room.tell(Input::Tick).causes().is_empty());
    room.sleep(secs(1));
    assert_eq!(room.tell(Input::Tick).causes()[0], Cause::HumanMessage);
    room.members_or_nothing();
    assert_eq!(room.speaker(), Some(A));
}

/// WY12: a machine that slept, or a process that was down, looks at the clock when a cap is long over.
#[test]
fn a_word_that_waits_for_the_end_of_a_cap_is_answered_though_nobody_looked_at_the_clock_for_hours()
{
    let mut room = capped(2, 1);
    room.speaks(A);
    room.speaks(B);
    room.members_or_nothing();
    room.human("and now?");
    room.members_or_nothing();
    room.members_or_nothing();
    assert_eq!((room.phase(), room.channel.view().is_wake_pending()), (PhaseKind::Dormant, true));
    let named = room.channel.view().goes_on_at().unwrap();
    assert!(named > room.channel.view().deadline().unwrap().at, "what is forgotten is due first");
    room.sleep(secs(20_000));
    assert_eq!(room.tell(Input::Tick).causes()[0], Cause::HumanMessage);
}

/// F09
#[test]
fn the_cap_follows_the_option_and_the_list() {
    let mut room = capped(2, 1);
    room.speaks(A);
    let mut none = room.config().clone();
    none.budget.agent_turns_per_hour = None;
    let with = room.config().clone();
    room.tell(Input::Reconfigure(none.into()));
    room.tell(Input::Reconfigure(with.clone().into()));
    assert!(!room.channel.view().is_capped(A), "counted since the option is set");
    let mut room = capped(3, 1);
    room.speaks(A);
    room.passes(B);
    room.leaves(A);
    room.passes(crate::room::C);
    room.members();
    assert!(room.snapshot().state.quota.hourly.value().spoken.is_empty());
    let mut room = capped(2, 3);
    for _ in 0..2 {
        room.speaks(A);
        room.passes(B);
        room.members();
    }
    let mut lower = with.clone();
    lower.budget.agent_turns_per_hour = Some(1);
    room.tell(Input::Reconfigure(lower.into()));
    assert!(room.channel.view().is_capped(A));
    let mut higher = with;
    higher.budget.agent_turns_per_hour = Some(2);
    room.tell(Input::Reconfigure(higher.into()));
    assert!(!room.channel.view().is_capped(A), "no more are remembered than count");
}

/// F09
#[test]
fn an_operator_may_choose_whoever_is_capped() {
    let mut room = capped(2, 1);
    room.speaks(A);
    room.tell(Input::SpeakNext(A));
    room.passes(B);
    assert_eq!(room.speaker(), Some(A));
}

/// F01
#[test]
fn a_budget_of_turns_ends_at_the_next_grant_whoever_speaks() {
    let mut room = room(|config| config.budget.turns = Some(2));
    room.passes(A);
    room.passes(B);
    room.human("go on");
    let step = room.members();
    assert_eq!(step.causes().last(), Some(&Cause::BudgetSpent));
    assert_eq!(step.asks(), ["Budget"]);
    assert!(room.channel.view().is_budget_spent());
    assert_eq!(room.explain(A), Reason::BudgetSpent);
    assert!(room.human("please").asks().is_empty(), "told once, and a word renews nothing");
    assert_eq!(room.refusal(OPERATOR), Refusal::BudgetSpent);
    assert_eq!(room.refusal(Input::SpeakNext(A)), Refusal::BudgetSpent);
    let step = room.tell(Input::ResetBudget);
    assert_eq!(step.causes()[..2], [Cause::BudgetReset, Cause::HumanMessage]);
    assert_eq!(room.channel.view().budget(), Budget { turns: 1, ..Budget::default() });
    assert_eq!(room.speaker(), Some(A), "what was said is answered now");
}

/// F01
#[test]
fn a_budget_of_cycles_pays_for_the_whole_of_its_last_cycle() {
    let mut room = room(|config| config.budget.cycles = Some(1));
    room.speaks(A);
    assert_eq!(room.speaker(), Some(B));
    room.speaks(B);
    assert_eq!(room.members().causes(), [Cause::NextCycle, Cause::BudgetSpent][1..]);
    assert_eq!(room.channel.view().budget().cycles, 1);
}

/// F01
#[test]
fn a_budget_of_cost_is_what_the_host_reports() {
    let mut room = room(|config| config.budget.cost = Some(100));
    room.tell(Input::Spent { cost: 99 });
    room.passes(A);
    assert_eq!(room.speaker(), Some(B));
    room.tell(Input::Spent { cost: u64::MAX });
    assert_eq!(room.channel.view().budget().cost, u64::MAX);
    assert_eq!(room.speaker(), Some(B), "the turn under way goes on");
    room.start(B);
    room.human("go on");
    room.ends(B, Outcome::Pass);
    assert_eq!(room.members().causes().last(), Some(&Cause::BudgetSpent));
    assert!(room.says(STRANGER, "hello").is_silent());
    assert!(room.channel.view().is_wake_pending(), "what would wake is kept in mind");
}

/// F01
#[test]
fn budgets_are_counted_while_they_are_set_and_kept_until_they_begin_anew() {
    let mut plain = Room::chat(2);
    plain.human("hello");
    plain.passes(A);
    assert_eq!(plain.channel.view().budget(), Budget::default());
    plain.tell(Input::Spent { cost: 5 });
    plain.tell(Input::SetMode(Mode::None));
    assert_eq!(plain.channel.view().budget().cost, 5, "in every mode");
    plain.tell(Input::ResetBudget);
    assert_eq!(plain.channel.view().budget().cost, 0);
    assert!(plain.snapshot().state.quota.budget.get().is_none(), "nothing is kept of it");
    plain.tell(Input::Archive);
    assert_eq!(plain.refusal(Input::Spent { cost: 5 }), Refusal::Archived);
    assert_eq!(plain.refusal(Input::ResetBudget), Refusal::Archived);
}

/// F01, D84
#[test]
fn the_initiators_last_word_waits_for_the_budget() {
    let mut room = Room::discussion_with(2, |config| config.budget.turns = Some(2));
    room.human("hello");
    room.all_pass();
    room.members();
    assert_eq!(room.channel.view().permit(), Some(A));
    room.start(A);
    room.says(A, "one more question");
    room.ends(A, Outcome::Pass);
    assert_eq!((room.phase(), room.channel.view().is_wake_pending()), (PhaseKind::Dormant, true));
}

/// A sleeping room with this budget of cost.
fn asleep(most: u64) -> Room {
    let mut room = room(|config| config.budget.cost = Some(most));
    room.all_pass();
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    room
}

/// F01, F10
#[test]
fn a_budget_that_is_spent_while_the_channel_sleeps_is_said_at_once_and_once() {
    let mut room = asleep(100);
    assert!(room.tell(Input::Spent { cost: 99 }).is_silent());
    let step = room.tell(Input::Spent { cost: 1 });
    assert_eq!((step.causes(), step.asks()), (vec![Cause::BudgetSpent], vec!["Budget".to_owned()]));
    assert!(room.tell(Input::Spent { cost: 7 }).is_silent());
    assert!(room.human("hello?").is_silent());
    assert!(room.channel.view().is_wake_pending());
    room.tell(Input::ResetBudget);
    room.members_or_nothing();
    room.all_pass();
    room.members();
    assert_eq!(
        room.tell(Input::Spent { cost: 100 }).asks(),
        ["Budget"],
        "a new budget, a new notice"
    );
}

/// F01, F10
#[test]
fn who_writes_into_a_channel_whose_budget_is_spent_is_told_so() {
    let mut room = asleep(100);
    room.tell(Input::Stop);
    assert!(room.tell(Input::Spent { cost: 100 }).is_silent(), "it is stopped anyway");
    room.tell(Input::Resume);
    let step = room.human("hello?");
    assert_eq!((step.causes(), step.asks()), (vec![Cause::BudgetSpent], vec!["Budget".to_owned()]));
    assert!(room.human("anybody?").is_silent());
    // And where the limit came down.
    let mut room = asleep(100);
    room.tell(Input::Spent { cost: 50 });
    let mut narrow = room.config().clone();
    narrow.budget.cost = Some(50);
    assert!(room.tell(Input::Reconfigure(narrow.into())).is_silent());
    assert_eq!(room.human("hello?").asks(), ["Budget"]);
}

/// The end of a cap wakes for a word once, or an agent that fails would be called for ever.
#[test]
fn a_cap_that_ended_before_the_cycle_wakes_for_no_word_with_which_all_failed() {
    let mut room = Room::chat_with(2, |config| config.budget.agent_turns_per_hour = Some(1));
    room.human("hello");
    room.speaks(A);
    while room.phase() != PhaseKind::Dormant {
        room.all_pass();
        room.members();
    }
    room.wait(secs(3_700));
    room.human("and now?");
    room.members_or_nothing();
    for agent in [A, B] {
        room.start(agent);
        room.ends(agent, Outcome::Failed);
    }
    room.members();
    assert_eq!((room.phase(), room.channel.view().is_wake_pending()), (PhaseKind::Dormant, true));
    let grants = room.grants();
    room.wait(secs(3_700));
    assert_eq!((room.phase(), room.grants()), (PhaseKind::Dormant, grants));
}
