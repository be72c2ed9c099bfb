//! The pages for people.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::extract::multipart::MultipartError;
use axum::extract::{DefaultBodyLimit, Multipart, RawForm, State};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Router};
use dirigent::ChannelId;
use dirigent::ports::{ChannelRequest, Timestamp};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Deserialize;

use crate::drawing::{WhatIf, WhatIfAsked};
use crate::page::across::unfit;
use crate::page::api::RECORDING_MAX;
use crate::page::auth::VisitorRole;
use crate::page::channel_id::channel_id;
use crate::page::drawn::{RowGroup, Sheet, Shown, Subject};
use crate::page::extract::{Asked, Named, refused};
use crate::page::look::{
    AgentChannel, AgentDay, AgentReport, ChannelLook, ENTRIES, IdentityLook, LoggedOrder,
    OrderLook, Overview, Query, RegistryLook, Row, Turned, page_of,
};
use crate::page::made_once::Freshness;
use crate::page::many::{ManyDone, ManyOrder, OrderMany};
use crate::page::messages::Messages;
use crate::page::order::{GivenOrder, Order, Told, reason_of};
use crate::page::peers::PageQuestion;
use crate::page::ports::ScanReport;
use crate::page::problem::Problem;
use crate::page::question::{Pairs, Question, field, may_be_asked};
use crate::page::registry::Seen;
use crate::page::shared::PageContext;
use crate::page::visitor::Visitor;

type Ctl = State<Arc<PageContext>>;
type Page = Result<Response, Problem>;

pub(crate) fn routes() -> Router<Arc<PageContext>> {
    Router::new()
        .route("/", get(overview))
        .route("/channels/{id}", get(channel).post(order))
        .route("/channels/{id}/replay", get(replay))
        .route(
            "/replay",
            get(replay_file).post(try_on_file).layer(DefaultBodyLimit::max(RECORDING_MAX)),
        )
        .route("/orders", get(orders).post(order_many))
        .route("/answers/{number}", get(answer))
        .route("/agents/{id}", get(agent))
        .route("/registry", get(registry).post(change_registry))
        .route("/assets/{name}", get(crate::page::assets::asset))
        .route("/metrics", get(crate::page::metrics::metrics))
}

/// The frame around every page.
pub(crate) struct Frame<'a> {
    base: &'a str,
    title: String,
    /// The page's entry in the navigation.
    at: &'static str,
    /// The address of the page's stream. Empty if the page is not live.
    live: String,
    /// The number of channels on the page that need a person.
    needs: usize,
    may_change: bool,
    has_replay_files: bool,
}

impl<'a> Frame<'a> {
    fn new(
        shared: &'a PageContext,
        role: VisitorRole,
        at: &'static str,
        title: impl Into<String>,
    ) -> Self {
        Self {
            base: &shared.base,
            title: title.into(),
            at,
            live: String::new(),
            needs: 0,
            may_change: role.may_change(),
            has_replay_files: shared.recordings.is_some(),
        }
    }
}

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage<'a> {
    frame: Frame<'a>,
    query: &'a Query,
    sheet: &'a Sheet,
}

impl OverviewPage<'_> {
    /// The rows under their headings.
    fn groups(&self) -> &[RowGroup] {
        self.sheet.groups("list")
    }
}

/// The cells of a row, which update themselves.
#[derive(Template)]
#[template(path = "row.html")]
pub(crate) struct RowCells<'a> {
    pub(crate) base: &'a str,
    pub(crate) row: &'a Row,
    pub(crate) may_change: bool,
    /// True if there is no heading with the guild's name.
    pub(crate) shows_guild: bool,
}

/// The sentence above the overview.
#[derive(Template)]
#[template(path = "summary.html")]
pub(crate) struct Summary<'a> {
    pub(crate) look: &'a Overview,
}

/// The text of a list without rows.
#[derive(Template)]
#[template(path = "none.html")]
pub(crate) struct Nothing<'a> {
    pub(crate) base: &'a str,
    pub(crate) look: &'a Overview,
}

