//! The machine and the rules, side by side.
//!
//! A world is a walk of many steps. The property tests of the same check, which plain `cargo test` runs, are in
//! `tests/properties.rs`.

use std::sync::Arc;

use dirigent_core::config::TriggerCleanup;
use dirigent_core::{
    AgentKey, Author, Config, Creation, Input, Message, MessageId, MessageKind, Mode, Outcome,
    RunId, Settlement, Tail, WakeCause,
};
use dirigent_testkit::Random;
use dirigent_testkit::worlds::{World, Worlds};
use dirigent_verify::check::{
    Act, EndOutcome, Failure, Report, Step, check, check_twice, config_from_bytes, minimize,
};

/// Steps of one seeded walk.
const WALK: usize = 300;
/// Steps of one long walk: enough to forget the oldest messages.
const LONG_WALK: usize = 5_000;

/// Everything that a long enough search must have met.
fn everything() -> impl Iterator<Item = (&'static str, &'static str)> {
    let phases = "dormant refreshing granted running delivering unknown confirming continuing waiting disabled \
        dead archived";
    let effects = "fetch-members trigger delete poll notice reminder inject deliver consult \
        cancel-run";
    let reasons = "unmanaged too-few-agents your-turn initiator-permit dead archived stopped held \
        dormant ceiling-reached refreshing not-your-turn turn-already-used run-already-denied \
        run-already-ended not-registered muted not-listed finished waiting offline unassigned \
        capped budget-spent awaiting-human members-unknown";
    let refusals = "repeated-message stale-run unknown-ticket not-managed mode-locked \
        creation-only already-created initiator-mismatch archived not-a-discussion \
        not-the-initiator already-concluded stopped not-paused ceiling-reached too-many-agents \
        empty-receipt bad-config finished not-listed muted agent-offline has-the-floor \
        budget-spent awaiting-human chat-away";
    let causes = "created mode-changed human-message agent-message bot-message operator-wake \
        guide-posted result-posted cycle-boundary next-cycle reshuffled members-failed \
        members-late next-in-list run-started run-replaced passed spoke run-failed tail-matched \
        receipt-given quiet-after-message delivery-timed-out interrupted retriggered \
        start-timed-out run-timed-out run-lost agent-left agent-muted agent-unmuted all-passed \
        unanswered ceiling-reached ceiling-reset too-few-agents enough-agents \
        initiator-reminded permit-used stopped held resumed concluded archived unfinished \
        signal-missing run-slow human-interrupted orchestrator-answered orchestrator-failed \
        orchestrator-late agent-offline agent-online agent-assigned agent-passed not-mentioned \
        agent-capped mention-round operator-choice no-other-agent awaiting-human budget-spent \
        budget-reset finished overdue replied undelivered members-unknown chat-away chat-back";
    let named = [
        ("phase", phases),
        ("effect", effects),
        ("reason", reasons),
        ("refusal", refusals),
        ("cause", causes),
    ];
    named
        .into_iter()
        .flat_map(|(kind, names)| names.split_whitespace().map(move |name| (kind, name)))
}

/// A channel as it usually begins.
fn opening(byte: u8) -> Option<Step> {
    let agents = |count: u32| (1..=count).map(AgentKey::new).collect();
    let discussion = byte & 1 != 0;
    let creation = Creation {
        mode: if discussion { Mode::Discussion } else { Mode::Chat },
        members: agents(u32::from(byte / 2 % 6)),
        initiator: discussion.then(|| AgentKey::new(1)),
    };
    (byte < 240).then(|| Step::input(0, Input::Create(creation)))
}

/// One seeded walk: the rules and the steps.
fn walk(seed: u64, length: usize) -> (Arc<Config>, Vec<Step>) {
    let mut random = Random::new(seed);
    let rules = random.draw().to_le_bytes();
    let [first, ..] = random.draw().to_le_bytes();
    let steps = opening(first).into_iter().chain(Step::sequence(&mut random, length)).collect();
    (Arc::new(config_from_bytes(rules)), steps)
}

/// A world of one step, which is a whole walk: what fails is shrunk to single steps, pauses and rules by its own means.
struct Walked {
    number: u64,
    length: usize,
    check: Check,
    report: Report,
}

