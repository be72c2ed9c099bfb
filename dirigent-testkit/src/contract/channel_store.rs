//! The contract that every [`ChannelStore`] keeps.

mod barred;

use std::sync::Arc;

use async_trait::async_trait;
use dirigent::hooks::{RunId, TurnId};
use dirigent::operate::{Cause, Transition};
use dirigent::ports::{
    AllowedMentions, Embed, EmbedAuthor, EmbedFooter, Extras, GuildId, Nonce, ReplyFile, RoleId,
};
use dirigent::snapshot::PhaseKind;
use dirigent::store::{
    Barred, ChannelRecord, ChannelStore, Commit, CommitError, Discussion, Durability, GapFrom,
    OutboxKind, OutboxMessage, Outgoing, OutgoingPart, ReadMark, ReplyEnd, Revision, Writer,
};
use dirigent::{ChannelId, MessageId, Mode, UserId};
use dirigent_core::view::Span;
use dirigent_core::{AgentKey, Creation, Input, Timestamp, TurnMachine};

use super::report::{ContractReport, Failures, Outcome, checks, ensure, equal, left_out, works};
use barred::{
    a_damaged_record_bars_its_channel_alone_and_stays_listed,
    a_damaged_record_can_be_deleted_and_a_newer_one_cannot,
    a_damaged_record_is_replaced_by_a_commit_that_says_so_and_by_no_other,
    a_newer_record_bars_its_channel_alone_and_is_never_replaced,
};

/// Makes stores for the suite. A function that makes an empty store is a harness, too.
///
/// ```
/// use std::sync::Arc;
/// use dirigent::store::{ChannelStore, MemoryChannels};
/// use dirigent_testkit::contract;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), contract::Failures> {
/// let factory = || Arc::new(MemoryChannels::default()) as Arc<dyn ChannelStore>;
/// contract::channel_store(&factory).await?;
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ChannelStoreHarness: Send + Sync {
    /// Returns a new empty store.
    fn fresh(&self) -> Arc<dyn ChannelStore>;

    /// Opens the store again from the place where it keeps its data. Return `None` if it keeps none,
    /// and some checks are left out.
    async fn reopened(&self, store: Arc<dyn ChannelStore>) -> Option<Arc<dyn ChannelStore>> {
        let _ = store;
        None
    }

    /// Spoils the stored record of this channel from outside, and opens the store again. The record
    /// is then damaged, or looks like that of a newer version. Return `None` if only the store can
    /// reach its records, and some checks are left out.
    async fn spoilt(
        &self,
        store: Arc<dyn ChannelStore>,
        channel: ChannelId,
        how: Barred,
    ) -> Option<Arc<dyn ChannelStore>> {
        let _ = (store, channel, how);
        None
    }
}

impl<F> ChannelStoreHarness for F
where
    F: Fn() -> Arc<dyn ChannelStore> + Send + Sync,
{
    fn fresh(&self) -> Arc<dyn ChannelStore> {
        self()
    }
}

/// Runs all checks of the contract.
///
/// # Errors
///
/// Returns the checks that failed.
pub async fn channel_store(harness: &dyn ChannelStoreHarness) -> Result<ContractReport, Failures> {
    let mut report = ContractReport::new("channel_store");
    checks!(report, harness;
        a_fresh_store_knows_nothing,
        what_was_committed_is_loaded,
        every_kind_of_record_comes_back_whole,
        revisions_rise_by_one,
        a_commit_from_another_revision_conflicts_and_changes_nothing,
        channels_do_not_disturb_each_other,
        agents_keep_their_keys,
        the_newest_of_the_history_is_kept,
        a_deleted_channel_was_never_seen,
    );
    if harness.reopened(harness.fresh()).await.is_some() {
        checks!(report, harness;
            what_was_committed_survives_reopening,
            a_deleted_channel_stays_deleted,
        );
    } else {
        left_out!(report;
            what_was_committed_survives_reopening,
            a_deleted_channel_stays_deleted,
        );
    }
    let store = harness.fresh();
    works_on(&*store).await;
    if harness.spoilt(store, HERE, Barred::Damaged).await.is_some() {
        checks!(report, harness;
            a_damaged_record_bars_its_channel_alone_and_stays_listed,
            a_damaged_record_is_replaced_by_a_commit_that_says_so_and_by_no_other,
            a_newer_record_bars_its_channel_alone_and_is_never_replaced,
            a_damaged_record_can_be_deleted_and_a_newer_one_cannot,
        );
    } else {
        left_out!(report;
            a_damaged_record_bars_its_channel_alone_and_stays_listed,
            a_damaged_record_is_replaced_by_a_commit_that_says_so_and_by_no_other,
            a_newer_record_bars_its_channel_alone_and_is_never_replaced,
            a_damaged_record_can_be_deleted_and_a_newer_one_cannot,
        );
    }
    report.finish()
}