/// The links to the other pages of an overview.
#[derive(Template)]
#[template(path = "turning.html")]
pub(crate) struct Turning<'a> {
    pub(crate) base: &'a str,
    pub(crate) query: &'a Query,
    pub(crate) look: &'a Overview,
}

impl Turning<'_> {
    /// Returns the pages that are further away than the next one and the one before: the ends, and some on the way.
    fn far(&self) -> BTreeSet<usize> {
        let (page, last) = (self.look.page, self.look.pages);
        let all = [1, page.saturating_sub(50), page.saturating_sub(10), page + 10, page + 50, last];
        all.into_iter().filter(|to| (1..=last).contains(to) && to.abs_diff(page) > 1).collect()
    }
}

#[derive(Template)]
#[template(path = "channel.html")]
struct ChannelPage<'a> {
    frame: Frame<'a>,
    look: &'a ChannelLook,
    sheet: &'a Sheet,
    messages: Messages,
    is_recorded: bool,
    /// The order that was just performed, if there is one.
    done: Option<String>,
}

/// The order that was just performed, according to the address.
#[derive(Deserialize)]
struct Done {
    done: Option<String>,
}

/// The time for which the page confirms a performed order. The address alone confirms no order, because anyone can make
/// a link.
const CONFIRMED_FOR: Duration = Duration::from_secs(60);

impl PageContext {
    /// Returns true if this visitor gave the order just now and it was performed.
    fn was_given_now(&self, order: &OrderLook, visitor: &Visitor) -> bool {
        let ago = self.clock.now().since(Timestamp::from_millis(order.at));
        let is_own = order.by == self.across().signed(&visitor.name);
        is_own && order.refused.is_none() && ago < CONFIRMED_FOR
    }
}

/// The data for the parts of a channel's page.
struct Part<'a> {
    base: &'a str,
    look: &'a ChannelLook,
    may_change: bool,
}

macro_rules! parts {
    ($($name:ident = $path:literal),*) => {$(
        #[derive(Template)]
        #[template(path = $path)]
        struct $name<'a> {
            at: &'a Part<'a>,
        }
    )*};
}

parts! {
    StatePart = "channel/state.html",
    AgentsPart = "channel/agents.html",
    OrdersPart = "channel/orders.html",
    PostPart = "channel/post.html",
    FactsPart = "channel/facts.html",
    ChangesPart = "channel/changes.html"
}

/// Draws the parts of a channel's page that change by themselves, by the ids of their elements.
pub(crate) fn channel_parts(
    base: &str,
    look: &ChannelLook,
    score: &str,
    may_change: bool,
) -> Result<Vec<(&'static str, String)>, Problem> {
    let ring = if look.has_ring() { look.ring() } else { String::new() };
    let at = &Part { base, look, may_change };
    // If the state is unknown, these sections stay empty. They are on the page, and become visible once the state is
    // known.
    let known = |html: String| if look.channel.turns == "unknown" { String::new() } else { html };
    Ok(vec![
        ("state", drawn(&StatePart { at })?),
        ("orders", drawn(&OrdersPart { at })?),
        ("ring", ring),
        ("agents", drawn(&AgentsPart { at })?),
        ("score", known(score.to_owned())),
        ("post", drawn(&PostPart { at })?),
        ("facts", known(drawn(&FactsPart { at })?)),
        ("changes", known(drawn(&ChangesPart { at })?)),
    ])
}

#[derive(Template)]
#[template(path = "replay.html")]
struct ReplayPage<'a> {
    frame: Frame<'a>,
    row: Option<&'a Row>,
    /// The form for other rules, if the host has a player for them.
    tried: Option<TriedRules>,
}

/// The form for other rules, and what came of it.
struct TriedRules {
    asked: WhatIfAsked,
    /// The evenings under these rules, as HTML.
    shown: Option<String>,
    /// The fault of the rules.
    said: Option<String>,
}

