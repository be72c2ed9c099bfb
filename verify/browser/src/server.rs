//! The example and the browser's driver, as long as the check runs.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::Result;

pub(crate) const OPERATOR: &str = "operator-of-the-check";
pub(crate) const VIEWER: &str = "viewer-of-the-check";
/// Two operators with names.
pub(crate) const ANNA: &str = "anna-of-the-check";
pub(crate) const BEN: &str = "ben-of-the-check-too";

pub(crate) struct Server {
    /// Where the page is for its visitors: also behind a proxy.
    pub(crate) page: String,
    /// The port of the page itself.
    pub(crate) port: String,
    /// A bot's account without an agent.
    pub(crate) spare: String,
    /// Where the driver of the browser listens.
    pub(crate) driver: String,
    control: PathBuf,
    process: Child,
    _driver: Child,
}

impl Server {
    pub(crate) async fn start(control: &Path, driver: &Path) -> Result<Self> {
        let (process, spare, at) = serve(control, "0").await?;
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let port = line(&mut driver, "ChromeDriver was started successfully on port ").await?;
        let driver_at = format!("http://127.0.0.1:{}", port.trim_end_matches('.'));
        let (page, control) = (format!("http{at}"), control.to_owned());
        let port = page.rsplit(':').next().and_then(|rest| rest.split('/').next());
        let port = port.ok_or("no port")?.to_owned();
        Ok(Self { page, port, spare, driver: driver_at, control, process, _driver: driver })
    }

    /// Ends the bot, as a crash does.
    pub(crate) async fn stop(&mut self) -> Result {
        Ok(self.process.kill().await?)
    }

    /// Begins it again at the same address, with the same tokens.
    pub(crate) async fn start_again(&mut self) -> Result {
        let (process, spare, _) = serve(&self.control, &self.port).await?;
        (self.process, self.spare) = (process, spare);
        Ok(())
    }
}

async fn serve(control: &Path, port: &str) -> Result<(Child, String, String)> {
    let arguments = ["--port", port, "--token", OPERATOR, "--viewer-token", VIEWER];
    let mut command = Command::new(control);
    for (name, token) in [("anna", ANNA), ("ben", BEN)] {
        command.args(["--operator", &format!("{name}={token}")]);
    }
    let mut process = command.args(arguments).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let spare = line(&mut process, "an account without an agent: ").await?;
    let at = line(&mut process, "http").await?;
    Ok((process, spare, at))
}

/// What a process prints behind these words. The rest of what it prints is read by nobody, which is fine for a few lines.
async fn line(process: &mut Child, words: &str) -> Result<String> {
    let out = process.stdout.as_mut().ok_or("a process without output")?;
    let mut lines = BufReader::with_capacity(1, out).lines();
    let read = async {
        while let Some(line) = lines.next_line().await? {
            if let Some(found) = line.strip_prefix(words) {
                return Ok(found.to_owned());
            }
        }
        Err::<_, Box<dyn std::error::Error + Send + Sync>>(
            "a process ended before it was ready".into(),
        )
    };
    tokio::time::timeout(Duration::from_secs(60), read).await?
}
