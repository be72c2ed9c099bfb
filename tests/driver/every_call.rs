//! Every call that a host can make returns in time, whatever else hangs.

use std::fs;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use dirigent::hooks::RunReport;
use dirigent::operate::{CreatedChannel, Summary, WakeCause};
use dirigent::ports::{ChannelRequest, GatewayEvent};
use dirigent::{ChannelId, ChatMessage, Clock as _, Config, Dirigent, MessageId, Mode, UserId};
use dirigent_testkit::memory_discord::{Fault, Faults};
use dirigent_verify::stage::StoreFault;

use super::calls::slow;

const SECOND: Duration = Duration::from_secs(1);

/// Two waits of ten seconds, for what is read or stored, and a moment.
const LONGEST: Duration = Duration::from_secs(21);

/// What waits for as long as the host's own work or an agent's turn lasts, or until another process is noticed: that is what it is
/// for.
const WAITS: [&str; 3] = ["gives_way", "run_if_allowed", "turn"];

type Called = Pin<Box<dyn Future<Output = ()> + Send>>;

macro_rules! calls {
    ($($name:ident: |$dirigent:ident, $channel:ident| $call:expr;)*) => {
        const CALLS: &[(&str, fn(Dirigent, ChannelId) -> Called)] = &[$(
            (stringify!($name), |$dirigent, $channel| Box::pin(async move { let _ = $call.await; })),
        )*];
    };
}

fn message(channel: ChannelId) -> ChatMessage {
    ChatMessage::new(MessageId::new(u64::MAX / 2), channel, UserId::new(77), "words")
}

calls! {
    agent_offline: |d, _c| d.agent_offline(&"b".into());
    agent_online: |d, _c| d.agent_online(&"b".into());
    archive: |d, c| d.channel(c).archive();
    assign: |d, c| d.channel(c).assign(&"b".into());
    channel_deleted: |d, c| d.channel_deleted(c);
    conclude: |d, c| d.channel(c).conclude(&"a".into(), Some(Summary::Text("done".into())));
    delivered: |d, c| d.channel(c).delivered(&"a".into(), None, vec![MessageId::new(5)]);
    discussion: |d, c| d.channel(c).discussion();
    erase: |d, c| d.channel(c).erase();
    event_here: |d, c| d.event_here(GatewayEvent::MessageCreated(message(c)));
    explain: |d, c| d.channel(c).explain(&"a".into());
    finish: |d, c| d.channel(c).finish();
    heartbeat: |d, _c| d.heartbeat(&"a".into());
    history: |d, c| d.channel(c).history();
    hold: |d, c| d.channel(c).hold();
    identities_changed: |d, _c| d.identities_changed();
    may_speak: |d, c| d.channel(c).may_speak(&"a".into(), None);
    may_speak_or_defer: |d, c| d.channel(c).may_speak_or_defer(&"b".into(), None);
    member_joined: |d, c| d.member_joined(c, UserId::new(77));
    member_left: |d, c| d.member_left(c, UserId::new(77));
    message_created: |d, c| d.message_created(message(c));
    message_deleted: |d, c| d.message_deleted(c, MessageId::new(5));
    message_updated: |d, c| d.message_updated(message(c));
    mute: |d, c| d.channel(c).mute(&"b".into());
    newest_message: |d, c| d.newest_message(c, MessageId::new(u64::MAX / 2));
    newest_message_of_thread: |d, c| {
        d.newest_message_of_thread(ChannelId::new(99), c, MessageId::new(u64::MAX / 2))
    };
    participants: |d, c| d.channel(c).participants();
    reconfigure: |d, _c| d.reconfigure(Config::default());
    reconnected: |d, _c| d.reconnected();
    reconnected_here: |d, _c| d.reconnected_here();
    register: |d, _c| d.channel(ChannelId::new(99)).register(CreatedChannel::default());
    report_cost: |d, c| d.channel(c).report_cost(1);
    request: |d, c| d.channel(c).request(&ChannelRequest::Stop);
    request_here: |d, c| d.request_here(c, &ChannelRequest::WakeForResult { first: None }, SECOND);
    reset_budget: |d, c| d.channel(c).reset_budget();
    resume: |d, c| d.channel(c).resume();
    set_mode: |d, c| d.channel(c).set_mode(Mode::Report);
    shutdown: |d, _c| d.shutdown(SECOND);
    speak_next: |d, c| d.channel(c).speak_next(&"b".into());
    status: |d, c| d.channel(c).status();
    stop: |d, c| d.channel(c).stop();
    thread_seen: |d, c| d.thread_seen(ChannelId::new(99), c);
    turn_ended: |d, c| d.channel(c).turn_ended(&"a".into(), None, RunReport::Pass);
    typing_started: |d, c| d.typing_started(c, UserId::new(77));
    unmute: |d, c| d.channel(c).unmute(&"b".into());
    wake: |d, c| d.channel(c).wake(None);
    wake_for: |d, c| d.channel(c).wake_for(None, WakeCause::Operator);
}

/// F17: the agent never ends its turn, the store takes nothing, and the chat does not answer.
#[test]
fn every_public_call_returns_though_everything_outside_hangs() {
    for (name, call) in CALLS {
        let mut stage = slow().stage();
        stage.chat();
        stage.say("Hello");
        let deaf = Fault::SlowRequest { by: SECOND * 1_000 };
        stage.discord().inject(|faults| *faults = Faults::new(1).with_rate(deaf, 1_000));
        for _ in 0..50 {
            stage.store().next_commit(StoreFault::Hangs);
        }
        let (channel, began) = (stage.channel(), stage.clock().now());
        let called = stage.begin(move |dirigent| call(dirigent, channel));
        while called.take().is_none() {
            assert!(stage.step(began + LONGEST), "{name} waits for more than {LONGEST:?}");
            stage.settle();
        }
    }
}

/// F17
#[test]
fn no_public_call_is_left_out_of_the_list() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/host");
    let mut public = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let source = fs::read_to_string(entry.unwrap().path()).unwrap();
        let after = source.split("    pub async fn ").skip(1);
        let name = |text: &str| text.split(['(', '<']).next().unwrap_or_default().to_owned();
        public.extend(after.map(name));
    }
    public.retain(|name| !WAITS.contains(&name.as_str()));
    public.sort();
    let listed: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
    assert_eq!(public, listed);
}