impl TriedRules {
    /// Returns the form with the fields as they were typed. A fault of the rules stands beside them.
    fn of(asked: WhatIfAsked, played: Option<Result<WhatIf, Problem>>) -> Result<Self, Problem> {
        let (shown, said) = match played {
            Some(Ok(what_if)) => (Some(what_if.part()), None),
            Some(Err(problem)) if problem.status == 422 => (None, Some(problem.detail)),
            Some(Err(problem)) => return Err(problem),
            None => (None, None),
        };
        Ok(Self { asked, shown, said })
    }

    fn page(self, shared: &PageContext, frame: Frame<'_>, row: Option<&Row>) -> Page {
        let is_wrong = self.said.is_some();
        let tried = shared.what_if.is_some().then_some(self);
        let status = if is_wrong { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
        Ok((status, page(&ReplayPage { frame, row, tried })?).into_response())
    }
}

#[derive(Template)]
#[template(path = "registry.html")]
struct RegistryPage<'a> {
    frame: Frame<'a>,
    look: &'a RegistryLook,
    rows: Turned<IdentityLook>,
    report: Option<ScanReport>,
    /// The fields of a form that was refused.
    typed: Option<Typed>,
    /// The change that was just made.
    done: Option<String>,
}

/// One agent in all channels.
#[derive(Template)]
#[template(path = "agent.html")]
struct AgentPage<'a> {
    frame: Frame<'a>,
    report: &'a AgentReport,
    rows: Turned<&'a AgentChannel>,
}

impl AgentPage<'_> {
    /// Returns the newest days, the newest one first. The API returns all of them.
    fn days(&self) -> impl Iterator<Item = (&String, &AgentDay)> {
        self.report.days.iter().rev().take(ENTRIES)
    }
}

/// The fields of a form that was refused, with the reason.
struct Typed {
    agent: String,
    account: String,
    name: String,
    is_new: bool,
    /// The field with the error.
    field: &'static str,
    said: String,
}

impl<'a> RegistryPage<'a> {
    /// Creates the page of the registry with this number.
    fn new(frame: Frame<'a>, look: &'a RegistryLook, at: Option<usize>) -> Self {
        let rows = Turned::to(at, look.identities.clone());
        Self { frame, look, rows, report: None, typed: None, done: None }
    }

    /// Creates the page of the registry with this agent.
    fn with(frame: Frame<'a>, look: &'a RegistryLook, agent: &str) -> Self {
        let place = look.identities.iter().position(|own| own.agent_id == agent);
        Self::new(frame, look, place.map(page_of))
    }

    /// Returns the refused fields of this agent, or those of a new agent.
    fn typed(&self, agent: Option<&str>) -> Option<&Typed> {
        let is_its = |typed: &&Typed| match agent {
            Some(agent) => !typed.is_new && typed.agent == agent,
            None => typed.is_new,
        };
        self.typed.as_ref().filter(is_its)
    }
}

/// A question that is asked before the page does something.
#[derive(Template)]
#[template(path = "question.html")]
struct QuestionPage<'a> {
    base: &'a str,
    /// The address to which the form is sent again.
    to: &'a str,
    /// The address behind "No".
    back: &'a str,
    question: &'a str,
    pairs: &'a [(String, String)],
}

/// A text that was not posted, so that the person can send it again.
#[derive(Template)]
#[template(path = "refused-post.html")]
struct RefusedPostPage<'a> {
    base: &'a str,
    to: &'a str,
    detail: &'a str,
    text: &'a str,
}

/// The outcome of an order for many channels.
#[derive(Template)]
#[template(path = "many.html")]
struct ManyPage<'a> {
    frame: Frame<'a>,
    verb: &'static str,
    outcome: &'a ManyDone,
}

/// The log of orders, with the names of the channels.
#[derive(Template)]
#[template(path = "orders.html")]
struct OrdersPage<'a> {
    frame: Frame<'a>,
    rows: Turned<(String, LoggedOrder)>,
    has_peers: bool,
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    base: &'a str,
    title: &'static str,
    detail: &'a str,
}

