//! What proptest may try: rules, conversations that make sense, and inputs that do not.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{
    AgentKey, Author, Config, Creation, HumanInterrupt, Input, InterruptPolicy, Message, MessageId,
    MessageKind, Mode, Outcome, RunId, Settlement, Tail, Ticket, Timestamp, TriggerCleanup,
    WakeCause, WakeRule,
};
use dirigent_verify::check::{Act, EndOutcome, Step};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Everything that a long enough search must have met.
pub(crate) fn everything() -> impl Iterator<Item = (&'static str, &'static str)> {
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
        not-the-initiator already-concluded stopped not-resting ceiling-reached too-many-agents \
        empty-receipt bad-config finished not-listed muted agent-offline has-the-floor \
        budget-spent awaiting-human chat-away";
    let causes = "created mode-changed human-message agent-message bot-message operator-wake \
        guide-posted result-posted cycle-boundary next-cycle reshuffled members-failed \
        members-late next-in-list run-started run-replaced passed spoke run-failed tail-matched \
        receipt-given quiet-after-message delivery-timed-out interrupted retriggered \
        start-timed-out run-timed-out run-lost agent-left agent-muted agent-unmuted all-passed \
        nobody-answered ceiling-reached ceiling-reset too-few-agents enough-agents \
        initiator-reminded permit-used stopped held resumed concluded archived unfinished \
        signal-missing run-slow human-interrupted orchestrator-answered orchestrator-failed \
        orchestrator-late agent-offline agent-online agent-assigned agent-passed not-mentioned \
        agent-capped mention-round operator-choice nobody-else awaiting-human budget-spent \
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

/// One generated case; what it holds is shown by the failure, not by `Debug`.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) config: Arc<Config>,
    pub(crate) seed: u64,
    pub(crate) steps: Vec<Step>,
}

impl Case {
    /// Any rules and seed with such steps.
    pub(crate) fn of(steps: impl Strategy<Value = Vec<Step>>) -> impl Strategy<Value = Self> {
        (config(), any::<u64>(), steps).prop_map(|(config, seed, steps)| Self {
            config: Arc::new(config),
            seed,
            steps,
        })
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {} and {} steps", self.seed, self.steps.len())
    }
}

fn millis(count: impl Strategy<Value = u64>) -> impl Strategy<Value = Duration> {
    count.prop_map(Duration::from_millis)
}

/// The defaults, the seed's rules, and rules at the edge of what is allowed.
pub(crate) fn config() -> impl Strategy<Value = Config> {
    let odd = combined(policies(lists(deadlines(confirmation(Just(Config::default()))))));
    prop_oneof![
        2 => Just(Config::default()),
        2 => Just(Config::seed_literal()),
        2 => combined(Just(Config::default())),
        6 => odd,
    ]
}

fn confirmation(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    let waits = (
        millis(select(vec![1, 2, 1_001, 15_000])),
        millis(select(vec![0, 1, 1_500, 20_000])),
        millis(select(vec![1, 300, 16_000])),
        millis(select(vec![1, 333, 1_000])),
    );
    let lengths = select(vec![0_usize, 1, 3, 40, 64]);
    (base, lengths, any::<bool>(), waits).prop_map(|(mut config, length, fallback, waits)| {
        config.fingerprint_length = length;
        config.any_message_fallback = fallback;
        (config.delivery_timeout, config.quiet_period, config.poll_first, config.poll_interval) =
            waits;
        config
    })
}

fn deadlines(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    let start = option::of(millis(select(vec![1, 1_000, 45_000])));
    let run = option::of(millis(select(vec![1, 2_000, 600_000])));
    let grace = millis(select(vec![0, 1, 30_000]));
    let forget = millis(select(vec![1, 3_000, 600_000]));
    (base, start, run, 0..3_u8, grace, forget).prop_map(
        |(mut config, start, run, retriggers, grace, forget)| {
            config.start_deadline = start;
            config.run_deadline = run;
            config.retriggers = retriggers;
            config.late_grace = grace;
            config.forget_after = forget;
            config
        },
    )
}

fn lists(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    let refresh = millis(select(vec![1, 100, 10_000]));
    let fresh = millis(select(vec![0, 1, 60_000]));
    let recount = millis(select(vec![1, 30_000]));
    let ceilings = (option::of(1..5_u32), option::of(1..4_u32));
    let ends = (
        option::of(1..3_u32),
        option::of(millis(select(vec![1, 5_000, 120_000]))),
        option::of(millis(select(vec![1, 2_000, 60_000]))),
    );
    (base, refresh, fresh, recount, any::<bool>(), ceilings, ends).prop_map(
        |(mut config, refresh, fresh, recount, shuffle, ceilings, ends)| {
            config.discussion_cycles_max = ends.0;
            config.discussion_time_max = ends.1;
            config.overdue_archive_after = ends.2;
            config.refresh_deadline = refresh;
            config.list_fresh = fresh;
            config.recount_interval = recount;
            config.shuffle_first = shuffle;
            (config.turns_max, config.cycles_max) = ceilings;
            config.discussion_turns_max = ceilings.0.map(|most| most + 1);
            config
        },
    )
}

