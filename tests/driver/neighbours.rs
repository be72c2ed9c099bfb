//! Several processes share the gateway's events: what is heard of another's channel goes to the neighbours, and what they
//! tell is taken here (D78).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::operate::{CreatedChannel, Refusal, ResultPost};
use dirigent::ports::{
    ApiError, Carried, ChannelAnswer, ChannelRequest, ErrorKind, GatewayEvent, OtherProcesses,
    Ownership, Standing,
};
use dirigent::snapshot::{AgentKey, Snapshot};
use dirigent::store::{
    ChannelRecord, ChannelStore, Commit, CommitError, LoadError, MemoryChannels, Revision,
    StoredChannel,
};
use dirigent::{
    AgentId, CallError, ChannelId, ChatMessage, Clock, Dirigent, MessageId, Mode, Settings, UserId,
    async_trait,
};
use dirigent_testkit::memory_discord::Call;
use dirigent_testkit::{ManualClock, MemoryDiscord};
use tokio::sync::Notify;

/// Channels with an even id are this process's.
struct Even;

#[async_trait]
impl Ownership for Even {
    fn standing(&self, channel: ChannelId) -> Standing {
        if channel.get() % 2 == 0 { Standing::Held } else { Standing::Elsewhere }
    }

    async fn changed(&self) -> Vec<ChannelId> {
        std::future::pending().await
    }
}

/// All channels but [`THEIRS`] are this process's.
struct AllButTheirs;

#[async_trait]
impl Ownership for AllButTheirs {
    fn standing(&self, channel: ChannelId) -> Standing {
        if channel == THEIRS { Standing::Elsewhere } else { Standing::Held }
    }

    async fn changed(&self) -> Vec<ChannelId> {
        std::future::pending().await
    }
}

/// All channels stand to this process like this.
struct Always(Standing);

#[async_trait]
impl Ownership for Always {
    fn standing(&self, _: ChannelId) -> Standing {
        self.0
    }

    async fn changed(&self) -> Vec<ChannelId> {
        std::future::pending().await
    }
}

#[derive(Default)]
struct Queue {
    events: Mutex<Vec<GatewayEvent>>,
    gaps: Mutex<u32>,
}

impl OtherProcesses for Queue {
    fn heard(&self, event: GatewayEvent) {
        self.events.lock().unwrap().push(event);
    }

    fn reconnected(&self) {
        *self.gaps.lock().unwrap() += 1;
    }
}

fn started(queue: Option<Arc<Queue>>) -> Dirigent {
    started_with(Even, queue)
}

fn started_with(ownership: impl Ownership, queue: Option<Arc<Queue>>) -> Dirigent {
    let clock = ManualClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock.clone()));
    let builder =
        Dirigent::builder(discord.account(discord.add_bot())).clock(clock).ownership(ownership);
    let builder = match queue {
        Some(queue) => builder.neighbours(queue),
        None => builder,
    };
    let (dirigent, driver) = builder.build().unwrap();
    tokio::spawn(driver.run());
    dirigent
}

const OURS: ChannelId = ChannelId::new(200_000_000_000_000_000);
const THEIRS: ChannelId = ChannelId::new(200_000_000_000_000_001);

/// One event of each kind, told by the function for it.
async fn tell_all(dirigent: &Dirigent, channel: ChannelId) -> Vec<GatewayEvent> {
    let (message, user) = (MessageId::new(7), UserId::new(9));
    let said = ChatMessage::new(message, channel, user, "Hello");
    dirigent.message_created(said.clone()).await.unwrap();
    dirigent.message_updated(said.clone()).await.unwrap();
    dirigent.message_deleted(channel, message).await.unwrap();
    dirigent.member_joined(channel, user).await.unwrap();
    dirigent.member_left(channel, user).await.unwrap();
    dirigent.newest_message(channel, message).await.unwrap();
    dirigent.newest_message_of_thread(channel, OURS, message).await.unwrap();
    dirigent.thread_seen(channel, OURS).await.unwrap();
    dirigent.channel_deleted(channel).await.unwrap();
    vec![
        GatewayEvent::MessageCreated(said.clone()),
        GatewayEvent::MessageUpdated(said),
        GatewayEvent::MessageDeleted { channel, message },
        GatewayEvent::MemberJoined { channel, user },
        GatewayEvent::MemberLeft { channel, user },
        GatewayEvent::NewestMessage { channel, message, parent: None },
        GatewayEvent::NewestMessage { channel, message, parent: Some(OURS) },
        GatewayEvent::ThreadSeen { thread: channel, parent: OURS },
        GatewayEvent::ChannelDeleted(channel),
    ]
}

