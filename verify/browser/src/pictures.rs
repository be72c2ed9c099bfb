//! A picture of each page.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use fantoccini::wd::WebDriverCompatibleCommand;
use http::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

use crate::Result;
use crate::browser::{Look, Visitor};
use crate::server::{OPERATOR, Server};

/// A command of Chromium's own.
#[derive(Debug)]
pub(crate) struct Devtools {
    pub(crate) command: String,
    pub(crate) parameters: Value,
}

impl WebDriverCompatibleCommand for Devtools {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> std::result::Result<Url, ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        let body = json!({ "cmd": self.command, "params": self.parameters });
        (Method::POST, Some(body.to_string()))
    }
}

async fn hold_with_a_reason(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "incident-42").await?;
    visitor.click("#order-resume").await?;
    visitor
        .until("a way to hold it", "return document.querySelector('#order-hold:enabled')")
        .await?;
    visitor.fill("#reason", "The customer is on the phone").await?;
    visitor.click("#order-hold").await?;
    visitor.until("the reason", "return document.querySelector('#state q')?.textContent").await?;
    Ok(())
}

/// Takes a picture of each page, and has axe-core look at it.
pub(crate) async fn take(visitor: &Visitor, server: &Server, look: Look, folder: &Path) -> Result {
    let taken = |page: &str| folder.join(format!("{page}-{}.png", look.name()));
    visitor.go(&server.page).await?;
    picture(visitor, look, &taken("sign-in")).await?;
    visitor.sign_in(server, OPERATOR).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    picture(visitor, look, &taken("overview")).await?;
    visitor.is_accessible(&format!("the overview, {}", look.name())).await?;
    for (channel, page) in [
        ("design-review", "channel"),
        ("naming-the-queue", "discussion"),
        ("release-notes", "damaged"),
        ("copy-desk", "silent"),
        ("where-to-move", "undelivered"),
    ] {
        visitor.open(server, channel).await?;
        visitor
            .until("a live page", "return document.getElementById('pulse')?.textContent === 'live'")
            .await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        picture(visitor, look, &taken(page)).await?;
        visitor.is_accessible(&format!("{channel}, {}", look.name())).await?;
    }
    visitor.open(server, "design-review").await?;
    visitor.click("a[href$='/replay']:not(nav a)").await?;
    visitor
        .until("the replay", "return document.querySelector('.replay .stands')?.textContent")
        .await?;
    let middle = "const slider = document.querySelector('input[type=range]'); \
                  slider.value = Math.floor(slider.max / 2); slider.oninput()";
    visitor.js(middle, Vec::new()).await?;
    picture(visitor, look, &taken("replay")).await?;
    visitor.is_accessible(&format!("the replay, {}", look.name())).await?;
    visitor.go(&format!("{}/agents/architect", server.page)).await?;
    picture(visitor, look, &taken("agent")).await?;
    visitor.is_accessible(&format!("an agent, {}", look.name())).await?;
    visitor.go(&format!("{}/registry", server.page)).await?;
    picture(visitor, look, &taken("registry")).await?;
    visitor.is_accessible(&format!("the registry, {}", look.name())).await?;
    visitor.fill("input[aria-label='Account of critic']", "12").await?;
    visitor.click("button[aria-label='Save critic']").await?;
    visitor.until("the refusal", "return document.getElementById('wrong')?.textContent").await?;
    picture(visitor, look, &taken("refused")).await?;
    visitor.is_accessible(&format!("a refusal of the registry, {}", look.name())).await?;
    hold_with_a_reason(visitor, server).await?;
    picture(visitor, look, &taken("reason")).await?;
    visitor.is_accessible(&format!("a channel on hold, {}", look.name())).await?;
    visitor.go(&format!("{}/orders", server.page)).await?;
    picture(visitor, look, &taken("orders")).await?;
    visitor.is_accessible(&format!("the log of orders, {}", look.name())).await?;
    for (path, page) in [("replay", "bring-a-recording"), ("channels/1", "not-there")] {
        visitor.go(&format!("{}/{path}", server.page)).await?;
        picture(visitor, look, &taken(page)).await?;
        visitor.is_accessible(&format!("{page}, {}", look.name())).await?;
    }
    // What a script asks in a box of the browser's own is a page without one.
    visitor.open(server, "where-to-move").await?;
    let send = "const form = document.getElementById('send').form; \
                form.to.value = [...form.to.options].find((option) => option.text === 'copy-desk').value; form.submit()";
    visitor.js(send, Vec::new()).await?;
    let asked = "return document.querySelector('h1').textContent === 'Are you sure?'";
    visitor.until("a question", asked).await?;
    picture(visitor, look, &taken("question")).await?;
    visitor.is_accessible(&format!("a question, {}", look.name())).await
}

async fn picture(visitor: &Visitor, look: Look, to: &Path) -> Result {
    let size =
        "return [innerWidth, innerHeight, Math.min(5000, document.documentElement.scrollHeight)]";
    let size = visitor.js(size, Vec::new()).await?;
    // The window as tall as the page, so that what stands at the window's end does not lie over its middle.
    let (scale, is_phone) = (if look.is_phone() { 2 } else { 1 }, look.is_phone());
    let tall = |height: &Value| json!({ "width": size[0], "height": height, "deviceScaleFactor": scale, "mobile": is_phone });
    visitor.devtools("Emulation.setDeviceMetricsOverride", tall(&size[2])).await?;
    let clip = json!({ "x": 0, "y": 0, "width": size[0], "height": size[2], "scale": 1 });
    let parameters = json!({ "captureBeyondViewport": true, "clip": clip });
    let taken = visitor.devtools("Page.captureScreenshot", parameters).await?;
    let data = taken["data"].as_str().ok_or("no picture")?;
    if is_phone {
        visitor.devtools("Emulation.setDeviceMetricsOverride", tall(&size[1])).await?;
    } else {
        visitor.devtools("Emulation.clearDeviceMetricsOverride", json!({})).await?;
    }
    std::fs::write(to, base64::engine::general_purpose::STANDARD.decode(data)?)?;
    println!("  {}", to.display());
    Ok(())
}
