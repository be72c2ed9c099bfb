//! In a browser that runs no script of the page.

use serde_json::json;

use crate::Result;
use crate::browser::{Look, Visitor};
use crate::server::{BEN, Server};

pub(crate) async fn all(server: &Server) -> Result {
    println!(
        "without JavaScript one finds, holds and resumes a channel, archiving asks, and Back sends no form again"
    );
    let visitor = Visitor::arrive(server, Look::Light, None).await?;
    let told = use_forms(&visitor, server).await;
    visitor.leave().await?;
    told
}

async fn use_forms(visitor: &Visitor, server: &Server) -> Result {
    // The driver's scripts still run, those of the page do not.
    visitor.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await?;
    visitor.sign_in(server, BEN).await?;
    visitor.until("no script", "return !document.documentElement.classList.contains('js')").await?;
    let claims = "return document.getElementById('pulse').offsetWidth === 0 && \
                  document.getElementById('notify').offsetWidth === 0";
    visitor.until("nothing that only a script could do", claims).await?;
    let times = "const times = [...document.querySelectorAll('time')]; \
                 return times.length > 2 && times.every((time) => /\\d\\d:\\d\\d/.test(time.textContent))";
    visitor.until("times that are times", times).await?;
    visitor.fill("input[name=find]", "design").await?;
    visitor.click("form.filter button").await?;
    let found = "return location.search.includes('find=design') && document.querySelectorAll('.who').length === 1";
    visitor.until("the one channel", found).await?;
    visitor.click(".who a").await?;
    visitor.fill("#reason", "Lunch").await?;
    visitor.click("#order-hold").await?;
    let held = "return document.querySelector('#state .because')?.textContent.includes('By ben') && \
                document.querySelector('#state q').textContent === 'Lunch'";
    visitor.until("the hold", held).await?;
    visitor.click("#order-resume").await?;
    visitor
        .until("the resume", "return document.querySelector('#order-hold:enabled') !== null")
        .await?;
    visitor.click("#order-archive").await?;
    let asked = "return document.querySelector('h1').textContent === 'Are you sure?' && document.querySelector('button.main') !== null";
    visitor.until("a question", asked).await?;
    visitor.click("form a").await?;
    visitor
        .until(
            "the channel as it was",
            "return document.querySelector('#order-hold:enabled') !== null",
        )
        .await?;
    // A refused text is still there.
    let words = "We are on it. ".repeat(200);
    visitor.fill("#text", &words).await?;
    visitor.click("#post-now").await?;
    let kept = format!(
        "return document.querySelector('h1').textContent === 'Not posted' && \
         document.getElementById('text').value.length === {}",
        words.len()
    );
    visitor.until("the refused text", &kept).await?;
    // Back sends no form again, neither the order's nor the question's.
    visitor.go(&server.page).await?;
    visitor.click(".who input[type=checkbox]").await?;
    visitor.click("#many button[value=hold]").await?;
    visitor.until("a question", asked).await?;
    visitor.click("form button.main").await?;
    let told =
        "return document.querySelector('[role=status]')?.textContent.includes('carried it out')";
    visitor.until("what came of it", told).await?;
    visitor.client.back().await?;
    visitor.until("the question once more", asked).await?;
    visitor.client.back().await?;
    let overview = "return document.querySelector('h1')?.textContent === 'Channels'";
    visitor.until("the overview", overview).await?;
    visitor.client.forward().await?;
    visitor.client.forward().await?;
    visitor.until("what came of it, once more", told).await?;
    visitor.go(&format!("{}/registry", server.page)).await?;
    let name = "input[aria-label='Name of poet']";
    visitor.fill(name, "The Poet").await?;
    visitor.click("button[aria-label='Save poet']").await?;
    let saved = format!("return document.querySelector(\"{name}\")?.defaultValue === 'The Poet'");
    visitor.until("the new name", &saved).await?;
    Ok(())
}
