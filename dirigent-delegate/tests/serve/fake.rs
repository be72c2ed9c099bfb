//! A server that answers as opencode's does, as far as the client asks.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::broadcast;

/// What the server knows and how it behaves.
#[expect(clippy::struct_excessive_bools, reason = "each is a behaviour of its own")]
pub(crate) struct FakeKnowledge {
    /// The messages of each session.
    pub(crate) sessions: BTreeMap<String, Vec<Value>>,
    pub(crate) made: usize,
    pub(crate) prompts: Vec<Value>,
    pub(crate) passwords: Vec<String>,
    pub(crate) replies: Vec<String>,
    pub(crate) pending: Vec<(&'static str, Value)>,
    pub(crate) busy: Option<String>,
    pub(crate) aborted: usize,
    /// Whether a prompt asks for permissions and the person first.
    pub(crate) asks: bool,
    pub(crate) hangs: bool,
    pub(crate) has_events: bool,
    pub(crate) is_silent: bool,
    pub(crate) error: Option<String>,
    /// How many requests are never answered, as in a server's first moments.
    pub(crate) deaf_to: usize,
    /// Whether any password is taken.
    pub(crate) takes_any_password: bool,
}

pub(crate) struct FakeServer {
    address: std::net::SocketAddr,
    shared: Arc<FakeSessions>,
}

struct FakeSessions {
    state: Mutex<FakeKnowledge>,
    events: broadcast::Sender<Value>,
}

type Body = UnsyncBoxBody<Bytes, Infallible>;

impl FakeServer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = FakeKnowledge {
            sessions: BTreeMap::new(),
            made: 0,
            prompts: Vec::new(),
            passwords: Vec::new(),
            replies: Vec::new(),
            pending: Vec::new(),
            busy: None,
            aborted: 0,
            asks: false,
            hangs: false,
            has_events: true,
            is_silent: false,
            error: None,
            deaf_to: 0,
            takes_any_password: false,
        };
        let shared =
            Arc::new(FakeSessions { state: Mutex::new(state), events: broadcast::Sender::new(64) });
        let serving = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&serving);
                let service = hyper::service::service_fn(move |request| {
                    let shared = Arc::clone(&shared);
                    async move { Ok::<_, Infallible>(shared.answer(request).await) }
                });
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        Self { address, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut FakeKnowledge)) {
        change(&mut self.shared.state.lock().unwrap());
    }

    pub(crate) async fn until(&self, is_so: impl Fn(&FakeKnowledge) -> bool + Send + Sync) {
        crate::cli::until(|| is_so(&self.shared.state.lock().unwrap())).await;
    }

    fn read<T>(&self, read: impl FnOnce(&FakeKnowledge) -> T) -> T {
        read(&self.shared.state.lock().unwrap())
    }

    pub(crate) fn sessions(&self) -> usize {
        self.read(|state| state.sessions.len())
    }

    pub(crate) fn prompts(&self) -> Vec<Value> {
        self.read(|state| state.prompts.clone())
    }

    pub(crate) fn passwords(&self) -> Vec<String> {
        self.read(|state| state.passwords.clone())
    }

    pub(crate) fn replies(&self) -> Vec<String> {
        self.read(|state| state.replies.clone())
    }

    pub(crate) fn aborted(&self) -> usize {
        self.read(|state| state.aborted)
    }
}