const HERE: ChannelId = ChannelId::new(100_000_000_000_000_001);
const THERE: ChannelId = ChannelId::new(100_000_000_000_000_002);

async fn a_fresh_store_knows_nothing(harness: &dyn ChannelStoreHarness) -> Outcome {
    let store = harness.fresh();
    equal("channels", &works("channels", store.channels().await)?, &Vec::new())?;
    equal("agents", &works("agents", store.agents().await)?, &Vec::new())?;
    ensure(works("load", store.load(HERE).await)?.is_none(), "a channel came from nowhere")
}

async fn what_was_committed_is_loaded(harness: &dyn ChannelStoreHarness) -> Outcome {
    let store = harness.fresh();
    commit(&*store, HERE, 0, &dormant()).await?;
    holds(&*store, HERE, 1, &dormant()).await?;
    equal("channels", &works("channels", store.channels().await)?, &vec![HERE])
}

async fn every_kind_of_record_comes_back_whole(harness: &dyn ChannelStoreHarness) -> Outcome {
    let store = harness.fresh();
    let records =
        [ChannelRecord::default(), dormant(), talking(), replying(), discussing(), dormant()];
    for (revision, record) in (0..).zip(&records) {
        commit(&*store, HERE, revision, record).await?;
        holds(&*store, HERE, revision + 1, record).await?;
    }
    Ok(())
}

async fn revisions_rise_by_one(harness: &dyn ChannelStoreHarness) -> Outcome {
    let store = harness.fresh();
    for revision in 0..5 {
        let found = commit(&*store, HERE, revision, &dormant()).await?;
        equal("the revision", &found, &Revision::new(revision + 1))?;
    }
    Ok(())
}

async fn a_commit_from_another_revision_conflicts_and_changes_nothing(
    harness: &dyn ChannelStoreHarness,
) -> Outcome {
    let store = harness.fresh();
    commit(&*store, HERE, 0, &dormant()).await?;
    for stale in [0, 2, u64::MAX] {
        let attempt = store.commit(request(HERE, stale, &talking())).await;
        match attempt {
            Err(CommitError::Conflict { found }) => {
                equal("what was found", &found, &Revision::new(1))?;
            }
            Err(error) => return Err(format!("expected a conflict, found: {error}")),
            Ok(_) => return Err(format!("a commit from revision {stale} was taken")),
        }
        holds(&*store, HERE, 1, &dormant()).await?;
    }
    Ok(())
}

async fn channels_do_not_disturb_each_other(harness: &dyn ChannelStoreHarness) -> Outcome {
    let store = harness.fresh();
    commit(&*store, HERE, 0, &dormant()).await?;
    commit(&*store, THERE, 0, &talking()).await?;
    commit(&*store, HERE, 1, &replying()).await?;
    holds(&*store, HERE, 2, &replying()).await?;
    holds(&*store, THERE, 1, &talking()).await
}

async fn agents_keep_their_keys(harness: &dyn ChannelStoreHarness) -> Outcome {
    let store = harness.fresh();
    for (name, number) in [("zoe", 0), ("adam", 1), ("zoe", 0), ("mia", 2), ("adam", 1)] {
        let key = works("add_agent", store.add_agent(name.into()).await)?;
        equal(name, &key, &AgentKey::new(number))?;
    }
    let expected = ["zoe", "adam", "mia"].map(Into::into).to_vec();
    equal("agents", &works("agents", store.agents().await)?, &expected)
}

async fn the_newest_of_the_history_is_kept(harness: &dyn ChannelStoreHarness) -> Outcome {
    let store = harness.fresh();
    works("add_agent", store.add_agent("zoe".into()).await)?;
    let max = store.history_max();
    let changes: Vec<_> = (0..2 * max as u64 + 3).map(transition).collect();
    for (revision, pair) in (0..).zip(changes.chunks(2)) {
        let mut request = request(HERE, revision, &dormant());
        request.transitions = pair.to_vec().into();
        works("commit", store.commit(request).await)?;
    }
    let kept = works("history", store.history(HERE).await)?;
    let newest = changes.get(changes.len().saturating_sub(max)..).unwrap_or_default();
    equal("the history", &kept.as_slice(), &newest)?;
    equal("another's history", &works("history", store.history(THERE).await)?, &Vec::new())
}