fn policies(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    let interrupts = vec![InterruptPolicy::RestartCycle, InterruptPolicy::AdvanceNormally];
    let cleanups = vec![
        TriggerCleanup::Immediate,
        TriggerCleanup::OnNext,
        TriggerCleanup::After(Duration::ZERO),
        TriggerCleanup::After(Duration::from_secs(2)),
        TriggerCleanup::Never,
    ];
    let idle = (
        millis(select(vec![0, 1_000, 600_000])),
        millis(select(vec![0, 15_000])),
        millis(select(vec![0, 60_000])),
    );
    (base, select(interrupts), select(cleanups), any::<bool>(), idle).prop_map(
        |(mut config, interrupt, cleanup, bots, idle)| {
            config.interrupt = interrupt;
            config.trigger_cleanup = cleanup;
            config.bots_qualify = bots;
            (config.reminder_interval, config.farewell, config.bot_notice_interval) = idle;
            config
        },
    )
}

/// Every policy on top of the turns, in any combination.
fn combined(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    combined_words(combined_turns(base))
}

/// How long turns last, and who has them.
fn combined_turns(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    let end = option::of(millis(select(vec![1, 1_500, 45_000, 90_000])));
    let slow = option::of(millis(select(vec![1, 1_000, 2_000])));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (base, 0..4_u8, end, slow, flags).prop_map(|(mut config, continuations, end, slow, flags)| {
        config.continuations = continuations;
        config.turn_deadline = end;
        config.slow_after = slow;
        (
            config.announce_timeouts,
            config.announce_offline,
            config.auto_requeue,
            config.skip_passed,
            config.mention_rounds,
        ) = flags;
        config
    })
}

/// What humans' words do, and what is spent.
fn combined_words(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    let words = vec![HumanInterrupt::Inject, HumanInterrupt::Queue, HumanInterrupt::Interrupt];
    let wakes = vec![WakeRule::FirstInList, WakeRule::NextAfterSender];
    let consult = millis(select(vec![1, 2_000, 30_000]));
    let outage = millis(select(vec![1, 5_000, 3_600_000]));
    let consult = (consult, outage);
    let budgets = (option::of(1..6_u32), option::of(1..4_u32), option::of(1..6_u64));
    let cap = option::weighted(0.3, 1..4_u8);
    let some = option::weighted(0.3, budgets);
    (base, select(words), select(wakes), consult, cap, some).prop_map(
        |(mut config, words, wake, consult, cap, budgets)| {
            config.human_interrupt = words;
            config.wake_rule = wake;
            (config.consult_deadline, config.outage_max) = consult;
            config.agent_turns_per_hour = cap;
            (config.budget_turns, config.budget_cycles, config.budget_cost) =
                budgets.unwrap_or_default();
            config
        },
    )
}

/// A channel that is created and then mostly led on.
pub(crate) fn conversation() -> impl Strategy<Value = Vec<Step>> {
    let next = prop_oneof![
        12 => (short_pause(), act()).prop_map(|(after, act)| Step::act(after, act)),
        3 => Just(Step::DeadlineTick),
        3 => (pause(), input()).prop_map(|(after, input)| Step::input(after, input)),
        1 => Just(Step::Restart),
    ];
    (creation(), vec(next, 0..120)).prop_map(|(creation, mut steps)| {
        steps.insert(0, Step::input(0, Input::Create(creation)));
        steps
    })
}

/// Inputs that know nothing of each other.
pub(crate) fn nonsense() -> impl Strategy<Value = Vec<Step>> {
    let next = prop_oneof![
        12 => (pause(), input()).prop_map(|(after, input)| Step::input(after, input)),
        2 => Just(Step::DeadlineTick),
        1 => Just(Step::Restart),
    ];
    vec(next, 0..150)
}

/// Steps out of any bytes.
pub(crate) fn any_bytes() -> impl Strategy<Value = Vec<Step>> {
    vec(any::<u8>(), 0..1_600).prop_map(|bytes| Step::sequence_from_bytes(&bytes))
}

fn short_pause() -> impl Strategy<Value = i64> {
    prop_oneof![4 => Just(0), 4 => 0..2_000_i64, 1 => -500..20_000_i64]
}

