//! A page that nobody looks at, and whose operator asked to be notified.

use std::time::Duration;

use serde_json::json;

use crate::Result;
use crate::browser::{Look, Visitor};
use crate::server::{ANNA, BEN, Server};
use crate::tabs;

pub(crate) async fn all(server: &Server) -> Result {
    println!("who asks for it is notified of a channel that needs a person while nobody looks");
    let anna = Visitor::arrive(server, Look::Light, None).await?;
    let ben = Visitor::arrive(server, Look::Light, None).await?;
    let told = be_notified(&anna, &ben, server).await;
    anna.leave().await?;
    ben.leave().await?;
    told
}

async fn be_notified(anna: &Visitor, ben: &Visitor, server: &Server) -> Result {
    ben.sign_in(server, BEN).await?;
    ben.open(server, "copy-desk").await?;
    tabs::settled(ben).await?;
    order(ben, "order=hold").await?;
    anna.sign_in(server, ANNA).await?;
    tabs::settled(anna).await?;
    // Before it is asked for there is none.
    let records = "window.notified = []; const Real = Notification; \
                   window.Notification = class extends Real { constructor(title, rest) { super(title, rest); \
                   this.addEventListener('show', () => notified.push(title)); } }; \
                   window.before = Number(document.title.match(/[0-9]+/))";
    anna.js(records, Vec::new()).await?;
    let origin = server.page.trim_end_matches("/dirigent");
    let allowed = json!({ "origin": origin, "permissions": ["notifications"] });
    anna.devtools("Browser.grantPermissions", allowed).await?;
    anna.client.minimize_window().await?;
    anna.until("a page that nobody sees", "return document.hidden").await?;
    ask_for_a_person(ben).await?;
    let counted = "return Number(document.title.match(/[0-9]+/)) > before";
    anna.until("the channel in the title", counted).await?;
    anna.client.set_window_rect(0, 0, 1_280, 900).await?;
    tabs::settled(anna).await?;
    let silent = anna.js("return notified.length", Vec::new()).await?;
    if silent != json!(0) {
        return Err("who did not ask for it was notified".into());
    }
    order(ben, "order=hold").await?;
    let held = "return ![...document.querySelectorAll('#list tr[id]')].some((row) => \
                row.textContent.includes('copy-desk') && row.textContent.includes('asks for a person'))";
    anna.until("that copy-desk needs nobody", held).await?;
    anna.click("#notify").await?;
    let asked = "return document.getElementById('notify').textContent === 'Do not notify me'";
    anna.until("that it is asked for", asked).await?;
    anna.client.minimize_window().await?;
    anna.until("a page that nobody sees", "return document.hidden").await?;
    ask_for_a_person(ben).await?;
    let shown = "return notified.length === 1 && /need/.test(notified[0]) && notified[0]";
    let shown = anna.until("a notification", shown).await?;
    println!("  the browser showed: {shown}");
    Ok(())
}

/// Lets the poet speak until it asks for a person, as it does each second time.
async fn ask_for_a_person(visitor: &Visitor) -> Result {
    order(visitor, "order=resume").await?;
    let stands = "const needs = document.querySelector('#state .needs')?.textContent ?? ''; \
                  return needs.includes('asks for a person') ? 'asks' : document.querySelector('#order-wake:enabled') && 'quiet'";
    for _ in 0..80 {
        match visitor.js(stands, Vec::new()).await?.as_str() {
            Some("asks") => return Ok(()),
            Some(_) => order(visitor, "order=wake&first=poet").await?,
            None => {}
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    Err("the poet asked for no person".into())
}

/// Gives the channel that is open an order, and does not mind a refusal.
async fn order(visitor: &Visitor, form: &str) -> Result {
    let send = "const done = arguments[arguments.length - 1]; fetch(location.href, { method: 'POST', \
                headers: { accept: 'application/json' }, body: new URLSearchParams(arguments[0] + '&sure=yes') }) \
                .then((answer) => done(answer.status))";
    visitor.client.execute_async(send, vec![json!(form)]).await?;
    Ok(())
}