async fn a_deleted_channel_was_never_seen(harness: &dyn ChannelStoreHarness) -> Outcome {
    let store = harness.fresh();
    equal("deleted", &works("delete", store.delete(HERE).await)?, &false)?;
    let mut request = request(HERE, 0, &replying());
    request.transitions = vec![transition(1)].into();
    works("commit", store.commit(request).await)?;
    commit(&*store, HERE, 1, &talking()).await?;
    commit(&*store, THERE, 0, &talking()).await?;
    equal("deleted", &works("delete", store.delete(HERE).await)?, &true)?;
    ensure(works("load", store.load(HERE).await)?.is_none(), "a deleted channel is still there")?;
    equal("the history", &works("history", store.history(HERE).await)?, &Vec::new())?;
    equal("channels", &works("channels", store.channels().await)?, &vec![THERE])?;
    equal("deleted again", &works("delete", store.delete(HERE).await)?, &false)?;
    holds(&*store, THERE, 1, &talking()).await?;
    commit(&*store, HERE, 0, &dormant()).await?;
    holds(&*store, HERE, 1, &dormant()).await
}

async fn a_deleted_channel_stays_deleted(harness: &dyn ChannelStoreHarness) -> Outcome {
    let store = harness.fresh();
    for revision in 0..4 {
        commit(&*store, HERE, revision, &talking()).await?;
        commit(&*store, THERE, revision, &talking()).await?;
    }
    works("delete", store.delete(HERE).await)?;
    works("delete", store.delete(THERE).await)?;
    // It counts from the beginning, so no older record comes back.
    commit(&*store, THERE, 0, &dormant()).await?;
    let Some(store) = harness.reopened(store).await else {
        return Err("the store cannot be reopened any more".to_owned());
    };
    equal("channels", &works("channels", store.channels().await)?, &vec![THERE])?;
    ensure(works("load", store.load(HERE).await)?.is_none(), "a deleted channel came back")?;
    holds(&*store, THERE, 1, &dormant()).await
}

fn transition(number: u64) -> Transition {
    Transition {
        at: Timestamp::from_millis(number * 1_000),
        from: PhaseKind::Dormant,
        to: PhaseKind::Granted,
        agent: (number % 2 == 0).then_some(AgentKey::new(0)),
        turn: TurnId::new(number),
        cause: Cause::HumanMessage,
    }
}

async fn what_was_committed_survives_reopening(harness: &dyn ChannelStoreHarness) -> Outcome {
    let store = harness.fresh();
    works("add_agent", store.add_agent("zoe".into()).await)?;
    commit(&*store, HERE, 0, &talking()).await?;
    let Some(store) = harness.reopened(store).await else {
        return Err("the store cannot be reopened any more".to_owned());
    };
    holds(&*store, HERE, 1, &talking()).await?;
    equal("agents", &works("agents", store.agents().await)?, &vec!["zoe".into()])
}

fn request(channel: ChannelId, expected: u64, record: &ChannelRecord) -> Commit {
    Commit {
        channel,
        expected: Revision::new(expected),
        record: record.clone().into(),
        durability: Durability::Turn,
        transitions: Arc::default(),
        replaces_damaged: false,
    }
}

async fn commit(
    store: &dyn ChannelStore,
    channel: ChannelId,
    expected: u64,
    record: &ChannelRecord,
) -> Result<Revision, String> {
    works("commit", store.commit(request(channel, expected, record)).await)
}

/// Writes a record to spoil.
async fn works_on(store: &dyn ChannelStore) {
    // A store that fails here fails in the checks.
    let _ = commit(store, HERE, 0, &dormant()).await;
}

async fn holds(
    store: &dyn ChannelStore,
    channel: ChannelId,
    revision: u64,
    record: &ChannelRecord,
) -> Outcome {
    let Some(stored) = works("load", store.load(channel).await)? else {
        return Err(format!("channel {channel} is not there"));
    };
    equal("the revision", &stored.revision, &Revision::new(revision))?;
    ensure(stored.record == *record, "the record came back changed")
}

/// Returns the record of a channel after these inputs, one second apart.
fn after(inputs: &[Input]) -> ChannelRecord {
    let mut channel = TurnMachine::new(Arc::default(), 7);
    let mut effects = Vec::new();
    for (input, second) in inputs.iter().zip(1..) {
        let now = Timestamp::from_millis(second * 1_000);
        // A refusal would show in the comparison.
        let _ = channel.handle(now, input, &mut effects);
    }
    let mut record = ChannelRecord::default();
    record.snapshot.clone_from(channel.snapshot());
    record
}