fn pause() -> impl Strategy<Value = i64> {
    prop_oneof![3 => short_pause(), 1 => -100_000..1_000_000_i64]
}

fn agent() -> impl Strategy<Value = AgentKey> {
    (1..5_u32).prop_map(AgentKey::new)
}

fn agents() -> impl Strategy<Value = Vec<AgentKey>> {
    prop_oneof![
        5 => Just(vec![1, 2, 3]),
        5 => vec(1..5_u32, 0..6),
        1 => Just((0..65).collect::<Vec<u32>>()),
    ]
    .prop_map(|keys| keys.into_iter().map(AgentKey::new).collect())
}

fn run() -> impl Strategy<Value = Option<RunId>> {
    option::weighted(0.8, (0..6_u64).prop_map(RunId::new))
}

fn message_id() -> impl Strategy<Value = MessageId> {
    (0..40_u64).prop_map(MessageId::new)
}

fn ahead() -> impl Strategy<Value = i8> {
    prop_oneof![4 => Just(1), 2 => -4..6_i8]
}

fn tail() -> impl Strategy<Value = Tail> {
    select(vec!["one two", "one", "two", "o", "", "```\n```"]).prop_map(Tail::of)
}

fn author() -> impl Strategy<Value = Author> {
    prop_oneof![
        4 => Just(Author::Human),
        6 => agent().prop_map(Author::Agent),
        1 => Just(Author::Bot),
        1 => Just(Author::Moderator),
    ]
}

fn kind() -> impl Strategy<Value = MessageKind> {
    prop_oneof![
        12 => Just(MessageKind::Conversation),
        1 => Just(MessageKind::System),
        1 => Just(MessageKind::StopWord),
        2 => Just(MessageKind::ResumeWord),
    ]
}

fn mode() -> impl Strategy<Value = Mode> {
    select(vec![Mode::Chat, Mode::Chat, Mode::Discussion, Mode::None, Mode::Report, Mode::Work])
}

fn creation() -> impl Strategy<Value = Creation> {
    let initiator = option::weighted(0.1, agent());
    (mode(), agents(), initiator, agent()).prop_map(|(mode, members, initiator, opener)| {
        let opened = (mode == Mode::Discussion).then_some(opener);
        Creation { mode, members, initiator: initiator.or(opened) }
    })
}

fn settlement() -> impl Strategy<Value = Settlement> {
    let about_now = (0..60_000_u64).prop_map(|at| Timestamp::from_millis(1_750_000_000_000 + at));
    prop_oneof![
        4 => option::of(message_id()).prop_map(|message| Settlement::Done { message }),
        2 => option::of(about_now).prop_map(|retry_at| Settlement::Failed { retry_at }),
        1 => Just(Settlement::Doubtful),
        1 => Just(Settlement::Dropped),
    ]
}

fn end() -> impl Strategy<Value = EndOutcome> {
    prop_oneof![
        5 => tail().prop_map(|tail| EndOutcome::Spoke(Box::new(tail))),
        2 => tail().prop_map(|tail| EndOutcome::Unfinished(Box::new(tail))),
        1 => tail().prop_map(|tail| EndOutcome::AwaitsHuman(Box::new(tail))),
        2 => Just(EndOutcome::Pass),
        1 => Just(EndOutcome::Failed),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let boxed = || tail().prop_map(Box::new);
    let proceed = (any::<u8>(), ahead(), boxed(), agents());
    prop_oneof![
        30 => proceed.prop_map(|(choice, ahead, tail, agents)| Act::Proceed { choice, ahead, tail, agents }),
        3 => run().prop_map(|run| Act::Gate { run }),
        2 => Just(Act::GateAnew),
        2 => Just(Act::GateAgain),
        2 => Just(Act::Reply),
        1 => any::<bool>().prop_map(|posted| Act::GiveUp { posted }),
        2 => (0..12_u8, author(), boxed())
            .prop_map(|(back, author, tail)| Act::SayLate { back, author, tail }),
        4 => end().prop_map(|outcome| Act::End { outcome }),
        2 => prop_oneof![20 => 0..3_u8, 1 => 250..=255_u8].prop_map(|count| Act::Receipt { count }),
        5 => (ahead(), boxed()).prop_map(|(ahead, tail)| Act::SpeakerSays { ahead, tail }),
        6 => (author(), kind(), boxed())
            .prop_map(|(author, kind, tail)| Act::Say { author, kind, tail }),
        2 => (0..3_u8, boxed()).prop_map(|(back, tail)| Act::Edit { back, tail }),
        4 => agents().prop_map(|agents| Act::Members { agents }),
        2 => agents().prop_map(|agents| Act::Address { agents }),
        2 => any::<u8>().prop_map(|place| Act::Choose { place }),
        1 => option::of(any::<u8>()).prop_map(|place| Act::Crash { place }),
        2 => (any::<bool>(), agent())
            .prop_map(|(assigned, agent)| Act::Return { assigned, agent }),
        2 => settlement().prop_map(|settlement| Act::Answer { settlement }),
        6 => (0..4_u8, settlement())
            .prop_map(|(nth, settlement)| Act::Settle { nth, settlement }),
    ]
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        6 => runs(),
        5 => talk(),
        4 => people(),
        4 => orders(),
    ]
}