pub(crate) fn drawn(template: &impl Template) -> Result<String, Problem> {
    template.render().map_err(|_| undrawn())
}

fn undrawn() -> Problem {
    Problem::new(500, "failed", "the page cannot be drawn")
}

fn page(template: &impl Template) -> Page {
    drawn(template).map(|html| Html(html).into_response())
}

async fn overview(
    State(shared): Ctl,
    Extension(role): Extension<VisitorRole>,
    Asked(query): Asked<Query>,
) -> Page {
    let shown = Shown::Overview(query.clone());
    let sheet = shared.sheet(shown, role, Freshness::Now).await?;
    let Subject::Overview(look) = &sheet.of else { return Err(undrawn()) };
    let mut frame = Frame::new(&shared, role, "channels", "Channels");
    let at = query.at(look.page);
    frame.live = format!("{}/live?{at}&had={:x}", shared.base, sheet.mark);
    frame.needs = look.need_person;
    page(&OverviewPage { frame, query: &query, sheet: &sheet })
}

async fn channel(
    State(shared): Ctl,
    Extension(visitor): Extension<Visitor>,
    Named(id): Named<String>,
    Asked(asked): Asked<Done>,
) -> Page {
    let id = channel_id(&id)?;
    let role = visitor.role;
    let sheet = shared.sheet(Shown::Channel(id), role, Freshness::Now);
    let (sheet, messages) = tokio::join!(sheet, shared.messages(id));
    let sheet = sheet?;
    let Subject::Channel(told) = &sheet.of else { return Err(undrawn()) };
    let mut frame = Frame::new(&shared, role, "channels", &told.look.channel.name);
    frame.live = format!("{}/live/channels/{id}?had={:x}", shared.base, sheet.mark);
    frame.needs = usize::from(told.look.channel.needs_person.is_some());
    let is_recorded = told.is_recorded;
    let is_done = |done: &String| {
        let mut given = told.look.given.iter();
        given.any(|order| order.order == **done && shared.was_given_now(order, &visitor))
    };
    let done = asked.done.filter(is_done);
    let messages = messages.unwrap_or_else(|problem| Messages::not_read(&problem));
    page(&ChannelPage { frame, look: &told.look, sheet: &sheet, messages, is_recorded, done })
}

/// Receives an order from a form. A script gets an answer without a page.
async fn order(
    State(shared): Ctl,
    Extension(visitor): Extension<Visitor>,
    Named(id): Named<String>,
    headers: HeaderMap,
    form: Result<RawForm, axum::extract::rejection::RawFormRejection>,
) -> Page {
    let id: ChannelId = channel_id(&id)?;
    let pairs = pairs_of(form)?;
    let fields = pairs.iter().map(|(name, value)| (name.clone(), value.clone().into()));
    let given = serde_json::from_value::<GivenOrder>(serde_json::Value::Object(fields.collect()));
    let given = given.map_err(|error| Problem::new(422, "bad-form", error.to_string()))?;
    let (order, reason) = (given.order, reason_of(given.reason.as_deref())?);
    let told = order.clone().told()?;
    if order.may_ask() && may_be_asked(&pairs) {
        let row = shared.across().sheet(id).await?.look.channel;
        let question = match told {
            Told::Request(ChannelRequest::SendResult { to }) => {
                // A request that will be refused needs no answer first.
                let is_fit = shared.must_be_of_its_guild(id, to).await.is_ok();
                if is_fit {
                    Some(Question::of(shared.asks_before_sending(&row, to).await))
                } else {
                    None
                }
            }
            Told::Request(_) | Told::Post(_) => order.question(&row),
        };
        if let Some(question) = question.and_then(|question| question.unless_agreed(&pairs)) {
            let to = format!("{}/channels/{id}", shared.base);
            return ask(&shared, (&visitor, &headers), (&to, &to), question, &pairs);
        }
    }
    let (named, to) = (told.name(), format!("{}/channels/{id}", shared.base));
    match shared.across().order(id, told, &visitor.name, reason).await {
        Ok(()) => Ok(done(&headers, &format!("{to}?done={named}"))),
        Err(problem) => refused_order(&shared, &headers, &to, order, problem),
    }
}