/// Returns the record of a discussion with a half-posted guide and a finished result.
fn discussing() -> ChannelRecord {
    let members = [1, 2, 3].map(AgentKey::new).to_vec();
    let initiator = Some(AgentKey::new(2));
    let open = Input::Create(Creation { mode: Mode::Discussion, members, initiator });
    let mut record = after(&[open, Input::Conclude { by: AgentKey::new(2) }]);
    record.discussion = Some(Arc::new(Discussion {
        callback: THERE,
        callback_guild: Some(GuildId::new(100_000_000_000_000_003)),
        guide: "Which plan?\n\u{1f914} \"both\" is no answer".to_owned(),
    }));
    let part = |number, posted| OutgoingPart {
        content: format!("part {number}").into(),
        nonce: Nonce::from_parts(1, 2, number),
        posted,
    };
    let message = |kind, to, after: Option<MessageId>, parts| {
        let tried = after.is_some();
        OutboxMessage { kind, to, after, at: after_ms(7), tried, parts }
    };
    record.gap_from = Some(GapFrom::Start);
    record.outbox = vec![
        message(
            OutboxKind::Guide,
            HERE,
            Some(MessageId::new(0)),
            vec![part(1, Some(MessageId::new(u64::MAX))), part(2, None)],
        ),
        message(OutboxKind::Result, THERE, None, vec![part(3, None)]),
    ];
    record
}

const fn after_ms(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn created() -> Input {
    let members = [1, 2, 3, 4].map(AgentKey::new).to_vec();
    Input::Create(Creation { mode: Mode::Chat, members, initiator: None })
}

/// Returns the record of a dormant chat of four.
fn dormant() -> ChannelRecord {
    let rested = after(&[created(), Input::Mute(AgentKey::new(3))]);
    let writer = Some(Writer { process: 0x5eed, count: 9 });
    ChannelRecord { heard: Some(MessageId::new(41)), writer, ..rested }
}

/// Returns the record of a chat of four in which the first agent has the floor, with a pending
/// effect and a run.
fn talking() -> ChannelRecord {
    let wake = Input::Wake { first: None, cause: dirigent::operate::WakeCause::Operator };
    let (agent, run) = (Some(AgentKey::new(1)), Some(RunId::new(5)));
    after(&[created(), wake, Input::Gate { agent, run, latest: None }])
}

/// Returns everything that a reply may have besides its text.
fn extras() -> Extras {
    let address = "https://example.org/i.png?a=\"b\"";
    let footer = EmbedFooter { text: "a footer".to_owned(), icon_url: Some(address.to_owned()) };
    let (url, icon_url) = (Some(address.to_owned()), Some("http://example.org".to_owned()));
    let author = EmbedAuthor { name: "名".to_owned(), url, icon_url };
    let embed = Embed::new().title("a \"title\"").description("two\nlines").url(address);
    let embed = embed.colour(0xff_ff_ff).timestamp(after_ms(u64::MAX)).image(address);
    let embed = embed.thumbnail(address).field("one", "1", true).field("two", "\u{1f914}", false);
    let mentions = AllowedMentions {
        users: vec![UserId::new(u64::MAX), UserId::new(1)],
        roles: vec![RoleId::new(u64::MAX)],
        everyone: true,
        replied_user: true,
    };
    Extras {
        embeds: vec![
            Embed { footer: Some(footer), author: Some(author), ..embed },
            Embed::new().footer("bare").author("bare"),
        ],
        reply_to: Some(MessageId::new(u64::MAX)),
        next: Some("next".into()),
        mentions,
        files: vec![ReplyFile::from("a.txt".to_owned())],
    }
}

/// Returns the record of that chat while a reply of two parts is being posted.
fn replying() -> ChannelRecord {
    let part = |number: u64| OutgoingPart {
        content: format!("part {number} — with \"quotes\", \n lines and 漢字").into(),
        nonce: Nonce::from_parts(HERE.get(), 1_000, number),
        posted: (number == 0).then(|| MessageId::new(9)),
    };
    let outgoing = Outgoing {
        agent: AgentKey::new(1),
        turn: TurnId::new(1),
        run: RunId::new(5),
        end: ReplyEnd::Unfinished,
        parts: vec![part(0), part(1)],
        after: Some(MessageId::new(8)),
        composed_at: Some(after_ms(2)),
        doubt_since: Some(after_ms(3)),
        waiting_since: Some(after_ms(u64::MAX)),
        extras: Some(Arc::new(extras())),
    };
    let span = |first, last| Span { first: MessageId::new(first), last: MessageId::new(last) };
    let handed = ReadMark {
        until: Some(MessageId::new(6)),
        owed: vec![span(2, 2), span(4, 5)],
        ahead: vec![MessageId::new(7), MessageId::new(u64::MAX)],
        ..ReadMark::new(AgentKey::new(1))
    };
    ChannelRecord {
        outgoing: Some(Arc::new(outgoing)),
        handed: vec![handed, ReadMark::new(AgentKey::new(0))],
        unserved: Some(span(3, 7)),
        heard: Some(MessageId::new(7)),
        verified: Some(MessageId::new(6)),
        known: vec![MessageId::new(6), MessageId::new(u64::MAX)],
        gap_from: Some(GapFrom::After(MessageId::new(5))),
        commanded_at: Some(after_ms(11)),
        writer: Some(Writer { process: u64::MAX, count: 3 }),
        ..talking()
    }
}