/// Other processes that hear everything by themselves.
#[derive(Default)]
struct HearAll(Queue);

impl OtherProcesses for HearAll {
    fn heard(&self, event: GatewayEvent) {
        self.0.heard(event);
    }

    fn reconnected(&self) {}

    fn hear_all(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn neighbours_that_hear_everything_are_told_no_event_and_answer_their_own_commands() {
    let queue = Arc::<HearAll>::default();
    let clock = ManualClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock.clone()));
    let builder = Dirigent::builder(discord.account(discord.add_bot())).clock(clock);
    let (dirigent, driver) =
        builder.ownership(Even).neighbours(Arc::clone(&queue)).build().unwrap();
    tokio::spawn(driver.run());
    tell_all(&dirigent, THEIRS).await;
    assert_eq!(*queue.0.events.lock().unwrap(), []);
    assert!(!dirigent.channel(THEIRS).answers_commands(), "the owner hears the command, too");
    assert!(dirigent.channel(OURS).answers_commands());
    let told = started(Some(Arc::default()));
    assert!(told.channel(THEIRS).answers_commands(), "the owner hears it from here alone");
}

#[tokio::test]
async fn each_event_of_anothers_channel_goes_to_the_neighbours_once_and_none_of_ones_own() {
    let queue = Arc::<Queue>::default();
    let dirigent = started(Some(Arc::clone(&queue)));
    let told = tell_all(&dirigent, THEIRS).await;
    assert_eq!(*queue.events.lock().unwrap(), told);
    tell_all(&dirigent, OURS).await;
    assert_eq!(*queue.events.lock().unwrap(), told);
}

/// While a lease is quiet no other process acts for the channel. Once it has lapsed one may, and may have read the channel before the
/// event.
#[tokio::test]
async fn what_is_heard_after_a_lapse_goes_to_the_neighbours_and_not_before() {
    for (standing, is_carried) in [(Standing::Quiet, false), (Standing::Lapsed, true)] {
        let queue = Arc::<Queue>::default();
        let dirigent = started_with(Always(standing), Some(Arc::clone(&queue)));
        let told = tell_all(&dirigent, OURS).await;
        let carried = std::mem::take(&mut *queue.events.lock().unwrap());
        assert_eq!(carried, if is_carried { told.as_slice() } else { &[] }, "{standing:?}");
        for event in told {
            let answer = dirigent.event_here(event).await;
            let is_elsewhere = matches!(answer, Err(CallError::Elsewhere));
            assert_eq!(is_elsewhere, is_carried, "{standing:?} {answer:?}");
        }
    }
}

#[tokio::test]
async fn what_a_neighbour_tells_is_carried_no_further() {
    let queue = Arc::<Queue>::default();
    let dirigent = started(Some(Arc::clone(&queue)));
    for event in tell_all(&started(None), THEIRS).await {
        let refused = dirigent.event_here(event).await;
        assert!(matches!(refused, Err(CallError::Elsewhere)), "{refused:?}");
    }
    for event in tell_all(&started(None), OURS).await {
        dirigent.event_here(event).await.unwrap();
    }
    assert!(queue.events.lock().unwrap().is_empty());
    let poet = || AgentId::from("poet");
    for request in [
        ChannelRequest::Register(CreatedChannel::default()),
        ChannelRequest::MayConclude { by: poet() },
        ChannelRequest::Conclude { by: poet(), summary: None },
        ChannelRequest::WakeForResult { first: None },
        ChannelRequest::Stop,
        ChannelRequest::CheckTurn { agent_id: poet(), run_id: None },
        ChannelRequest::State,
        ChannelRequest::Explain { agent_id: poet() },
    ] {
        let refused = dirigent.request_here(THEIRS, &request, Duration::from_secs(1)).await;
        assert!(matches!(refused, Err(CallError::Elsewhere)), "{request:?} {refused:?}");
    }
}

/// Answers requests with these, one after the other, and then not at all.
#[derive(Default)]
struct Answering {
    answers: Mutex<VecDeque<Carried<ChannelAnswer>>>,
    asked: AtomicU32,
}

#[async_trait]
impl OtherProcesses for Answering {
    fn heard(&self, _: GatewayEvent) {}

    fn reconnected(&self) {}

    async fn request(
        &self,
        _: ChannelId,
        _: &ChannelRequest,
        _: Duration,
    ) -> Carried<ChannelAnswer> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers.lock().unwrap().pop_front();
        match answer {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }
}