/// A comparison of machine and rules, by settings, the seed of what is drawn, and steps.
type Check = fn(&Arc<Config>, u64, &[Step]) -> Result<Report, Failure>;

impl World for Walked {
    fn step(&mut self) -> Result<(), String> {
        let (config, steps) = walk(self.number, self.length);
        self.report = agree(&config, self.number, &steps, self.check)?;
        Ok(())
    }
}

/// What the check sees, or the shortest way to the difference.
fn agree(config: &Arc<Config>, seed: u64, steps: &[Step], check: Check) -> Result<Report, String> {
    check(config, seed, steps).map_err(|failure| {
        let differs = |config: &_, seed, steps: &_| check(config, seed, steps).err();
        let shortest = minimize(config, seed, steps, differs);
        shortest.map_or(failure, |(_, _, failure)| failure).to_string()
    })
}

/// Makes these walks and reports what was seen.
fn walk_all(walks: &Worlds, length: usize, check: Check) -> Report {
    let begin = |number, _| Walked { number, length, check, report: Report::default() };
    walks.live(begin, |walked| walked.report.clone())
}

#[test]
fn machine_and_rules_agree_on_seeded_walks_that_see_everything() {
    let test = "-p dirigent-verify --test all machine_and_rules_agree_on_seeded_walks";
    let walks = Worlds::new(test, 6_667, 1); // 2 million steps
    let report = walk_all(&walks, WALK, check);
    for ((kind, name), count) in &report.seen {
        println!("{count:9} {kind} {name}");
    }
    println!("{} steps, {} restored copies", report.steps, report.restored);
    let unseen = everything().filter(|(kind, name)| report.count(kind, name) == 0);
    let unseen: Vec<_> = unseen.collect();
    assert!(unseen.is_empty() || !walks.are_enough(), "never seen: {unseen:?}");
}

#[test]
fn machine_and_rules_agree_on_long_walks() {
    let test = "-p dirigent-verify --test all machine_and_rules_agree_on_long_walks";
    walk_all(&Worlds::new(test, 100, 1), LONG_WALK, check);
}

#[test]
fn what_is_delivered_twice_counts_once() {
    let test = "-p dirigent-verify --test all what_is_delivered_twice_counts_once";
    walk_all(&Worlds::new(test, 1_667, 1), WALK, check_twice);
}

/// A chat of two, in which agent 1 runs since message 1000.
fn begun() -> Vec<Step> {
    let members = [1, 2].map(AgentKey::new).to_vec();
    let creation = Creation { mode: Mode::Chat, members, initiator: None };
    let wake = message(1_000, Author::Human, "hello");
    vec![Step::input(0, Input::Create(creation)), wake, Step::act(0, Act::GateAnew)]
}

/// A message of these words.
fn message(id: u64, author: Author, words: &str) -> Step {
    let (id, kind, tail) = (MessageId::new(id), MessageKind::Conversation, Tail::of(words));
    Step::input(0, Input::Message(Message { id, author, kind, tail, backfilled: false }))
}