impl FakeSessions {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let password =
            request.headers().get("authorization").map(|value| decoded(value.to_str().unwrap()));
        let path = request.uri().path().trim_start_matches('/').to_owned();
        let is_post = request.method() == Method::POST;
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        if self.is_deaf() {
            return std::future::pending().await;
        }
        let mut state = self.state.lock().unwrap();
        let password = password.unwrap_or_default();
        if password != "opencode:hidden-word" && !state.takes_any_password {
            return plain(401, &Value::Null);
        }
        if !state.passwords.contains(&password) {
            state.passwords.push(password);
        }
        let parts: Vec<&str> = path.split('/').collect();
        match (is_post, &parts[..]) {
            (false, ["global", "health"]) => plain(200, &json!({ "healthy": true })),
            (false, ["event"]) if state.has_events => self.stream(),
            (true, ["session"]) => {
                state.made += 1;
                let id = format!("ses_{}", state.made);
                state.sessions.insert(id.clone(), Vec::new());
                plain(200, &json!({ "id": id }))
            }
            (false, ["session", "status"]) => {
                let busy = state.busy.iter().map(|id| (id.clone(), json!({ "type": "busy" })));
                plain(200, &busy.collect())
            }
            (false, ["session", _, "children"]) => plain(200, &json!([{ "id": "ses_child" }])),
            (false, ["session", id, "message"]) => match state.sessions.get(*id) {
                Some(messages) => plain(200, &json!(messages)),
                None => plain(404, &Value::Null),
            },
            (true, ["session", id, "prompt_async"]) => self.prompt(&mut state, id, body),
            (true, ["session", _, "abort"]) => {
                (state.aborted, state.busy) = (state.aborted + 1, None);
                plain(200, &json!(true))
            }
            (false, ["permission" | "question"]) => {
                let pending = state.pending.iter().filter(|(kind, _)| *kind == parts[0]);
                plain(200, &pending.map(|(_, pending)| pending.clone()).collect())
            }
            (true, [kind, id, how]) => {
                let reply = body["reply"].as_str().unwrap_or(how);
                state.replies.push(format!("{kind} {id}: {reply}"));
                state.pending.retain(|(_, pending)| pending["id"] != **id);
                // The person's other client has sessions as well: its question stays.
                if state.pending.len() == 1 {
                    self.finish(&mut state);
                }
                plain(200, &json!(true))
            }
            _ => plain(404, &Value::Null),
        }
    }

    fn is_deaf(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        let is_deaf = state.deaf_to > 0;
        state.deaf_to -= usize::from(is_deaf);
        is_deaf
    }

    fn prompt(&self, state: &mut FakeKnowledge, id: &str, body: Value) -> Response<Body> {
        let text = body["parts"][0]["text"].clone();
        state.prompts.push(body);
        let Some(messages) = state.sessions.get_mut(id) else {
            return plain(404, &Value::Null);
        };
        let at = messages.len();
        messages.push(json!({ "info": { "id": format!("msg_{at}"), "role": "user" }, "parts": [{ "type": "text", "text": text }] }));
        messages.push(json!({
            "info": { "id": format!("msg_{}", at + 1), "role": "assistant", "time": { "created": 1 } },
            "parts": [{ "type": "reasoning", "text": "Hm." }, { "type": "text", "text": "answer" }],
        }));
        state.busy = Some(id.to_owned());
        self.tell_answer(id, &text);
        if state.asks {
            let of = |id: &str, session: &str| json!({ "id": id, "sessionID": session, "permission": "edit", "patterns": ["a.py"], "metadata": {}, "always": [] });
            state.pending = vec![
                ("permission", of("per_own", id)),
                ("permission", of("per_child", "ses_child")),
                ("permission", of("per_other", "ses_of_a_person")),
                ("question", json!({ "id": "que_own", "sessionID": id, "questions": [] })),
            ];
            self.tell("permission.asked", &json!({ "id": "per_own", "sessionID": id }));
        } else if !state.hangs {
            self.finish(state);
        }
        plain(204, &Value::Null)
    }

    /// The events of an answer: the person's message, what the model thinks, what it says, whole or in pieces.
    fn tell_answer(&self, id: &str, asked: &Value) {
        for (message, role) in [("msg_a", "user"), ("msg_b", "assistant")] {
            let info = json!({ "id": message, "role": role, "sessionID": id });
            self.tell("message.updated", &json!({ "sessionID": id, "info": info }));
        }
        let part = |part: &str, kind: &str, message: &str, text: &Value| {
            let part = json!({ "id": part, "type": kind, "messageID": message, "sessionID": id, "text": text });
            self.tell("message.part.updated", &json!({ "sessionID": id, "part": part }));
        };
        let more = |part: &str, delta: &str| {
            let delta = json!({ "sessionID": id, "messageID": "msg_b", "partID": part, "field": "text", "delta": delta });
            self.tell("message.part.delta", &delta);
        };
        part("prt_a", "text", "msg_a", asked);
        part("prt_b", "reasoning", "msg_b", &"Hm".into());
        more("prt_b", ".");
        part("prt_c", "text", "msg_b", &"".into());
        more("prt_c", "ans");
        more("prt_c", "wer");
        part("prt_c", "text", "msg_b", &"answer".into());
    }

    /// The model has answered.
    fn finish(&self, state: &mut FakeKnowledge) {
        let Some(id) = state.busy.take() else {
            return;
        };
        let (error, is_silent) = (state.error.clone(), state.is_silent);
        let messages = state.sessions.get_mut(&id).unwrap();
        let number = messages.len() / 2;
        let asked = messages[messages.len() - 2]["parts"][0]["text"].as_str().unwrap().to_owned();
        let said = if is_silent || error.is_some() {
            String::new()
        } else {
            format!("answer {number}: {asked}")
        };
        let answer = messages.last_mut().unwrap();
        answer["parts"][1]["text"] = said.into();
        answer["info"]["time"]["completed"] = 2.into();
        answer["info"]["tokens"] = json!({ "input": 7, "output": 3 });
        (answer["info"]["providerID"], answer["info"]["modelID"]) = ("local".into(), "smol".into());
        if let Some(error) = error {
            answer["info"]["error"] = json!({ "name": "APIError", "data": { "message": error } });
        }
        self.tell("session.idle", &json!({ "sessionID": id }));
    }

    fn tell(&self, kind: &str, properties: &Value) {
        let _ = self.events.send(json!({ "type": kind, "properties": properties }));
    }

    fn stream(&self) -> Response<Body> {
        let events =
            futures_util::stream::unfold(self.events.subscribe(), |mut events| async move {
                let event = events.recv().await.ok()?;
                let frame = Frame::data(Bytes::from(format!("data: {event}\n\n")));
                Some((Ok::<_, Infallible>(frame), events))
            });
        let response = Response::builder().header("content-type", "text/event-stream");
        response
            .body(http_body_util::BodyExt::boxed_unsync(StreamBody::new(
                futures_util::StreamExt::boxed(events),
            )))
            .unwrap()
    }
}

fn plain(status: u16, body: &Value) -> Response<Body> {
    let body = if status == 204 { Bytes::new() } else { body.to_string().into() };
    let mut response = Response::new(Full::new(body).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

/// The user and the password of a header.
fn decoded(header: &str) -> String {
    let encoded = header.strip_prefix("Basic ").unwrap_or_default();
    let value = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut text = Vec::new();
    for chunk in encoded.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = chunk.iter().fold(0, |bits, c| bits << 6 | value(*c)) << (6 * (4 - chunk.len()));
        text.extend(bits.to_be_bytes().into_iter().skip(1).take(chunk.len() - 1));
    }
    String::from_utf8(text).unwrap()
}