fn runs() -> impl Strategy<Value = Input> {
    let outcome = end().prop_map(|end| match end {
        EndOutcome::Pass => Outcome::Pass,
        EndOutcome::Spoke(tail) => Outcome::Spoke { tail: *tail },
        EndOutcome::Failed => Outcome::Failed,
        EndOutcome::Unfinished(tail) => Outcome::Unfinished { tail: *tail },
        EndOutcome::AwaitsHuman(tail) => Outcome::AwaitsHuman { tail: *tail },
    });
    let asks = (option::weighted(0.9, agent()), run(), option::of(message_id()));
    prop_oneof![
        4 => asks.prop_map(|(agent, run, latest)| Input::Gate { agent, run, latest }),
        3 => (agent(), run(), outcome)
            .prop_map(|(agent, run, outcome)| Input::RunEnded { agent, run, outcome }),
        1 => (agent(), run(), vec(message_id(), 0..3))
            .prop_map(|(agent, run, messages)| Input::Receipt { agent, run, messages }),
        1 => any::<bool>().prop_map(|rerun| Input::RunsLost { rerun }),
        1 => (agent(), run()).prop_map(|(agent, run)| Input::Replied { agent, run }),
        1 => (agent(), run(), any::<bool>())
            .prop_map(|(agent, run, posted)| Input::Undelivered { agent, run, posted }),
    ]
}

fn talk() -> impl Strategy<Value = Input> {
    let late = || proptest::bool::weighted(0.2);
    let message = (message_id(), author(), kind(), tail(), late()).prop_map(
        |(id, author, kind, tail, backfilled)| {
            Input::Message(Message { id, author, kind, tail, backfilled })
        },
    );
    let addressed = (message_id(), author(), kind(), agents(), late()).prop_map(
        |(id, author, kind, agents, backfilled)| {
            let message = Message { id, author, kind, tail: Tail::of("you"), backfilled };
            Input::Addressed { message, agents }
        },
    );
    let ticket = || (0..30_u64).prop_map(Ticket::new);
    prop_oneof![
        4 => message,
        1 => addressed,
        1 => (message_id(), author(), tail())
            .prop_map(|(id, author, tail)| Input::MessageEdited { id, author, tail }),
        1 => (ticket(), agents()).prop_map(|(ticket, agents)| Input::Members { ticket, agents }),
        1 => (ticket(), settlement())
            .prop_map(|(ticket, settlement)| Input::Settled { ticket, settlement }),
    ]
}

fn people() -> impl Strategy<Value = Input> {
    prop_oneof![
        agent().prop_map(Input::MemberJoined),
        agent().prop_map(Input::MemberLeft),
        agent().prop_map(Input::Mute),
        agent().prop_map(Input::Unmute),
        agent().prop_map(Input::Offline),
        agent().prop_map(Input::Online),
        agent().prop_map(Input::Assign),
        Just(Input::Tick),
    ]
}

fn orders() -> impl Strategy<Value = Input> {
    let causes = vec![WakeCause::Operator, WakeCause::Guide, WakeCause::Result];
    let odd = config().prop_map(|mut config| {
        config.turns_max = config.turns_max.map(|max| max - 1);
        config
    });
    prop_oneof![
        4 => (option::of(agent()), select(causes))
            .prop_map(|(first, cause)| Input::Wake { first, cause }),
        1 => agent().prop_map(|by| Input::Conclude { by }),
        1 => Just(Input::Archive),
        2 => Just(Input::Stop),
        2 => Just(Input::Hold),
        1 => Just(Input::Finish),
        2 => agent().prop_map(Input::SpeakNext),
        1 => (0..4_u64).prop_map(|cost| Input::Spent { cost }),
        1 => Just(Input::ResetBudget),
        4 => Just(Input::Resume),
        3 => any::<bool>().prop_map(|away| Input::Chat { away }),
        2 => Just(Input::TriggerAgain),
        2 => creation().prop_map(Input::Create),
        2 => mode().prop_map(Input::SetMode),
        2 => odd.prop_map(|config| Input::Reconfigure(Arc::new(config))),
    ]
}
