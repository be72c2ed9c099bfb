//! Runs tasks as prompts in sessions of a server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Mutex as AsyncMutex;

use super::client::{Api, ApiError};
use super::prompt::Prompting;
use super::server::Server;
use crate::cli::CliDelegate;
use crate::delegate::{Task, TaskOutcome};
use crate::permission::{Decide, PermissionReply, PermissionRequest};

/// The most sessions that are remembered.
const SESSIONS: usize = 256;

/// A server and its sessions, which clones share.
#[derive(Clone)]
pub(super) struct Serve {
    address: Option<(String, String)>,
    decide: Decide,
    server: Arc<AsyncMutex<Option<Server>>>,
    sessions: Arc<Mutex<HashMap<String, Arc<Session>>>>,
}

/// One of your sessions, with opencode's id for it once there is one. It does one task at a time.
#[derive(Default)]
struct Session {
    id: AsyncMutex<Option<String>>,
}

impl Default for Serve {
    fn default() -> Self {
        Self {
            address: None,
            decide: Arc::new(|_| PermissionReply::Reject),
            server: Arc::default(),
            sessions: Arc::default(),
        }
    }
}

impl Serve {
    pub(super) fn use_address(&mut self, address: String, password: String) {
        self.address = Some((address, password));
    }

    pub(super) fn decide_by(
        &mut self,
        decide: impl Fn(&PermissionRequest) -> PermissionReply + Send + Sync + 'static,
    ) {
        self.decide = Arc::new(decide);
    }

    pub(super) async fn run(&self, process: &CliDelegate, task: Task) -> TaskOutcome {
        let late = process.time().sleep_until(task.deadline());
        let ready = async {
            let api = self.api(process, &task).await?;
            let session = self.session(task.session_id());
            Ok::<_, String>((api, session))
        };
        let ready = tokio::select! {
            ready = ready => ready,
            () = late => return TaskOutcome::timeout("", "opencode's server was not ready in time."),
        };
        match ready {
            Ok((api, session)) => self.prompt(process, &api, &session, &task).await,
            Err(problem) => TaskOutcome::error(problem),
        }
    }

    /// Prompts the session. If the server no longer knows it, a new one is made.
    async fn prompt(
        &self,
        process: &CliDelegate,
        api: &Api,
        session: &Session,
        task: &Task,
    ) -> TaskOutcome {
        let late = process.time().sleep_until(task.deadline());
        let mut id = tokio::select! {
            id = session.id.lock() => id,
            () = late => return TaskOutcome::timeout("", "The session was busy with another task."),
        };
        let is_known = id.is_some();
        for is_last in [!is_known, true] {
            let name = match id.take() {
                Some(name) => Ok(name),
                None => api.create_session().await,
            };
            let name = match name {
                Ok(name) => id.insert(name).clone(),
                Err(error) => return TaskOutcome::error(format!("{error}.")),
            };
            let is_own = self.address.is_none();
            let prompting = Prompting::new(api, &name, task, process.time(), &self.decide, is_own);
            match prompting.run().await {
                Ok(outcome) => return outcome,
                Err(ApiError::NotFound) if !is_last => *id = None,
                Err(error) => return TaskOutcome::error(format!("{error}.")),
            }
        }
        TaskOutcome::error("opencode has no session.")
    }

    /// Returns the server: the one at your address, the one that runs, or a new one.
    async fn api(&self, process: &CliDelegate, task: &Task) -> Result<Api, String> {
        if let Some((address, password)) = &self.address {
            let folder = process.folder().map(|folder| folder.display().to_string());
            return Api::new(address, password, folder, process.time())
                .map_err(|error| format!("{error}."));
        }
        let config = &task.config().agents.opencode;
        let mut server = self.server.lock().await;
        if let Some(running) = &*server {
            let is_same = (&running.config.binary, running.config.serve_port)
                == (&config.binary, config.serve_port);
            if is_same && running.api.health().await.is_ok() {
                return Ok(running.api.clone());
            }
            // The port must be free before another server starts.
            *server = None;
        }
        let started = Server::start(process, config, task.deadline()).await?;
        Ok(server.insert(started).api.clone())
    }

    fn session(&self, name: &str) -> Arc<Session> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if !sessions.contains_key(name) && sessions.len() >= SESSIONS {
            // Sessions in use stay.
            sessions.retain(|_, session| Arc::strong_count(session) > 1);
        }
        Arc::clone(sessions.entry(name.to_owned()).or_default())
    }
}