/// Refuses an order. A person gets a refused text back, because a page without JavaScript would lose it.
fn refused_order(
    shared: &PageContext,
    headers: &HeaderMap,
    to: &str,
    order: Order,
    problem: Problem,
) -> Page {
    let Order::Post { text } = order else { return Err(problem) };
    if accepts_json(headers) {
        return Err(problem);
    }
    let detail = &crate::page::look::words::sentence(&problem.detail);
    let page = page(&RefusedPostPage { base: &shared.base, to, detail, text: &text.0 })?;
    Ok((problem.status_code(), page).into_response())
}

/// Answers a form with a redirect to this page.
fn answer_form(shared: &PageContext, visitor: &Visitor, html: String) -> Response {
    let number = shared.kept.keep(shared.clock.now().as_millis(), &visitor.name, html);
    Redirect::to(&format!("{}/answers/{number}", shared.base)).into_response()
}

/// Shows the answer to a form of this visitor.
async fn answer(
    State(shared): Ctl,
    Extension(visitor): Extension<Visitor>,
    Named(number): Named<u64>,
) -> Page {
    let html = shared.kept.of(number, &visitor.name).ok_or_else(|| {
        let detail = "this answer is not kept any more: the orders that were given stand in the log of orders";
        Problem::new(404, "not-kept", detail)
    })?;
    Ok(Html(html.to_string()).into_response())
}

fn pairs_of(
    form: Result<RawForm, axum::extract::rejection::RawFormRejection>,
) -> Result<Pairs, Problem> {
    let RawForm(form) =
        form.map_err(|error| refused(error.status(), "form", &error.body_text()))?;
    Ok(form_urlencoded::parse(&form).into_owned().collect())
}

/// Asks before anything is done. A person gets a page that sends the form again, and a script gets a problem. A script
/// finds the mark of the question in the header `dirigent-asked`, and can send it along as the field `asked`.
fn ask(
    shared: &PageContext,
    (visitor, headers): (&Visitor, &HeaderMap),
    (to, back): (&str, &str),
    question: Question,
    pairs: &Pairs,
) -> Page {
    if accepts_json(headers) {
        let Question { words, mark } = question;
        let asked = [(HeaderName::from_static("dirigent-asked"), mark)];
        return Ok((asked, Problem::new(428, "question", words)).into_response());
    }
    let (base, question, pairs) = (&*shared.base, &*question.words, question.agreed(pairs));
    let html = drawn(&QuestionPage { base, to, back, question, pairs: &pairs })?;
    Ok(answer_form(shared, visitor, html))
}

/// Stops, holds or resumes the channels that were chosen, or all of them.
async fn order_many(
    State(shared): Ctl,
    Extension(visitor): Extension<Visitor>,
    Asked(asked): Asked<std::collections::BTreeMap<String, String>>,
    headers: HeaderMap,
    form: Result<RawForm, axum::extract::rejection::RawFormRejection>,
) -> Page {
    let mut pairs = pairs_of(form)?;
    if asked.contains_key("all") {
        pairs.push(("all".to_owned(), "yes".to_owned()));
    }
    let order = match field(&pairs, "order") {
        Some("stop") => ManyOrder::Stop,
        Some("hold") => ManyOrder::Hold,
        Some("resume") => ManyOrder::Resume,
        _ => return Err(Problem::invalid("stop, hold and resume can be given to many channels")),
    };
    let channels = pairs.iter().filter(|(name, _)| name == "channel");
    let many = OrderMany {
        order,
        channels: channels.map(|(_, value)| value.clone()).collect(),
        all: field(&pairs, "all").is_some(),
        reason: field(&pairs, "reason").map(ToOwned::to_owned),
    };
    let chosen = shared.chosen(&many).await?;
    reason_of(many.reason.as_deref())?;
    let question = (!chosen.is_empty()).then(|| question_of(&many, &chosen));
    if let Some(question) = question.and_then(|question| question.unless_agreed(&pairs)) {
        let (to, back) = (format!("{}/orders", shared.base), shared.base.clone());
        return ask(&shared, (&visitor, &headers), (&to, &back), question, &pairs);
    }
    let outcome = shared.give_many(&many, chosen, &visitor).await?;
    let frame = Frame::new(&shared, visitor.role, "channels", order.verb());
    let html = drawn(&ManyPage { frame, verb: order.verb(), outcome: &outcome })?;
    Ok(answer_form(&shared, &visitor, html))
}

