//! The variables of a program's environment.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use tokio::process::Command;

/// Variables that programs need and that contain no secret: paths, the user's name, and the look of text. Proxies are
/// not included, because their addresses may contain a password.
const USUAL: [&str; 36] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TZ",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "LD_LIBRARY_PATH",
    // Windows starts no program without these.
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
];

/// The environment of a program. By default it has the usual variables only, so that a variable that you did not name,
/// for example a token, does not reach the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    /// True if the program gets all variables of the host.
    has_all: bool,
    /// The changes in order. If a name comes twice, the later one wins.
    changes: Vec<(OsString, Change)>,
}

#[derive(Clone, Debug)]
enum Change {
    Set(OsString),
    /// The host's value, if it has one.
    Pass,
    Remove,
}

impl Environment {
    pub(crate) fn set(&mut self, name: OsString, value: OsString) {
        self.changes.push((name, Change::Set(value)));
    }

    pub(crate) fn pass(&mut self, name: OsString) {
        self.changes.push((name, Change::Pass));
    }

    pub(crate) const fn pass_all(&mut self) {
        self.has_all = true;
    }

    pub(crate) fn remove(&mut self, name: OsString) {
        self.changes.push((name, Change::Remove));
    }

    /// Sets the variables of a program that starts in this folder.
    pub(super) fn put_into(&self, command: &mut Command, folder: Option<&Path>) {
        if !self.has_all {
            command.env_clear().envs(env::vars_os().filter(|(name, _)| is_usual(name)));
        }
        if let Some(folder) = folder {
            // Programs that ask their environment for their folder must not get the host's.
            command.env("PWD", folder);
        }
        for (name, change) in &self.changes {
            let value = match change {
                Change::Set(value) => Some(value.clone()),
                Change::Pass => env::var_os(name),
                Change::Remove => None,
            };
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }
}

/// Returns true if every program gets the variable.
fn is_usual(name: &OsStr) -> bool {
    let is_locale = name.as_encoded_bytes().starts_with(b"LC_");
    // Only Windows ignores the case of the names.
    let is_same = |usual: &str| {
        if cfg!(windows) { name.eq_ignore_ascii_case(usual) } else { name == OsStr::new(usual) }
    };
    is_locale || USUAL.iter().any(|usual| is_same(usual))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DG2: no name of a secret is among the usual variables.
    #[test]
    fn what_may_be_a_secret_is_not_usual() {
        for secret in [
            "DISCORD_TOKEN",
            "OPENAI_API_KEY",
            "DATABASE_URL",
            "PGPASSWORD",
            "HTTPS_PROXY",
            "SSH_AUTH_SOCK",
            "PATHS",
            "path2",
            "LC",
        ] {
            assert!(!is_usual(OsStr::new(secret)), "{secret}");
        }
        for usual in ["PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR"] {
            assert!(is_usual(OsStr::new(usual)), "{usual}");
        }
    }
}
