//! Many tabs and windows of the page at once. A browser has six connections for all of them.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::Result;
use crate::browser::Visitor;
use crate::server::Server;

/// How soon an order must be seen on the page that gave it: one that waits for a connection is not seen at all.
const AT_ONCE: Duration = Duration::from_secs(4);
const SAYS: &str = "return document.querySelector('.says').textContent";

pub(crate) async fn all(visitor: &Visitor, server: &Server) -> Result {
    for (count, is_tab) in [(6, true), (10, true), (6, false), (10, false)] {
        let what = if is_tab { "tabs" } else { "windows side by side" };
        println!("in one of {count} {what} an order is carried out at once");
        order_in_one_of(visitor, server, count, is_tab).await?;
    }
    println!("a page that is not seen has no stream, and is live again when it is seen");
    be_hidden(visitor, server).await?;
    println!("an order that is not answered says so");
    be_unanswered(visitor, server).await?;
    println!("an open list gets and loses rows, and its title counts");
    see_rows_come_and_go(visitor, server).await
}

/// In the list of channels in which somebody speaks a row goes when its channel is held elsewhere, and comes when it is woken.
async fn see_rows_come_and_go(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "design-review").await?;
    let channel = visitor.client.current_url().await?;
    visitor.go(&format!("{}?show=live", server.page)).await?;
    settled(visitor).await?;
    let find = "window.notReloaded = true; \
                window.row = () => [...document.querySelectorAll('.who a')].find((a) => a.textContent === 'design-review')";
    visitor.js(find, Vec::new()).await?;
    let order = "fetch(arguments[0], { method: 'POST', headers: { accept: 'application/json' }, \
                 body: new URLSearchParams({ order: arguments[1], sure: 'yes' }) })";
    let there = "return window.notReloaded && row() !== undefined";
    for _ in 0..2 {
        // Whether somebody speaks just now, or all had nothing to say.
        visitor.js(order, vec![json!(channel.as_str()), json!("wake")]).await?;
        visitor.until("the row of a channel in which somebody speaks", there).await?;
        visitor.js(order, vec![json!(channel.as_str()), json!("hold")]).await?;
        let gone = there.replace("!==", "===");
        visitor.until("no row of a channel on hold", &gone).await?;
        visitor.js(order, vec![json!(channel.as_str()), json!("resume")]).await?;
    }
    visitor.js(order, vec![json!(channel.as_str()), json!("wake")]).await?;
    visitor.until("the row again", there).await?;
    let whole = "return [...document.querySelectorAll('#list tr[id]')].every((row) => row.cells.length === 4) && \
                 [...document.querySelectorAll('#list tbody')].every((group) => group.rows.length > 1)";
    visitor.until("rows that are whole, under headings", whole).await?;
    let counts = "return document.title.startsWith(`(${document.querySelector('[data-needs]').dataset.needs}) `)";
    visitor.until("a title that counts", counts).await?;
    Ok(())
}

/// The bot ends and begins again: the page says that it is not live, and is live again by itself.
pub(crate) async fn outlive_a_restart(visitor: &Visitor, server: &mut Server) -> Result {
    println!("after a restart of the bot a page is live again by itself");
    visitor.go(&server.page).await?;
    settled(visitor).await?;
    visitor.js("window.notReloaded = true", Vec::new()).await?;
    server.stop().await?;
    let lost = "return document.getElementById('pulse').textContent.startsWith('not live')";
    visitor.until("that it is not live", lost).await?;
    server.start_again().await?;
    let live =
        "return window.notReloaded && document.getElementById('pulse').textContent === 'live'";
    visitor.until("a page that is live again", live).await?;
    let rows = "return document.querySelectorAll('#list tr[id]').length > 5";
    visitor.until("the channels of the new process", rows).await?;
    Ok(())
}

async fn order_in_one_of(visitor: &Visitor, server: &Server, count: usize, is_tab: bool) -> Result {
    let client = &visitor.client;
    let first = client.window().await?;
    let mut opened = vec![first.clone()];
    visitor.open(server, "design-review").await?;
    let page = client.current_url().await?;
    while opened.len() < count {
        let handle = client.new_window(is_tab).await?.handle;
        client.switch_to_window(handle).await?;
        client.goto(page.as_str()).await?;
        settled(visitor).await?;
        opened.push(client.window().await?);
    }
    // In the newest, the oldest, and one between them.
    for at in [count - 1, 0, count / 2] {
        client.switch_to_window(opened.get(at).cloned().ok_or("a window is gone")?).await?;
        settled(visitor).await?;
        order(visitor, "hold", "The channel is on hold.").await?;
        order(visitor, "resume", "").await?;
    }
    let shown = "return document.getElementById('pulse').textContent";
    let mut live = 0;
    for window in &opened {
        client.switch_to_window(window.clone()).await?;
        live += usize::from(visitor.js(shown, Vec::new()).await? == json!("live"));
    }
    println!("  {live} of {count} were live when they were looked at");
    for window in opened.into_iter().skip(1) {
        client.switch_to_window(window).await?;
        client.close_window().await?;
    }
    Ok(client.switch_to_window(first).await?)
}

/// Waits until the page is live, or says why it is not.
pub(crate) async fn settled(visitor: &Visitor) -> Result {
    let is_settled = "const pulse = document.getElementById('pulse').textContent; \
                      return pulse === 'live' || pulse.startsWith('looks every')";
    visitor.until("a page that is live or looks now and then", is_settled).await?;
    Ok(())
}

pub(crate) async fn order(visitor: &Visitor, order: &str, says: &str) -> Result {
    let button = format!("return document.querySelector('#order-{order}:enabled') !== null");
    visitor.until("the order's button", &button).await?;
    let before = visitor.js(SAYS, Vec::new()).await?;
    let begun = Instant::now();
    visitor.click(&format!("#order-{order}")).await?;
    let changed = if says.is_empty() {
        format!("{SAYS} !== {before}")
    } else {
        format!("{SAYS} === {}", json!(says))
    };
    visitor.until("what came of the order", &changed).await?;
    let took = begun.elapsed();
    if took > AT_ONCE {
        return Err(format!("the order {order} took {took:?}").into());
    }
    Ok(())
}

async fn be_hidden(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "design-review").await?;
    let is_live = "return document.getElementById('pulse').textContent === 'live'";
    visitor.until("a live page", is_live).await?;
    visitor.client.minimize_window().await?;
    let paused =
        "return document.hidden && document.getElementById('pulse').textContent === 'paused'";
    visitor.until("a page without a stream", paused).await?;
    visitor.client.set_window_rect(0, 0, 1_280, 900).await?;
    visitor.until("a page that is live again", is_live).await?;
    let thinking = "return document.querySelector('.says').textContent.includes('is thinking')";
    visitor.until("what happens now", thinking).await?;
    Ok(())
}

/// A server that never answers, as a page behind five busy ones sees it.
async fn be_unanswered(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "design-review").await?;
    settled(visitor).await?;
    let never = "window.fetch = (_, { signal }) => new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason)))";
    visitor.js(never, Vec::new()).await?;
    visitor.click("#order-hold").await?;
    let said = "const said = document.getElementById('said'); \
                return !said.hidden && said.textContent.startsWith('No answer within 10 s')";
    visitor.until("that the order was not answered", said).await?;
    settled(visitor).await
}