fn question_of(many: &OrderMany, chosen: &[Row]) -> Question {
    let (verb, live) = (many.order.verb(), chosen.iter().filter(|row| row.is_live).count());
    let names = chosen.iter().take(10).map(|row| row.name.as_str()).collect::<Vec<_>>().join(", ");
    let more =
        if chosen.len() > 10 { format!(" and {} more", chosen.len() - 10) } else { String::new() };
    let what = match (many.all, chosen.len()) {
        (true, count) => format!("{verb} everything, {count} channels"),
        (false, 1) => format!("{verb} {names}"),
        (false, count) => format!("{verb} {count} channels, {names}{more}"),
    };
    let cut = match (many.order, live) {
        (ManyOrder::Stop, 1) => {
            " In one of them an agent has the floor, and its turn is cut.".to_owned()
        }
        (ManyOrder::Stop, live) if live > 0 => {
            format!(" In {live} of them an agent has the floor, and its turn is cut.")
        }
        _ => String::new(),
    };
    let ids: Vec<_> = chosen.iter().map(|row| row.id.as_str()).collect();
    Question::about(&(verb, ids), format!("{what}?{cut}"))
}

/// The number of a page of a long list. The first is 1.
#[derive(Deserialize)]
struct At {
    page: Option<usize>,
}

async fn orders(
    State(shared): Ctl,
    Extension(role): Extension<VisitorRole>,
    Asked(at): Asked<At>,
) -> Page {
    let orders = shared.order_log.of_all().await;
    let places = shared.places.get(&shared.dirigent).await;
    let name = |id: &str| {
        let info = id.parse().ok().and_then(|id| places.channels.get(&id));
        info.map_or_else(|| id.to_owned(), |info| info.name.clone())
    };
    let named = |mut logged: LoggedOrder| {
        logged.order.to = logged.order.to.as_deref().map(name);
        (name(&logged.channel), logged)
    };
    let rows = orders.into_iter().map(named).collect();
    let rows = Turned::to(at.page, rows);
    let has_peers = shared.peers.is_some();
    page(&OrdersPage { frame: Frame::new(&shared, role, "orders", "Orders"), rows, has_peers })
}

async fn replay(
    State(shared): Ctl,
    Extension(role): Extension<VisitorRole>,
    Named(id): Named<String>,
    Asked(asked): Asked<WhatIfAsked>,
) -> Page {
    let channel = channel_id(&id)?;
    let row = shared.across().sheet(channel).await?.look.channel;
    let frame = Frame::new(&shared, role, "channels", format!("Replay of {}", row.name));
    let played = if asked.set.trim().is_empty() {
        None
    } else {
        let question = PageQuestion::WhatIf { channel, asked: asked.clone() };
        let file = shared.across().file(channel, &question).await;
        Some(file.and_then(|json| serde_json::from_str(&json).map_err(|_| unfit())))
    };
    TriedRules::of(asked, played)?.page(&shared, frame, Some(&row))
}

async fn replay_file(State(shared): Ctl, Extension(role): Extension<VisitorRole>) -> Page {
    let frame = file_frame(&shared, role)?;
    TriedRules::of(WhatIfAsked::default(), None)?.page(&shared, frame, None)
}

