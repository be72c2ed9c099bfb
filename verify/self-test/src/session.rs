//! A connection to the gateway that keeps everything that it is sent.

use std::sync::Arc;
use std::time::Duration;

use dirigent::Clock;
use dirigent::ports::Timestamp;
use futures_util::StreamExt;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use twilight_gateway::{CloseFrame, Config, Message, Shard, ShardId};

use super::account::id_in;

/// How long an event may take that follows something at once.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// An event of the gateway.
#[derive(Clone)]
pub(crate) struct Event {
    /// Its name, for instance `MESSAGE_CREATE`.
    pub(crate) name: String,
    pub(crate) data: Value,
    /// When it came.
    pub(crate) at: Timestamp,
}

impl Event {
    fn read(text: &str, at: Timestamp) -> Option<Self> {
        let mut payload: Value = serde_json::from_str(text).ok()?;
        let name = payload.get("t")?.as_str()?.to_owned();
        Some(Self { name, data: payload.get_mut("d")?.take(), at })
    }

    /// Whether it says that this account types.
    pub(crate) fn is_typing(&self, account: u64) -> bool {
        let user = self.data.get("user_id").and_then(Value::as_str);
        self.name == "TYPING_START" && user.and_then(|user| user.parse().ok()) == Some(account)
    }

    /// Whether it is the event of this name about the message, guild or channel with this id.
    pub(crate) fn is(&self, name: &str, id: u64) -> bool {
        self.name == name && id_in(&self.data) == Some(id)
    }
}

/// What a shard tells.
enum Told {
    Event(Event),
    /// It was closed for good, with this code.
    Over(u16),
}

/// A connection, and what it was sent so far.
pub(crate) struct Session {
    told: mpsc::UnboundedReceiver<Told>,
    leave: mpsc::UnboundedSender<Leave>,
    task: JoinHandle<()>,
    /// All events, oldest first.
    pub(crate) events: Vec<Event>,
    /// The code with which it was closed for good.
    pub(crate) closed: Option<u16>,
}

/// Asks the task of a connection to close it so that its session can be resumed, and to stay away for a while.
struct Leave {
    left: oneshot::Sender<()>,
    come_back: oneshot::Receiver<()>,
}

impl Session {
    /// Connects.
    pub(crate) fn open(config: Config, clock: Arc<dyn Clock>) -> Self {
        let (sender, told) = mpsc::unbounded_channel();
        let (leave, leaves) = mpsc::unbounded_channel();
        let shard = Shard::with_config(ShardId::ONE, config);
        let task = tokio::spawn(listen(shard, Tell { sender, clock }, leaves));
        Self { told, leave, task, events: Vec::new(), closed: None }
    }

    /// Waits for an event among all that came and come; returns whether it is there in time.
    pub(crate) async fn wait_for(
        &mut self,
        clock: &dyn Clock,
        patience: Duration,
        is_wanted: impl Fn(&Event) -> bool + Send,
    ) -> bool {
        self.wait_for_new(clock, patience, 0, is_wanted).await
    }

    /// Waits for an event, the oldest of which is the one at this place.
    pub(crate) async fn wait_for_new(
        &mut self,
        clock: &dyn Clock,
        patience: Duration,
        place: usize,
        is_wanted: impl Fn(&Event) -> bool + Send,
    ) -> bool {
        let deadline = clock.now() + patience;
        let mut looked_at = place;
        loop {
            if self.events.iter().skip(looked_at).any(&is_wanted) {
                return true;
            }
            looked_at = self.events.len();
            tokio::select! {
                biased;
                told = self.told.recv() => match told {
                    Some(Told::Event(event)) => self.events.push(event),
                    Some(Told::Over(code)) => self.closed = Some(code),
                    None => return false,
                },
                () = clock.sleep_until(deadline) => return false,
            }
        }
    }

    /// Takes in what has come meanwhile.
    pub(crate) fn catch_up(&mut self) {
        while let Ok(told) = self.told.try_recv() {
            match told {
                Told::Event(event) => self.events.push(event),
                Told::Over(code) => self.closed = Some(code),
            }
        }
    }

    /// Closes the connection so that its session can be resumed. It stays closed until the answer is used or dropped.
    pub(crate) async fn leave(&self, clock: &dyn Clock) -> oneshot::Sender<()> {
        let (come_back, away) = oneshot::channel();
        let (left, has_left) = oneshot::channel();
        // A task that is over has no connection.
        let _ = self.leave.send(Leave { left, come_back: away });
        tokio::select! {
            _ = has_left => {}
            () = clock.sleep_until(clock.now() + PATIENCE) => {}
        }
        come_back
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(mut shard: Shard, tell: Tell, mut leaves: mpsc::UnboundedReceiver<Leave>) {
    loop {
        tokio::select! {
            message = shard.next() => match message {
                Some(Ok(Message::Text(text))) => tell.text(&text),
                Some(Ok(Message::Close(frame))) => {
                    let code = frame.map(|frame| frame.code);
                    if let Some(code @ (4004 | 4010..=4014)) = code {
                        tell.send(Told::Over(code));
                    }
                }
                // The shard connects again by itself.
                Some(Err(_)) => {}
                None => return,
            },
            Some(Leave { left, come_back }) = leaves.recv() => {
                shard.close(CloseFrame::RESUME);
                while let Some(message) = shard.next().await {
                    match message {
                        Ok(Message::Text(text)) => tell.text(&text),
                        Ok(Message::Close(_)) | Err(_) => break,
                    }
                }
                let _ = left.send(());
                let _ = come_back.await;
            }
        }
    }
}

/// Where a connection tells what it is sent.
struct Tell {
    sender: mpsc::UnboundedSender<Told>,
    clock: Arc<dyn Clock>,
}

impl Tell {
    fn text(&self, text: &str) {
        if let Some(event) = Event::read(text, self.clock.now()) {
            self.send(Told::Event(event));
        }
    }

    fn send(&self, told: Told) {
        // A session that was dropped listens no more.
        let _ = self.sender.send(told);
    }
}
