//! A channel with an agent that asks, one that sits at the front, and a person.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use dirigent::ports::{GuildApi, GuildId, Identity};
use dirigent::settings::Pacing;
use dirigent::{ChannelId, Dirigent, MemoryIdentities, Mode, Settings, SystemClock, UserId};
use dirigent_front::{Front, Seats};
use dirigent_testkit::MemoryDiscord;
use http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

/// The program of the agent that asks, and of the one that sits.
pub(crate) const ASKER: &str = "python.0123456789abcdef";
pub(crate) const SITTER: &str = "script.fedcba9876543210";

pub(crate) struct FrontStage {
    pub(crate) dirigent: Dirigent,
    pub(crate) discord: MemoryDiscord,
    pub(crate) guild: GuildId,
    pub(crate) channel: ChannelId,
    pub(crate) person: UserId,
    pub(crate) moderator: UserId,
    /// The account of the one that asks, and of the one that sits.
    pub(crate) accounts: [UserId; 2],
    pub(crate) front: Front,
    pub(crate) router: Router,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for FrontStage {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl FrontStage {
    pub(crate) async fn open() -> Self {
        Self::open_with(Settings::default(), |library| library).await
    }

    /// Opens it with these settings, but without their pace, and with a library of another making.
    pub(crate) async fn open_with(
        mut settings: Settings,
        make: impl FnOnce(dirigent::host::Builder) -> dirigent::host::Builder,
    ) -> Self {
        let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let accounts = [discord.add_bot(), discord.add_bot()];
        let guild = discord.add_guild(person);
        let members = [&[moderator, person][..], &accounts].concat();
        let channel = discord.add_channel(guild, "table", &members);
        let identities = MemoryIdentities::new();
        for (discord_user_id, name) in accounts.into_iter().zip(["Asker", "Sitter"]) {
            let (agent_id, agent_name) = (name.to_lowercase().into(), name.to_owned());
            identities.add(Identity { discord_user_id, agent_id, agent_name }).unwrap();
        }
        settings.limits.pacing = Pacing::off();
        let seats = Seats::new();
        let library = Dirigent::builder(discord.account(moderator))
            .identities(identities)
            .settings(settings)
            .host("sitter", seats.seat("sitter"), discord.account(accounts[1]));
        let (dirigent, driver) = make(library).build().unwrap();
        let (mut pushed, told) = (discord.events(), dirigent.clone());
        let tasks = vec![
            tokio::spawn(async move { driver.run().await.unwrap() }),
            tokio::spawn(async move {
                while let Some(event) = pushed.next().await {
                    event.tell(&told).await.unwrap();
                }
            }),
        ];
        let chat: Arc<dyn GuildApi> = Arc::new(discord.account(moderator));
        let front = Front::builder(dirigent.clone(), chat)
            .seats(seats)
            .host("python", "0123456789abcdef", ["asker"])
            .host("script", "fedcba9876543210", ["sitter"])
            .build()
            .unwrap();
        let router = front.router();
        dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
        Self {
            dirigent,
            discord,
            guild,
            channel,
            person,
            moderator,
            accounts,
            front,
            router,
            tasks,
        }
    }

    pub(crate) fn say(&self, words: &str) {
        self.discord.say(self.channel, self.person, words);
    }

    /// The words of everybody but the moderator.
    pub(crate) fn words(&self) -> Vec<String> {
        let said = self.discord.messages(self.channel).into_iter();
        said.filter(|it| it.author != self.moderator).map(|it| it.content.to_string()).collect()
    }

    /// Waits until this agent has the floor: events decide, and not time.
    pub(crate) async fn turn_of(&self, agent: &str) {
        self.until(|floor| floor.is_some_and(|it| it == agent)).await;
    }

    pub(crate) async fn until(&self, is: impl Fn(Option<&str>) -> bool) {
        let mut events = self.dirigent.events();
        loop {
            let floor = self.dirigent.channel(self.channel).floor();
            if is(floor.as_ref().map(|(agent, _)| agent.as_str())) {
                return;
            }
            let next = tokio::time::timeout(Duration::from_secs(20), events.next());
            next.await.expect("nothing happens");
        }
    }

    pub(crate) fn request(
        &self,
        method: Method,
        path: &str,
        token: &str,
    ) -> http::request::Builder {
        let _ = self;
        let request =
            Request::builder().method(method).uri(path).header(header::HOST, "localhost:8131");
        match token {
            "" => request,
            token => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
        }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> (StatusCode, Value) {
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status, serde_json::from_slice(&body).unwrap_or_default())
    }

    /// The frames of a stream.
    pub(crate) async fn stream(&self, path: &str, token: &str) -> Body {
        let request = self.request(Method::GET, path, token).body(Body::empty()).unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        answer.into_body()
    }

    pub(crate) async fn get(&self, path: &str, token: &str) -> (StatusCode, Value) {
        self.send(self.request(Method::GET, path, token).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, token: &str, body: &Value) -> (StatusCode, Value) {
        let request = self.request(Method::POST, path, token);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// Posts about a run of this agent in the channel, and returns what is answered.
    pub(crate) async fn ask(&self, what: &str, (agent, token): (&str, &str), more: Value) -> Value {
        let mut body = json!({ "agent": agent, "channel": self.channel.to_string() });
        if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
            body.extend(more);
        }
        let (status, answer) = self.post(&format!("/v1/{what}"), token, &body).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        answer
    }
}

/// The next event of a stream: its name, its data.
pub(crate) async fn next(stream: &mut Body) -> (String, Value) {
    loop {
        let frame = tokio::time::timeout(Duration::from_secs(20), stream.frame()).await;
        let frame = frame.expect("nothing is sent").expect("the stream ended").unwrap();
        let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
        let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        if let (Some(name), Some(data)) = (line("event: "), line("data: ")) {
            return (name.to_owned(), serde_json::from_str(data).unwrap());
        }
    }
}
