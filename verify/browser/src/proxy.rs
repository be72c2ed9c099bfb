//! Behind nginx as it is when nobody has configured it: it collects what it passes on, speaks HTTP/1.0 to the page, and gives up after
//! 60 s of silence.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::process::{Child, Command};

use crate::Result;
use crate::browser::{Look, Visitor};
use crate::server::{ANNA, Server};
use crate::tabs;

/// Longer than nginx waits for a word.
const QUIET: Duration = Duration::from_secs(66);

struct Nginx {
    process: Child,
    folder: PathBuf,
    port: u16,
}

impl Nginx {
    /// `None` where it is not installed.
    async fn start(to: &str) -> Result<Option<Self>> {
        let folder = std::env::temp_dir().join(format!("browser-check-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {}/{kind};", folder.display()))
            .join(" ");
        let configuration = format!(
            "daemon off; pid {}/pid; events {{}} http {{ access_log off; {temporary} \
             server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{to}; }} }} }}",
            folder.display()
        );
        let file = folder.join("nginx.conf");
        std::fs::write(&file, configuration)?;
        let path = std::env::var("PATH").unwrap_or_default();
        let spawned = Command::new("nginx")
            .env("PATH", format!("{path}:/usr/sbin"))
            .args(["-e", "stderr", "-c"])
            .arg(&file)
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn();
        let Ok(process) = spawned else {
            std::fs::remove_dir_all(&folder)?;
            return Ok(None);
        };
        let mut nginx = Self { process, folder, port };
        for _ in 0..100 {
            if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return Ok(Some(nginx));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        nginx.process.kill().await?;
        Err("nginx does not listen".into())
    }

    async fn end(mut self) -> Result {
        // A kill would leave its worker behind.
        if let Some(id) = self.process.id() {
            Command::new("kill").arg(id.to_string()).status().await?;
        }
        self.process.wait().await?;
        Ok(std::fs::remove_dir_all(&self.folder)?)
    }
}

pub(crate) async fn all(server: &mut Server) -> Result {
    let Some(nginx) = Nginx::start(&server.port).await? else {
        println!("skipped: the page behind nginx, as it is not installed (Debian: nginx-light)");
        return Ok(());
    };
    let direct = server.page.clone();
    server.page = direct.replace(&server.port, &nginx.port.to_string());
    let visitor = Visitor::arrive(server, Look::Light, None).await?;
    let told = pass(&visitor, server).await;
    visitor.leave().await?;
    server.page = direct;
    nginx.end().await?;
    told
}

async fn pass(visitor: &Visitor, server: &mut Server) -> Result {
    println!("behind nginx an order is seen at once, and a page without news stays live");
    visitor.sign_in(server, ANNA).await?;
    visitor.open(server, "design-review").await?;
    tabs::settled(visitor).await?;
    for (order, says) in [("hold", "The channel is on hold."), ("resume", "")] {
        tabs::order(visitor, order, says).await?;
    }
    visitor.open(server, "incident-42").await?;
    let live = "return document.getElementById('pulse').textContent === 'live'";
    visitor.until("a live page", live).await?;
    let watch = "window.seen = []; const pulse = document.getElementById('pulse'); \
                 new MutationObserver(() => seen.push(pulse.textContent)).observe(pulse, { childList: true, characterData: true, subtree: true })";
    visitor.js(watch, Vec::new()).await?;
    tokio::time::sleep(QUIET).await;
    let seen = visitor.js("return seen", Vec::new()).await?;
    if seen != json!([]) {
        return Err(format!("a page without news was not live all the time: {seen}").into());
    }
    println!("behind nginx, which answers 502 meanwhile, a page outlives a restart of the bot");
    tabs::outlive_a_restart(visitor, server).await
}
