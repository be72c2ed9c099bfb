//! A guild with two agents, the library, and the page over it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use dirigent::MemoryIdentities;
use dirigent::ports::{GuildApi, GuildId, Identity};
use dirigent::settings::Pacing;
use dirigent::{
    ChannelId, Clock, Config, Dirigent, Mode, Reply, Settings, SystemClock, Turn, UserId, agent_fn,
};
use dirigent_control::{Control, ControlBuilder, MemoryRecorder};
use dirigent_testkit::MemoryDiscord;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::task::JoinHandle;
use tower::ServiceExt;

pub(crate) const OPERATOR: &str = "operator-operator-1";
pub(crate) const VIEWER: &str = "viewer-viewer-viewer";

pub(crate) struct Fixture {
    pub(crate) dirigent: Dirigent,
    pub(crate) discord: MemoryDiscord,
    pub(crate) guild: GuildId,
    pub(crate) moderator: UserId,
    pub(crate) person: UserId,
    pub(crate) accounts: [UserId; 2],
    pub(crate) identities: MemoryIdentities,
    pub(crate) router: Router,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: http::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    pub(crate) fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(&name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Fixture {
    pub(crate) async fn open() -> Self {
        Self::open_with(|builder| builder).await
    }

    pub(crate) async fn open_with(change: impl FnOnce(ControlBuilder) -> ControlBuilder) -> Self {
        Self::open_as(|library| library, change).await
    }

    /// The same, with a library of another making.
    pub(crate) async fn open_as(
        make: impl FnOnce(dirigent::host::Builder) -> dirigent::host::Builder,
        change: impl FnOnce(ControlBuilder) -> ControlBuilder,
    ) -> Self {
        let clock = SystemClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let guild = discord.add_guild(person);
        discord.guild(guild).add_member(moderator);
        discord.guild(guild).set_administrator(moderator, true);
        let accounts = [discord.add_bot(), discord.add_bot()];
        let identities = MemoryIdentities::new();
        for (account, name) in accounts.into_iter().zip(["Poet", "Critic"]) {
            discord.guild(guild).add_member(account);
            let agent_id = name.to_lowercase().into();
            let identity =
                Identity { discord_user_id: account, agent_id, agent_name: name.to_owned() };
            identities.add(identity).unwrap();
        }
        let recorder = MemoryRecorder::default();
        let mut settings = Settings::default();
        settings.limits.pacing = Pacing::off();
        settings.reading.human_marker = Some(dirigent::settings::HumanMarker("[human]".into()));
        let mut config = Config::default();
        config.budget.cost = Some(100);
        let mut library = Dirigent::builder(discord.account(moderator))
            .identities(identities.clone())
            .recorder(recorder.clone())
            .settings(settings)
            .config(config);
        for (account, agent) in accounts.into_iter().zip(["poet", "critic"]) {
            let speaks = agent_fn(move |turn: Turn| async move {
                // It thinks until its turn is taken away, or a person says "now" or "decide".
                let hears = |word| turn.missed().iter().any(|it| it.content.contains(word));
                if hears("now") {
                    return Ok(Reply::text(format!("{agent} speaks")));
                }
                if hears("decide") {
                    return Ok(Reply::text("That is for a person. [human]"));
                }
                turn.cancelled().await;
                Ok(Reply::Pass)
            });
            library = library.host(agent, speaks, discord.account(account));
        }
        let (dirigent, driver) = make(library).build().unwrap();
        let mut pushed = discord.events();
        let told = dirigent.clone();
        let tasks = vec![
            tokio::spawn(async move { driver.run().await.unwrap() }),
            tokio::spawn(async move {
                while let Some(event) = pushed.next().await {
                    event.tell(&told).await.unwrap();
                }
            }),
        ];
        let chat: Arc<dyn GuildApi> = Arc::new(discord.account(moderator));
        let builder = Control::builder(dirigent.clone(), chat, identities.clone())
            .operator_token(OPERATOR)
            .viewer_token(VIEWER)
            .recorder(recorder.clone());
        let control = change(builder).build().unwrap();
        let router = control.at_its_path();
        // By its answer the driver runs, and knows the agents.
        dirigent.identities_changed().await.unwrap();
        Self { dirigent, discord, guild, moderator, person, accounts, identities, router, tasks }
    }

    /// A private channel with both agents, in mode chat.
    pub(crate) async fn chat(&self, name: &str) -> ChannelId {
        let id = self.room(name);
        self.dirigent.channel(id).set_mode(Mode::Chat).await.unwrap();
        id
    }

    pub(crate) fn room(&self, name: &str) -> ChannelId {
        let [poet, critic] = self.accounts;
        self.discord.add_channel(self.guild, name, &[self.moderator, self.person, poet, critic])
    }

    /// A discussion of both agents whose result goes to that channel.
    pub(crate) async fn discussion(&self, callback: ChannelId, guide: &str) -> ChannelId {
        let id = self.room("talk");
        let all = dirigent::IdentityStore::all(&self.identities).await.unwrap();
        let members: Vec<_> = all.into_iter().map(|identity| identity.agent_id).collect();
        let terms = dirigent::store::Discussion {
            callback,
            callback_guild: Some(self.guild),
            guide: guide.to_owned(),
        };
        let opening =
            dirigent::operate::Opening { initiator: members[0].clone(), terms: Some(terms) };
        let made = dirigent::operate::CreatedChannel {
            mode: Mode::Discussion,
            members,
            opening: Some(opening),
        };
        self.dirigent.channel(id).register(made).await.unwrap();
        id
    }

    /// A person writes, and one agent has the floor and thinks.
    pub(crate) async fn wake(&self, channel: ChannelId) -> String {
        self.discord.say(channel, self.person, "What do you think?");
        self.until(channel, |status| {
            status
                .speaker
                .as_ref()
                .map(ToString::to_string)
                .filter(|_| status.phase.as_str() == "running")
        })
        .await
    }

    /// Waits until the channel is like that: events decide, and not time.
    pub(crate) async fn until<T>(
        &self,
        channel: ChannelId,
        is: impl Fn(&dirigent::operate::Status) -> Option<T>,
    ) -> T {
        let mut events = self.dirigent.events();
        loop {
            if let Some(status) = self.dirigent.channel(channel).status().await.unwrap()
                && let Some(found) = is(&status)
            {
                return found;
            }
            tokio::time::timeout(Duration::from_secs(20), events.next())
                .await
                .expect("nothing happens");
        }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn ask(&self, request: Request<Body>) -> Answer {
        let (parts, body) = self.send(request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    pub(crate) async fn get(&self, path: &str, token: &str) -> Answer {
        self.ask(request(Method::GET, path, token, Body::empty())).await
    }

    /// As a browser asks for a page.
    pub(crate) async fn page(&self, path: &str, token: &str) -> Answer {
        let mut request = request(Method::GET, path, token, Body::empty());
        request.headers_mut().insert(header::ACCEPT, "text/html".parse().unwrap());
        self.ask(request).await
    }

    /// Sends a form as a browser does without a script, and goes to the page that answers it.
    pub(crate) async fn form(&self, path: &str, token: &str, form: &str) -> Answer {
        let answer = self.send_form(path, token, form, "text/html").await;
        let to = answer.header(header::LOCATION).to_owned();
        if to.starts_with("/dirigent/answers/") { self.page(&to, token).await } else { answer }
    }

    pub(crate) async fn send_form(
        &self,
        path: &str,
        token: &str,
        form: &str,
        accept: &str,
    ) -> Answer {
        let mut asked = request(Method::POST, path, token, Body::from(form.to_owned()));
        let kind = "application/x-www-form-urlencoded".parse().unwrap();
        asked.headers_mut().insert(header::CONTENT_TYPE, kind);
        asked.headers_mut().insert(header::ACCEPT, accept.parse().unwrap());
        self.ask(asked).await
    }

    pub(crate) async fn send_json(
        &self,
        method: Method,
        path: &str,
        token: &str,
        body: &Value,
    ) -> Answer {
        let mut request = request(method, path, token, Body::from(body.to_string()));
        request.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
        self.ask(request).await
    }

    pub(crate) async fn order(&self, channel: ChannelId, token: &str, order: &Value) -> Answer {
        let path = format!("/dirigent/api/channels/{channel}/orders");
        self.send_json(Method::POST, &path, token, order).await
    }
}

pub(crate) fn request(method: Method, path: &str, token: &str, body: Body) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path).header(header::HOST, "127.0.0.1");
    if !token.is_empty() {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    request.body(body).unwrap()
}

/// Time, for what is compared with it.
pub(crate) fn now() -> u64 {
    SystemClock::new().now().as_millis()
}