fn file_frame(shared: &PageContext, role: VisitorRole) -> Result<Frame<'_>, Problem> {
    if shared.recordings.is_none() {
        return Err(Problem::not_found("page: the host reads no recordings"));
    }
    Ok(Frame::new(shared, role, "replay", "Replay a recording"))
}

/// Plays a recording from a file again under other rules. It is a plain form, so it needs no script.
async fn try_on_file(
    State(shared): Ctl,
    Extension(role): Extension<VisitorRole>,
    form: Result<Multipart, axum::extract::multipart::MultipartRejection>,
) -> Page {
    let frame = file_frame(&shared, role)?;
    let unread = |error: MultipartError| refused(error.status(), "body", &error.body_text());
    let mut form = form.map_err(|error| refused(error.status(), "body", &error.body_text()))?;
    let (mut text, mut asked) = (String::new(), WhatIfAsked::default());
    while let Some(field) = form.next_field().await.map_err(unread)? {
        let name = field.name().unwrap_or_default().to_owned();
        let value = field.text().await.map_err(unread)?;
        match name.as_str() {
            "recording" => text = value,
            "set" => asked.set = value,
            "assume" => asked.assume = value,
            _ => {}
        }
    }
    let played = shared.what_if_file(text, asked.clone()).await;
    TriedRules::of(asked, Some(played))?.page(&shared, frame, None)
}

async fn agent(
    State(shared): Ctl,
    Extension(role): Extension<VisitorRole>,
    Named(id): Named<String>,
    Asked(at): Asked<At>,
) -> Page {
    let report = shared.across().agent(&id).await?;
    let frame = Frame::new(&shared, role, "registry", &report.name);
    let rows = Turned::to(at.page, report.channels.iter().collect());
    page(&AgentPage { frame, report: &report, rows })
}

async fn registry(
    State(shared): Ctl,
    Extension(visitor): Extension<Visitor>,
    Asked(changed): Asked<Changed>,
) -> Page {
    let look = shared.registry().await?;
    let logged = shared.order_log.of_all().await;
    let was = |orders: &[&str], agent: &str| {
        logged.iter().any(|logged| {
            let order = &logged.order;
            let is_it = orders.contains(&&*order.order) && order.agent.as_deref() == Some(agent);
            is_it && logged.channel.is_empty() && shared.was_given_now(order, &visitor)
        })
    };
    let is_there = |agent: &str| look.identities.iter().any(|own| own.agent_id == agent);
    let done = match &changed {
        Changed { saved: Some(agent), .. }
            if is_there(agent) && was(&["add-agent", "change-agent"], agent) =>
        {
            Some(format!("{agent} is saved."))
        }
        Changed { deleted: Some(agent), .. }
            if !is_there(agent) && was(&["remove-agent"], agent) =>
        {
            Some(format!("{agent} is deleted."))
        }
        _ => None,
    };
    let frame = Frame::new(&shared, visitor.role, "registry", "Agents");
    let told = match &changed {
        Changed { saved: Some(agent), page: None, .. } => RegistryPage::with(frame, &look, agent),
        changed => RegistryPage::new(frame, &look, changed.page),
    };
    page(&RegistryPage { done, ..told })
}

/// The change that was just made, according to the address.
#[derive(Deserialize)]
struct Changed {
    saved: Option<String>,
    deleted: Option<String>,
    /// The number of the page.
    page: Option<usize>,
}

/// A change of the registry from a form.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
enum Change {
    Put {
        agent: String,
        account: String,
        #[serde(default)]
        name: String,
        /// Set for a new agent.
        #[serde(default)]
        new: Option<String>,
        /// The entry as the visitor saw it.
        #[serde(default)]
        was_account: String,
        #[serde(default)]
        was_name: String,
    },
    Remove {
        agent: String,
        #[serde(default)]
        was_account: String,
        #[serde(default)]
        was_name: String,
    },
    Scan,
}

