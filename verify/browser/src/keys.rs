//! With the keyboard alone: no click, no script that stands for one.

use serde_json::json;

use crate::Result;
use crate::browser::{Look, Visitor};
use crate::server::{ANNA, Server};
use crate::tabs;

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";
const DOWN: &str = "\u{e015}";
/// The most things that are passed on the way.
const STEPS_MAX: usize = 120;

pub(crate) async fn all(server: &Server) -> Result {
    println!(
        "with the keyboard alone one signs in, holds and resumes a channel, and chooses a mode"
    );
    let visitor = Visitor::arrive(server, Look::Light, None).await?;
    let told = steer(&visitor, server).await;
    visitor.leave().await?;
    told
}

async fn press(visitor: &Visitor, keys: &str) -> Result {
    let mut sent = visitor.client.active_element().await?.send_keys(keys).await;
    for _ in 0..5 {
        // A live page may have replaced it meanwhile.
        let is_stale = matches!(&sent, Err(error) if error.to_string().contains("stale element"));
        if !is_stale {
            break;
        }
        sent = visitor.client.active_element().await?.send_keys(keys).await;
    }
    Ok(sent?)
}

/// Goes on from thing to thing until it is this one. Each that has the focus is seen to have it.
async fn reach(visitor: &Visitor, what: &str) -> Result {
    let look = format!(
        "const at = document.activeElement; if ({what}) return 'there'; \
         const ring = getComputedStyle(at); \
         return at === document.body || (ring.outlineStyle !== 'none' && parseFloat(ring.outlineWidth) > 0) ? 'on' : at.outerHTML"
    );
    for _ in 0..STEPS_MAX {
        let seen = visitor.js(&look, Vec::new()).await?;
        if seen == json!("there") {
            return Ok(());
        }
        if seen != json!("on") {
            return Err(format!("the focus cannot be seen on {seen}").into());
        }
        press(visitor, TAB).await?;
    }
    Err(format!("the keyboard does not reach {what}").into())
}

async fn steer(visitor: &Visitor, server: &Server) -> Result {
    visitor.go(&server.page).await?;
    press(visitor, ANNA).await?;
    press(visitor, ENTER).await?;
    let overview = "return document.querySelector('h1')?.textContent === 'Channels'";
    visitor.until("the overview", overview).await?;
    tabs::settled(visitor).await?;
    // Enter in the reason would press the first button of its form.
    reach(visitor, "at.name === 'reason'").await?;
    press(visitor, "lunch").await?;
    press(visitor, ENTER).await?;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    visitor.until("no order by Enter in the overview", overview).await?;
    visitor.go(&server.page).await?;
    tabs::settled(visitor).await?;
    reach(visitor, "at.textContent === 'design-review'").await?;
    press(visitor, ENTER).await?;
    visitor
        .until("the channel", "return document.querySelector('#order-hold:enabled') !== null")
        .await?;
    tabs::settled(visitor).await?;
    for (order, after) in [("hold", "resume"), ("resume", "hold")] {
        reach(visitor, &format!("at.id === 'order-{order}'")).await?;
        press(visitor, ENTER).await?;
        let done = format!("return document.querySelector('#order-{after}:enabled') !== null");
        visitor.until("what came of it", &done).await?;
        // What had the focus is gone: it is where that was, and not at the top of the page.
        let near = "return document.activeElement.id === 'orders'";
        visitor.until("the focus beside it", near).await?;
    }
    // Enter in a text field presses the form's first button, which was Wake or Resume.
    reach(visitor, "at.id === 'reason'").await?;
    press(visitor, "the customer is on the phone").await?;
    press(visitor, ENTER).await?;
    // A form that was sent is empty.
    let nothing = "return document.querySelector('#order-hold:enabled') && document.getElementById('reason').value !== ''";
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    visitor.until("no order by Enter", nothing).await?;
    visitor.open(server, "quiet-corner").await?;
    tabs::settled(visitor).await?;
    reach(visitor, "at.id === 'mode'").await?;
    let before = visitor.js("return document.getElementById('mode').value", Vec::new()).await?;
    press(visitor, DOWN).await?;
    press(visitor, DOWN).await?;
    let badge = format!("document.querySelector('#state .badge').textContent === {before}");
    let only_chosen =
        format!("return document.getElementById('mode').value !== {before} && {badge}");
    visitor.until("a choice that is not sent", &only_chosen).await?;
    press(visitor, TAB).await?;
    visitor.until("the way to set it", "return document.activeElement.id === 'set-mode'").await?;
    press(visitor, ENTER).await?;
    visitor.until("the mode that was chosen", &format!("return !({badge})")).await?;
    Ok(())
}
