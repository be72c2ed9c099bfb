//! A visitor with a browser.

use std::time::Duration;

use fantoccini::elements::Element;
use fantoccini::error::CmdError;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Map, Value, json};

use crate::Result;
use crate::server::Server;

/// How the visitor's screen is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Light,
    Dark,
    Phone,
    DarkPhone,
}

impl Look {
    pub(crate) const ALL: [Self; 4] = [Self::Light, Self::Dark, Self::Phone, Self::DarkPhone];

    pub(crate) const fn is_phone(self) -> bool {
        matches!(self, Self::Phone | Self::DarkPhone)
    }

    const fn is_dark(self) -> bool {
        matches!(self, Self::Dark | Self::DarkPhone)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
            Self::Phone => "phone",
            Self::DarkPhone => "phone-dark",
        }
    }
}

/// How long something may take to appear.
const PATIENCE: Duration = Duration::from_secs(40);

pub(crate) struct Visitor {
    pub(crate) client: Client,
    axe: Option<String>,
}

impl Visitor {
    pub(crate) async fn arrive(server: &Server, look: Look, axe: Option<String>) -> Result<Self> {
        let mut options = json!({
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,900"],
        });
        if look.is_phone() {
            let metrics = json!({ "width": 390, "height": 844, "pixelRatio": 2.0, "touch": true });
            options["mobileEmulation"] = json!({ "deviceMetrics": metrics });
        }
        let mut wanted = Map::new();
        wanted.insert("goog:chromeOptions".to_owned(), options);
        wanted.insert("goog:loggingPrefs".to_owned(), json!({ "browser": "ALL" }));
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(wanted)
            .connect(&server.driver)
            .await?;
        let visitor = Self { client, axe };
        if look.is_dark() {
            let features = json!([{ "name": "prefers-color-scheme", "value": "dark" }]);
            visitor.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).await?;
        }
        Ok(visitor)
    }

    pub(crate) async fn leave(self) -> Result {
        Ok(self.client.close().await?)
    }

    pub(crate) async fn go(&self, address: &str) -> Result {
        Ok(self.client.goto(address).await?)
    }

    pub(crate) async fn js(&self, script: &str, arguments: Vec<Value>) -> Result<Value> {
        Ok(self.client.execute(script, arguments).await?)
    }

    /// Waits until a script gives something that is not false, null or empty.
    pub(crate) async fn until(&self, what: &str, script: &str) -> Result<Value> {
        let begun = tokio::time::sleep(PATIENCE);
        tokio::pin!(begun);
        loop {
            let value = self.js(script, Vec::new()).await?;
            if !matches!(&value, Value::Null | Value::Bool(false)) && value != json!("") {
                return Ok(value);
            }
            tokio::select! {
                () = &mut begun => {
                    let shown = self.js("return document.body.innerText", Vec::new()).await?;
                    return Err(format!("not seen: {what}. The page shows: {shown}").into());
                }
                () = tokio::time::sleep(Duration::from_millis(100)) => {}
            }
        }
    }

    pub(crate) async fn click(&self, css: &str) -> Result {
        self.on(css, async |element| element.click().await).await
    }

    /// What the visitor is asked, when that comes.
    pub(crate) async fn question(&self) -> Result<String> {
        for _ in 0..100 {
            match self.client.get_alert_text().await {
                Err(error) if error.is_no_such_alert() => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                asked => return Ok(asked?),
            }
        }
        Err("no question was asked".into())
    }

    /// Says yes to a question, when it comes.
    pub(crate) async fn say_yes(&self) -> Result {
        for _ in 0..100 {
            match self.client.accept_alert().await {
                Err(error) if error.is_no_such_alert() => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                done => return Ok(done?),
            }
        }
        Err("no question was asked".into())
    }

    pub(crate) async fn fill(&self, css: &str, text: &str) -> Result {
        self.on(css, async |field| {
            field.clear().await?;
            field.send_keys(text).await
        })
        .await
    }

    /// Does something with an element. The page may draw a part anew between finding the element and using it: the
    /// visitor then takes the new one, as a person would without noticing.
    async fn on(
        &self,
        css: &str,
        act: impl AsyncFn(&Element) -> std::result::Result<(), CmdError>,
    ) -> Result {
        for _ in 0..20 {
            let element = self.client.find(Locator::Css(css)).await?;
            match act(&element).await {
                Err(error) if error.is_stale_element_reference() => {}
                done => return Ok(done?),
            }
        }
        Err(format!("{css} was drawn anew each time that it was to be used").into())
    }

    pub(crate) async fn sign_in(&self, server: &Server, token: &str) -> Result {
        self.go(&server.page).await?;
        self.fill("#token", token).await?;
        self.click("button").await?;
        self.until(
            "the overview",
            "return document.querySelector('h1')?.textContent === 'Channels'",
        )
        .await?;
        Ok(())
    }

    /// Opens a channel from the overview.
    pub(crate) async fn open(&self, server: &Server, name: &str) -> Result {
        self.go(&server.page).await?;
        let find = "return [...document.querySelectorAll('.who a')].find((a) => a.textContent === arguments[0])?.href";
        let found = self.js(find, vec![json!(name)]).await?;
        self.go(found.as_str().ok_or_else(|| format!("no channel {name}"))?).await
    }

    /// axe-core finds nothing on this page.
    pub(crate) async fn is_accessible(&self, page: &str) -> Result {
        let Some(axe) = &self.axe else { return Ok(()) };
        // The page's policy allows no script from elsewhere; the driver's are allowed.
        let script = format!(
            "{axe}; const done = arguments[arguments.length - 1]; \
             axe.run(document, {{ resultTypes: ['violations'] }}).then((found) => done(found.violations.map((one) => \
             one.id + ': ' + one.help + ' — ' + one.nodes.map((node) => node.html).join(' | '))))"
        );
        let found = self.client.execute_async(&script, Vec::new()).await?;
        match found.as_array() {
            Some(violations) if violations.is_empty() => {
                println!("  axe-core finds nothing: {page}");
                Ok(())
            }
            _ => Err(format!("axe-core on {page}: {found:#}").into()),
        }
    }

    pub(crate) async fn devtools(&self, command: &str, parameters: Value) -> Result<Value> {
        let asked = crate::pictures::Devtools { command: command.to_owned(), parameters };
        Ok(self.client.issue_cmd(asked).await?)
    }
}
