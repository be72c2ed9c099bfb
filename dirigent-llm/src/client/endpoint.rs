//! The address of a model, and the settings for it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use serde_json::{Map, Value};

use crate::error::ChatError;

/// A model at an endpoint that speaks OpenAI's chat completions. Clones share their connections.
///
/// ```
/// use dirigent_llm::Endpoint;
///
/// let local = Endpoint::new("http://127.0.0.1:11434/v1", "llama3.2");
/// let hosted = Endpoint::new("https://api.openai.com/v1", "gpt-5-mini")
///     .key("sk-…")
///     .field("max_completion_tokens", 800)
///     .field("reasoning_effort", "low");
/// assert!(!format!("{hosted:?}").contains("sk-"));
/// # let _ = local;
/// ```
#[derive(Clone)]
pub struct Endpoint {
    url: Option<Url>,
    model: String,
    headers: HeaderMap,
    has_bad_header: bool,
    fields: Map<String, Value>,
    is_streaming: bool,
    /// True after the endpoint refused the unread fields of its own calls.
    refuses_kept: Arc<AtomicBool>,
    client: Arc<OnceLock<Result<Client, ChatError>>>,
}

/// Fields of a request that this crate sets itself.
const OWN_FIELDS: [&str; 6] =
    ["model", "messages", "stream", "stream_options", "tools", "tool_choice"];

impl Endpoint {
    /// Creates an endpoint from its base address and the name of a model there. The address usually ends with `/v1`;
    /// `/chat/completions` is added, and a query stays. This makes no request. If the address is invalid, each turn
    /// fails with [`ChatError::BadEndpoint`].
    pub fn new(base: impl AsRef<str>, model: impl Into<String>) -> Self {
        Self {
            url: completions_url(base.as_ref()),
            model: model.into(),
            headers: HeaderMap::new(),
            has_bad_header: false,
            fields: Map::new(),
            is_streaming: true,
            refuses_kept: Arc::default(),
            client: Arc::default(),
        }
    }

    /// Sends this key as `Authorization: Bearer …`. You need none for most local servers.
    #[must_use]
    pub fn key(self, key: impl AsRef<str>) -> Self {
        self.header(AUTHORIZATION.as_str(), format!("Bearer {}", key.as_ref()))
    }

    /// Sends this header with every request, for example `api-key` for Azure or `HTTP-Referer` for OpenRouter. If the
    /// header is invalid, each turn fails with [`ChatError::BadEndpoint`].
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<str>) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes());
        match (name, HeaderValue::from_str(value.as_ref())) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                self.headers.insert(name, value);
            }
            _ => self.has_bad_header = true,
        }
        self
    }

    /// Sends this field with every request. It can be any field that your endpoint knows, for example `temperature`,
    /// `max_tokens` or `max_completion_tokens`, `seed`, `stop` or `reasoning_effort`. Without a field the endpoint's
    /// default applies. Fields that the crate sets itself (`model`, `messages`, `stream`, `stream_options`, `tools`,
    /// `tool_choice`) cannot be changed.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let name = name.into();
        if !OWN_FIELDS.contains(&name.as_str()) {
            self.fields.insert(name, value.into());
        }
        self
    }

    /// Asks for whole answers instead of streams. Use it if your endpoint cannot stream, or cannot stream together with
    /// tools. Streams are the default because they tell a slow endpoint from one that has stopped. Without them
    /// [`Limits::first_byte`](crate::Limits::first_byte) limits the whole answer.
    #[must_use]
    pub const fn whole_answers(mut self) -> Self {
        self.is_streaming = false;
        self
    }

    /// Returns this endpoint with another of its models. Both share their connections.
    ///
    /// ```
    /// use dirigent_llm::Endpoint;
    /// let small = Endpoint::new("http://127.0.0.1:11434/v1", "llama3.2").key("sk-…");
    /// assert_eq!(small.with_model("llama3.3").model(), "llama3.3");
    /// ```
    #[must_use]
    pub fn with_model(&self, model: impl Into<String>) -> Self {
        Self { model: model.into(), refuses_kept: Arc::default(), ..self.clone() }
    }

    /// Returns the host name for logs. The full address may contain a password.
    pub(crate) fn host(&self) -> Option<&str> {
        self.url.as_ref().and_then(Url::host_str)
    }

    /// Returns a key for this endpoint and model. Never show it, because the address may contain a password.
    pub(crate) fn identity(&self) -> Arc<str> {
        format!("{} {}", self.model, self.url.as_ref().map_or("", Url::as_str)).into()
    }

    /// Returns true if the endpoint accepts the unread fields of its own calls.
    pub(crate) fn takes_kept(&self) -> bool {
        !self.refuses_kept.load(Ordering::Relaxed)
    }

    /// Remembers that the endpoint answered only without the unread fields of its calls.
    pub(crate) fn refuse_kept(&self) {
        self.refuses_kept.store(true, Ordering::Relaxed);
    }

    /// Returns the model's name at this endpoint.
    pub fn model(&self) -> &str {
        &self.model
    }

    pub(crate) const fn is_streaming(&self) -> bool {
        self.is_streaming
    }

    pub(crate) const fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// Returns the address, headers and client of a request.
    pub(crate) fn target(&self) -> Result<(Url, HeaderMap, Client), ChatError> {
        let url = self.url.clone().filter(|_| !self.has_bad_header);
        let url = url.ok_or(ChatError::BadEndpoint)?;
        let client = self.client.get_or_init(|| client_for(&url)).clone()?;
        Ok((url, self.headers.clone(), client))
    }
}