/// Walks a way that chance takes too seldom.
fn scripted(config: Config, steps: &[Step]) -> Report {
    let config = Arc::new(config);
    agree(&config, 1, steps, check).unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn many_pieces_may_arrive_backwards() {
    let mut config = Config::default();
    config.confirmation.fingerprint_length = Tail::MAX;
    for last in [1_001, 1_008] {
        let speaker = Author::Agent(AgentKey::new(1));
        let ids = (1_001..=1_008).rev().filter(|id| *id != last).chain([last]);
        let words = |id: u64| format!("word{id}");
        let mut steps = begun();
        steps.extend(ids.map(|id| message(id, speaker, &words(id))));
        let whole: String = (1_001..=1_008).map(words).collect();
        let tail = Box::new(Tail::of(&whole));
        steps.push(Step::act(0, Act::End { outcome: EndOutcome::Spoke(tail) }));
        let report = scripted(config.clone(), &steps);
        assert_eq!(report.count("cause", "tail-matched"), 1, "{last} came last");
    }
}

#[test]
fn a_message_older_than_all_that_are_remembered_counts_once() {
    let mut steps = begun();
    steps.push(Step::act(0, Act::Receipt { count: 255 }));
    steps.extend([3, 5, 5, 4, 3, 6].map(|id| message(id, Author::Human, "late")));
    let report = scripted(Config::default(), &steps);
    assert_eq!(report.count("refusal", "repeated-message"), 3);
}

#[test]
fn no_more_agents_are_muted_than_a_channel_holds() {
    let agents = (1..=66).map(AgentKey::new);
    let steps: Vec<Step> = agents.map(|agent| Step::input(0, Input::Mute(agent))).collect();
    let report = scripted(Config::default(), &steps);
    assert_eq!(report.count("refusal", "too-many-agents"), 2);
}

#[test]
fn of_many_triggers_the_newest_are_removed() {
    let mut config = Config::default();
    config.trigger_cleanup = TriggerCleanup::OnNext;
    let mut steps = begun();
    steps.pop(); // granted, not running
    let again = [Input::Hold, Input::Resume].map(|input| Step::input(0, input));
    steps.extend(again.iter().cycle().take(40).cloned());
    steps.extend((0..20).map(|id| {
        let settlement = Settlement::Done { message: Some(MessageId::new(id)) };
        Step::act(0, Act::Settle { nth: 0, settlement })
    }));
    steps.extend(again);
    let report = scripted(config, &steps);
    assert_eq!(report.count("effect", "delete"), 16);
}

/// A discussion that has gone to sleep and whose initiator, agent 1, may run once.
fn idle_discussion() -> Vec<Step> {
    let members = [1, 2].map(AgentKey::new).to_vec();
    let initiator = members.first().copied();
    let creation = Creation { mode: Mode::Discussion, members: members.clone(), initiator };
    let wake = Input::Wake { first: None, cause: WakeCause::Guide };
    let pass = || [Act::GateAnew, Act::End { outcome: EndOutcome::Pass }];
    let acts = pass().into_iter().chain(pass()).chain([Act::Members { agents: members }]);
    let opened = [Input::Create(creation), wake].map(|input| Step::input(0, input));
    opened.into_iter().chain(acts.map(|act| Step::act(0, act))).collect()
}

/// A gate call.
fn gate(agent: u32, run: Option<u64>) -> Step {
    let (agent, run) = (Some(AgentKey::new(agent)), run.map(RunId::new));
    Step::input(0, Input::Gate { agent, run, latest: None })
}

#[test]
fn a_run_that_was_denied_does_not_end_the_initiators() {
    let mut steps = idle_discussion();
    steps.extend([gate(2, Some(9)), gate(1, None)]);
    let (agent, run) = (AgentKey::new(1), Some(RunId::new(9)));
    steps.push(Step::input(0, Input::RunEnded { agent, run, outcome: Outcome::Pass }));
    let report = scripted(Config::default(), &steps);
    assert_eq!(report.count("reason", "initiator-permit"), 1);
    assert_eq!(report.count("refusal", "stale-run"), 1);
}

#[test]
fn another_agents_run_of_the_same_name_does_not_stop_the_initiator() {
    let mut steps = idle_discussion();
    steps.extend([gate(1, Some(3)), gate(2, Some(3)), gate(1, Some(3))]);
    let report = scripted(Config::default(), &steps);
    assert_eq!(report.count("reason", "initiator-permit"), 2);
}

/// Who passed, was chosen and did not answer may start again (rule 59).
#[test]
fn who_was_chosen_and_did_not_answer_is_not_passed_over() {
    let mut config = Config::default();
    config.order.skip_passed = true;
    let agents = [1, 2, 3].map(AgentKey::new).to_vec();
    let mut steps = begun();
    steps.push(Step::act(0, Act::End { outcome: EndOutcome::Pass }));
    steps.push(Step::act(0, Act::GateAnew));
    steps.push(Step::input(0, Input::SpeakNext(AgentKey::new(1))));
    steps.push(Step::act(0, Act::End { outcome: EndOutcome::Pass }));
    steps.extend([Step::DeadlineTick, Step::DeadlineTick]); // re-triggered, then skipped
    steps.push(Step::act(0, Act::Members { agents })); // a newcomer: another cycle
    steps
        .extend([Act::GateAnew, Act::End { outcome: EndOutcome::Pass }].map(|it| Step::act(0, it)));
    steps
        .extend([Act::GateAnew, Act::End { outcome: EndOutcome::Pass }].map(|it| Step::act(0, it)));
    let report = scripted(config, &steps);
    assert_eq!(report.count("cause", "start-timed-out"), 1);
    assert!(report.count("cause", "agent-passed") >= 1, "the other one passed");
}

/// An agent that is assigned in the step of a shuffle goes behind it (rule 32).
#[test]
fn an_agent_may_come_back_in_the_step_of_a_shuffle() {
    let mut config = Config::default();
    config.order.auto_requeue = true;
    let config = Arc::new(config);
    let members = [1, 2, 3].map(AgentKey::new).to_vec();
    let creation = Creation { mode: Mode::Chat, members, initiator: None };
    let speaks = || {
        let tail = Box::new(Tail::of("words"));
        let spoke = EndOutcome::Spoke(tail.clone());
        [Act::GateAnew, Act::End { outcome: spoke }, Act::SpeakerSays { ahead: 1, tail }]
    };
    let mut steps = vec![
        Step::input(0, Input::Create(creation)),
        Step::input(0, Input::Offline(AgentKey::new(3))),
        message(1_000, Author::Human, "hello"),
    ];
    steps.extend(speaks().into_iter().chain(speaks()).map(|act| Step::act(0, act)));
    steps.push(Step::input(0, Input::Mute(AgentKey::new(2)))); // who completed last
    steps.push(Step::input(20_000, Input::Online(AgentKey::new(3))));
    for seed in 0..60 {
        match check(&config, seed, &steps) {
            Ok(report) => assert_eq!(report.count("cause", "reshuffled"), 1),
            Err(failure) => panic!("{failure}"),
        }
    }
}

/// Whatever befalls a question and its first agents before it is deleted (rule 80): model and machine agree on every way of up to
/// four steps, and of these it is known whether the question is taken back.
#[test]
fn a_question_may_be_deleted_at_any_moment() {
    let mut config = Config::default();
    config.people.withdraw_deleted = true;
    let settle = |settlement| Step::act(0, Act::Settle { nth: 0, settlement });
    let told = settle(Settlement::Done { message: None });
    let untold = settle(Settlement::Failed { retry_at: None });
    let starts = Step::act(0, Act::GateAnew);
    let [fails, passes] =
        [EndOutcome::Failed, EndOutcome::Pass].map(|outcome| Step::act(0, Act::End { outcome }));
    let [hold, resume] = [Input::Hold, Input::Resume].map(|input| Step::input(0, input));
    let is_withdrawn = |way: &[Step]| {
        let steps = [&begun()[..2], way, &[Step::act(0, Act::Delete { back: 0 })]].concat();
        scripted(config.clone(), &steps).count("cause", "withdrawn") == 1
    };
    for (way, expected) in [
        (vec![], true),
        (vec![&told], false),
        (vec![&untold], true),
        (vec![&starts], true), // the call is owed
        (vec![&starts, &told], false),
        (vec![&untold, &starts], false),
        (vec![&told, &hold], true),
        (vec![&told, &hold, &resume], true), // it is triggered anew
        (vec![&told, &starts, &hold], false),
        (vec![&told, &starts, &fails], true), // the next one is not told
        (vec![&told, &starts, &fails, &told], false),
        (vec![&told, &starts, &fails, &untold], true),
        (vec![&told, &starts, &fails, &told, &starts, &fails], true), // all have failed
        (vec![&told, &starts, &passes], false),
        (vec![&told, &starts, &passes, &untold], false),
    ] {
        let way: Vec<Step> = way.into_iter().cloned().collect();
        assert_eq!(is_withdrawn(&way), expected, "{way:?}");
    }
    let befalls = [told, untold, starts, fails, passes, hold, resume];
    let mut ways = vec![vec![]];
    for _ in 0..4 {
        for way in &ways {
            is_withdrawn(way);
        }
        let longer = |way: &Vec<Step>| {
            let steps =
                befalls.iter().map(|step| [way.as_slice(), std::slice::from_ref(step)].concat());
            steps.collect::<Vec<_>>()
        };
        ways = ways.iter().flat_map(longer).collect();
    }
}