async fn change_registry(
    State(shared): Ctl,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    form: Result<RawForm, axum::extract::rejection::RawFormRejection>,
) -> Page {
    let pairs = pairs_of(form)?;
    let fields = pairs.iter().map(|(name, value)| (name.clone(), value.clone().into()));
    let change = serde_json::from_value::<Change>(serde_json::Value::Object(fields.collect()));
    let change = change.map_err(|error| Problem::new(422, "bad-form", error.to_string()))?;
    let at = format!("{}/registry", shared.base);
    let (mut typed, done_at, changed) = match change {
        Change::Put { agent, account, name, new, was_account, was_name } => {
            let seen = match new {
                Some(_) => Seen::Nothing,
                None => Seen::Entry { account: was_account, name: was_name },
            };
            let entry = (account.as_str(), Some(name.clone()));
            let changed = shared.register(&visitor.name, &agent, entry, Some(&seen)).await;
            let agent = agent.trim().to_owned();
            let done_at = format!("{at}?saved={}", in_address(&agent));
            let is_new = matches!(seen, Seen::Nothing);
            (
                Typed { agent, account, name, is_new, field: "", said: String::new() },
                done_at,
                changed,
            )
        }
        Change::Remove { agent, was_account, was_name } => {
            let question = format!("Delete {agent}? Where it has the floor, its turn is skipped.");
            if let Some(question) = Question::of(question).unless_agreed(&pairs) {
                return ask(&shared, (&visitor, &headers), (&at, &at), question, &pairs);
            }
            let seen = Seen::Entry { account: was_account.clone(), name: was_name.clone() };
            let changed = shared.remove(&visitor.name, &agent, Some(&seen)).await;
            let done_at = format!("{at}?deleted={}", in_address(&agent));
            let (account, name) = (was_account, was_name);
            (
                Typed { agent, account, name, is_new: false, field: "", said: String::new() },
                done_at,
                changed,
            )
        }
        Change::Scan => {
            let report = shared.scan(&visitor.name).await?;
            let look = shared.registry().await?;
            let frame = Frame::new(&shared, visitor.role, "registry", "Agents");
            let told = RegistryPage::new(frame, &look, None);
            let html = drawn(&RegistryPage { report: Some(report), ..told })?;
            return Ok(answer_form(&shared, &visitor, html));
        }
    };
    let Err(rejection) = changed else { return Ok(done(&headers, &done_at)) };
    if accepts_json(&headers) || rejection.problem.status >= 500 {
        return Err(rejection.problem);
    }
    let look = shared.registry().await?;
    // If the agent is gone, its fields appear in the form for new agents.
    typed.is_new |= !look.identities.iter().any(|own| own.agent_id == typed.agent);
    (typed.field, typed.said) = (rejection.field, rejection.said);
    let status = rejection.problem.status_code();
    let frame = Frame::new(&shared, visitor.role, "registry", "Agents");
    let told = RegistryPage::with(frame, &look, &typed.agent);
    let drawn = page(&RegistryPage { typed: Some(typed), ..told })?;
    Ok((status, drawn).into_response())
}

fn in_address(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn accepts_json(headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepts.is_some_and(|accepts| accepts.contains("application/json"))
}

/// Redirects back to the page. A script gets no page.
fn done(headers: &HeaderMap, to: &str) -> Response {
    if accepts_json(headers) {
        StatusCode::NO_CONTENT.into_response()
    } else {
        Redirect::to(to).into_response()
    }
}

/// Returns a problem as a page.
pub(crate) fn problem_page(shared: &PageContext, response: Response) -> Response {
    let Some(problem) = response.extensions().get::<Problem>().cloned() else { return response };
    let title = problem.title();
    let detail = &crate::page::look::words::sentence(&problem.detail);
    let html = drawn(&ProblemPage { base: &shared.base, title, detail });
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts
        .headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    Response::from_parts(parts, html.unwrap_or_default().into())
}