/// Returns the address of the completions below a base address.
fn completions_url(base: &str) -> Option<Url> {
    let mut url = Url::parse(base.trim()).ok()?;
    let is_usable = url.scheme() == "http" || (url.scheme() == "https" && cfg!(feature = "tls"));
    url.host().filter(|_| is_usable)?;
    if !url.path().trim_end_matches('/').ends_with("/chat/completions") {
        let mut segments = url.path_segments_mut().ok()?;
        segments.pop_if_empty().extend(["chat", "completions"]);
    }
    Some(url)
}

fn client_for(url: &Url) -> Result<Client, ChatError> {
    let mut builder = Client::builder().redirect(reqwest::redirect::Policy::none());
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    let is_local = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    if is_local {
        // The environment's proxy is for remote hosts, so a local one is asked directly.
        builder = builder.no_proxy();
    }
    #[cfg(feature = "tls")]
    {
        builder = builder.tls_backend_preconfigured(crate::client::tls::config()?);
    }
    builder.build().map_err(|_| ChatError::BadEndpoint)
}

/// Shows the host and the model. The user, password, query and headers stay hidden.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("host", &self.host())
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_added_to_a_base_address_and_its_query_stays() {
        let url = |base: &str| completions_url(base).map(String::from);
        let expected = Some("http://[::1]:8089/v1/chat/completions".to_owned());
        for base in ["http://[::1]:8089/v1", " http://[::1]:8089/v1/ "] {
            assert_eq!(url(base), expected);
        }
        assert_eq!(url("http://[::1]:8089/v1/chat/completions"), expected);
        assert_eq!(
            url("http://a.example/openai?api-version=7"),
            Some("http://a.example/openai/chat/completions?api-version=7".to_owned())
        );
        for none in ["", "a.example/v1", "ftp://a.example", "data:text/plain,hi"] {
            assert_eq!(url(none), None, "{none}");
        }
    }

    #[test]
    fn no_secret_is_shown() {
        let endpoint = Endpoint::new("http://user:password@127.0.0.1/v1?key=hidden", "small")
            .key("hidden")
            .header("x-key", "hidden")
            .field("user", "hidden");
        let shown = format!("{endpoint:?} {endpoint:#?}");
        assert!(!shown.contains("hidden") && !shown.contains("password"), "{shown}");
        assert!(shown.contains("small"), "{shown}");
    }

    #[test]
    fn what_cannot_be_sent_is_refused_when_it_is_used() {
        let refused = |endpoint: Endpoint| endpoint.target().err() == Some(ChatError::BadEndpoint);
        assert!(refused(Endpoint::new("nowhere", "small")));
        assert!(refused(Endpoint::new("http://127.0.0.1/v1", "small").key("two\nlines")));
        assert!(refused(Endpoint::new("http://127.0.0.1/v1", "small").header("no name", "1")));
        assert!(!refused(Endpoint::new("http://127.0.0.1/v1", "small").key("one")));
    }

    #[test]
    fn fields_of_the_crate_are_not_changed() {
        let endpoint = Endpoint::new("http://127.0.0.1/v1", "small")
            .field("stream", false)
            .field("temperature", 0.5);
        assert_eq!(endpoint.fields().len(), 1);
    }
}
