//! Two operators, each with a name, a token and a browser of their own.

use crate::Result;
use crate::browser::{Look, Visitor};
use crate::server::{ANNA, BEN, Server};
use crate::tabs;

pub(crate) async fn all(server: &Server) -> Result {
    println!("two operators see what the other one does, and by whom, and a stale form is refused");
    let anna = Visitor::arrive(server, Look::Light, None).await?;
    let ben = Visitor::arrive(server, Look::Light, None).await?;
    let told = both(&anna, &ben, server).await;
    anna.leave().await?;
    ben.leave().await?;
    told
}

async fn both(anna: &Visitor, ben: &Visitor, server: &Server) -> Result {
    anna.sign_in(server, ANNA).await?;
    ben.sign_in(server, BEN).await?;
    for visitor in [anna, ben] {
        visitor.open(server, "copy-desk").await?;
        tabs::settled(visitor).await?;
        visitor.js("window.notReloaded = true", Vec::new()).await?;
    }
    anna.fill("#reason", "The printer is down").await?;
    anna.click("#order-hold").await?;
    let held = "return window.notReloaded && document.querySelector('#state .because')?.textContent.match(/^By anna, .*: The printer is down$/s)";
    ben.until("what the other one did, and why", held).await?;
    ben.click("#order-resume").await?;
    let resumed =
        "return window.notReloaded && document.querySelector('#order-hold:enabled') !== null";
    anna.until("what the other one did", resumed).await?;

    // What is being typed stays when the orders change, and goes along with the order.
    anna.fill("#reason", "Too loud").await?;
    ben.click("#order-hold").await?;
    anna.js("document.getElementById('order-stop').focus()", Vec::new()).await?;
    anna.until("the hold", "return document.querySelector('#order-resume:enabled') !== null")
        .await?;
    anna.click("#order-stop").await?;
    let stopped = "return document.querySelector('#state .because')?.textContent.match(/^By anna, .*: Too loud$/s)";
    ben.until("the stop with its reason", stopped).await?;
    ben.click("#order-resume").await?;
    anna.until("the end of the stop", resumed).await?;

    // Both have the registry open; the second one would undo what the first one did.
    for visitor in [anna, ben] {
        visitor.go(&format!("{}/registry", server.page)).await?;
    }
    let name = "input[aria-label='Name of historian']";
    let save = "button[aria-label='Save historian']";
    anna.fill(name, "Chronicler").await?;
    anna.click(save).await?;
    let saved = format!("return document.querySelector(\"{name}\")?.defaultValue === 'Chronicler'");
    anna.until("the new name", &saved).await?;
    ben.fill(name, "Archivist").await?;
    ben.click(save).await?;
    let refused = "const told = document.querySelector('main').innerText; return told.includes('Chronicler') && told.includes('meanwhile')";
    ben.until("that it has changed, and to what", refused).await?;
    let kept = format!("return document.querySelector(\"{name}\")?.value === 'Archivist'");
    ben.until("what was typed", &kept).await?;

    ben.go(&format!("{}/orders", server.page)).await?;
    let logged = "const rows = [...document.querySelectorAll('.log tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent)); \
                  const has = (order, by, why) => rows.some((row) => row[1] === 'copy-desk' && row[2] === order && row[3] === by && row[4] === why); \
                  return has('hold', 'anna', 'The printer is down') && has('resume', 'ben', '')";
    ben.until("both in the log of orders", logged).await?;
    Ok(())
}