/// What comes of a conclusion in another process's channel, how often that was asked, and after how many seconds there was an answer.
async fn concluded(
    answers: impl IntoIterator<Item = Carried<ChannelAnswer>>,
) -> (Result<ResultPost, CallError>, u32, u64) {
    let (clock, neighbours) = (ManualClock::new(), Arc::<Answering>::default());
    neighbours.answers.lock().unwrap().extend(answers);
    let discord = MemoryDiscord::new(Arc::new(clock.clone()));
    let (dirigent, driver) = Dirigent::builder(discord.account(discord.add_bot()))
        .clock(clock.clone())
        .ownership(Even)
        .neighbours(Arc::clone(&neighbours))
        .build()
        .unwrap();
    tokio::spawn(driver.run());
    let start = clock.now();
    let concluding =
        tokio::spawn(async move { dirigent.channel(THEIRS).conclude(&"poet".into(), None).await });
    while !concluding.is_finished() {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        if !concluding.is_finished() {
            clock.advance(Duration::from_millis(100));
        }
    }
    let took = clock.now().since(start).as_secs();
    (concluding.await.unwrap(), neighbours.asked.load(Ordering::SeqCst), took)
}

/// Where it may have been done it is not asked again, and the caller is told so.
#[tokio::test]
async fn what_a_neighbour_may_have_done_is_asked_once_and_is_a_failure_without_an_answer() {
    for (answers, after) in [(vec![Carried::InDoubt], 0), (vec![], 10)] {
        let (told, asked, took) = concluded(answers).await;
        let Err(CallError::Failed(error)) = &told else { panic!("{told:?}") };
        assert_eq!((error.kind(), asked, took), (ErrorKind::NoAnswer, 1, after));
    }
}

#[tokio::test]
async fn what_no_neighbour_did_is_asked_again_for_as_long_as_a_call_may_take() {
    let done = Carried::Answered(ChannelAnswer::Concluded(ResultPost::Posted));
    for not_done in [Carried::NoOwner, Carried::NotCarried] {
        let (told, asked, _) = concluded([not_done.clone(), not_done.clone(), done.clone()]).await;
        assert!(matches!(told, Ok(ResultPost::Posted)), "{told:?}");
        assert_eq!(asked, 3);
        let (told, _, took) = concluded(vec![not_done; 1_000]).await;
        assert!(matches!(told, Err(CallError::Elsewhere)), "{told:?}");
        assert!((9..=10).contains(&took), "{took}");
    }
    let (told, asked, _) = concluded([Carried::NoWay]).await;
    assert!(matches!(told, Err(CallError::Elsewhere)) && asked == 1, "{told:?}");
}

#[tokio::test]
async fn what_a_neighbour_refuses_is_refused_here() {
    let told = async |answer| concluded([Carried::Answered(answer)]).await.0;
    let refused = told(ChannelAnswer::Refused(Refusal::NotADiscussion)).await;
    assert!(matches!(refused, Err(CallError::Refused(Refusal::NotADiscussion))), "{refused:?}");
    let refused = told(ChannelAnswer::UnknownAgent("poet".into())).await;
    assert!(
        matches!(&refused, Err(CallError::UnknownAgent(poet)) if poet.as_str() == "poet"),
        "{refused:?}"
    );
    let refused = told(ChannelAnswer::UnknownChannel).await;
    assert!(matches!(refused, Err(CallError::UnknownChannel)), "{refused:?}");
}

#[tokio::test]
async fn a_gap_that_concerns_all_is_told_to_all_once() {
    let queue = Arc::<Queue>::default();
    let dirigent = started(Some(Arc::clone(&queue)));
    dirigent.reconnected().await.unwrap();
    assert_eq!(*queue.gaps.lock().unwrap(), 1);
    dirigent.reconnected_here().await.unwrap();
    assert_eq!(*queue.gaps.lock().unwrap(), 1);
}

/// What is told by a neighbour is heard as if the gateway had told it.
#[tokio::test]
async fn a_channel_hears_what_a_neighbour_tells() {
    let dirigent = started(None);
    let made = CreatedChannel { mode: Mode::Chat, ..CreatedChannel::default() };
    dirigent.channel(OURS).register(made).await.unwrap();
    let said = ChatMessage::new(MessageId::new(7), OURS, UserId::new(9), "stop");
    dirigent.event_here(GatewayEvent::MessageCreated(said)).await.unwrap();
    let status = dirigent.channel(OURS).status().await.unwrap().unwrap();
    assert!(status.rest.is_some(), "a person's stop word was told: {status:?}");
}

/// What the store has of [`THEIRS`].
#[derive(Clone, Copy, Debug)]
enum Theirs {
    Mode(Mode),
    Nothing,
    Damaged,
    Newer,
    Failing,
}

/// A store that several processes share.
struct SharedChannels {
    ours: MemoryChannels,
    theirs: Theirs,
    /// What [`THEIRS`] waits for, if it does.
    gate: Option<Arc<Notify>>,
}

#[async_trait]
impl ChannelStore for SharedChannels {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        self.ours.channels().await
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        if channel != THEIRS {
            return self.ours.load(channel).await;
        }
        if let Some(gate) = &self.gate {
            gate.notified().await;
        }
        match self.theirs {
            Theirs::Mode(mode) => {
                let mut snapshot = Snapshot::default();
                snapshot.state.standing.mode = mode;
                let record = ChannelRecord { snapshot, ..ChannelRecord::default() };
                Ok(Some(StoredChannel { revision: Revision::default(), record }))
            }
            Theirs::Nothing => Ok(None),
            Theirs::Damaged => Err(LoadError::damaged("cut in a test")),
            Theirs::Newer => Err(LoadError::other_version("of another version in a test")),
            Theirs::Failing => Err(ApiError::new(ErrorKind::Store).into()),
        }
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        assert_ne!(commit.channel, THEIRS);
        self.ours.commit(commit).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        self.ours.agents().await
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        self.ours.add_agent(agent).await
    }
}

/// The mode of the parent is read from the store; where it is not known, the thread is left without one.
#[tokio::test]
async fn a_thread_takes_over_the_stored_mode_of_anothers_channel() {
    for (theirs, wanted, inherited) in [
        (Theirs::Mode(Mode::Chat), true, Ok(Some(Mode::Chat))),
        (Theirs::Mode(Mode::Report), true, Ok(Some(Mode::Report))),
        (Theirs::Mode(Mode::Discussion), true, Ok(None)),
        (Theirs::Mode(Mode::Chat), false, Ok(None)),
        (Theirs::Nothing, true, Ok(None)),
        (Theirs::Damaged, true, Ok(None)),
        (Theirs::Newer, true, Ok(None)),
        (Theirs::Failing, true, Err(())),
    ] {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let settings = Settings::default().with(|settings| settings.inherit_parent_mode = wanted);
        let (dirigent, driver) = Dirigent::builder(discord.account(discord.add_bot()))
            .clock(clock)
            .channels(SharedChannels { ours: MemoryChannels::default(), theirs, gate: None })
            .ownership(Even)
            .settings(settings)
            .build()
            .unwrap();
        tokio::spawn(driver.run());
        let seen = dirigent.thread_seen(OURS, THEIRS).await;
        assert_eq!(seen.is_ok(), inherited.is_ok(), "{theirs:?}: {seen:?}");
        let status = dirigent.channel(OURS).status().await.unwrap();
        let mode = status.map(|status| status.mode);
        assert_eq!(mode, inherited.unwrap_or(None), "{theirs:?}");
    }
}

async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// What is heard of it meanwhile was not said before it had its mode, and is not read once more.
#[tokio::test]
async fn a_thread_that_is_heard_while_its_parent_is_read_is_not_read_anew() {
    let clock = ManualClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock.clone()));
    let (moderator, person) = (discord.add_bot(), discord.add_human());
    let guild = discord.add_guild(person);
    let thread = discord.add_channel(guild, "aside", &[moderator]);
    let gate = Arc::<Notify>::default();
    let theirs = Theirs::Mode(Mode::Chat);
    let store =
        SharedChannels { ours: MemoryChannels::default(), theirs, gate: Some(Arc::clone(&gate)) };
    let settings = Settings::default().with(|settings| settings.inherit_parent_mode = true);
    let builder = Dirigent::builder(discord.account(moderator)).clock(clock).settings(settings);
    let (dirigent, driver) = builder.channels(store).ownership(AllButTheirs).build().unwrap();
    tokio::spawn(driver.run());
    let newest = discord.say(thread, person, "Hello");
    let asked = dirigent.clone();
    let told =
        tokio::spawn(async move { asked.newest_message_of_thread(thread, THEIRS, newest).await });
    settle().await;
    dirigent.channel(thread).set_mode(Mode::Chat).await.unwrap();
    let before = discord.calls();
    dirigent.message_created(discord.messages(thread).pop().unwrap()).await.unwrap();
    gate.notify_one();
    told.await.unwrap().unwrap();
    settle().await;
    assert_eq!(discord.calls().since(&before).of(Call::History), 0);
}
