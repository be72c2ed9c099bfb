//! Decides who may come in. This is plain data with tokens, signed sessions (`session`) and failed attempts
//! (`attempts`), and the time is an argument.

mod attempts;
mod session;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use self::attempts::Attempts;
pub(crate) use self::session::SESSION_SECONDS;
use self::session::{Session, SessionKey};

/// The role of a visitor.
///
/// ```
/// use dirigent_control::VisitorRole;
/// assert!(VisitorRole::Operator.may_change() && !VisitorRole::Viewer.may_change());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a host's own check answers with one of the two")]
pub enum VisitorRole {
    /// Can read everything and give no orders.
    Viewer,
    /// Can see and steer everything.
    Operator,
}

impl VisitorRole {
    /// Returns true for an operator.
    pub const fn may_change(self) -> bool {
        matches!(self, Self::Operator)
    }
}

/// The credential in a request.
#[derive(Clone, Copy)]
pub(crate) enum Credential<'a> {
    Nothing,
    Bearer(&'a str),
    Session(&'a str),
}

/// The decision about a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Admitted(VisitorRole),
    Unknown,
    /// There were too many failures from this address. Its tokens are not compared before this time has passed.
    TooMany {
        wait: Duration,
    },
}

/// The most ended sessions that are remembered. The ones that last longest are kept.
const ENDED_MAX: usize = 10_000;

/// The tokens, and the role of each.
pub(crate) struct Auth {
    accounts: Vec<Account>,
    attempts: Attempts,
    /// The time at which the newest session ends.
    newest: u64,
    /// The sessions that visitors ended, in the order in which they would have expired.
    ended: BTreeSet<SessionId>,
}

/// The identity of a session in every process with the same tokens. Two sessions of one account and process never
/// expire in the same millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SessionId {
    /// The time at which it expires, in milliseconds of Unix time.
    expires: u64,
    /// The [label](SessionKey::label) of the account's token, because processes may list their accounts differently.
    account: u32,
}

impl SessionId {
    /// Returns the time at which it expires.
    pub(crate) const fn expires(self) -> Timestamp {
        Timestamp::from_millis(self.expires)
    }
}

/// A session that a visitor ended before it expired. It does not contain the cookie.
///
/// ```
/// let ended: dirigent_control::EndedSession = serde_json::from_str(r#"{"expires":1800000000000,"account":7}"#)?;
/// assert_eq!(ended, ended.clone());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EndedSession(pub(crate) SessionId);

struct Account {
    role: VisitorRole,
    /// The name of the account, for people.
    name: Arc<str>,
    /// The token's digest. A comparison of digests takes the same time for tokens of any length.
    digest: [u8; 32],
    key: SessionKey,
}

impl Auth {
    /// Creates the accounts from the operators' names and tokens and from the viewer's token. The name of the cookie
    /// comes from the first operator's token.
    pub(crate) fn new<'a>(
        operators: impl IntoIterator<Item = (&'a str, &'a str)>,
        viewer: Option<&str>,
    ) -> Self {
        let account = |role, name: &str, token: &str| Account {
            role,
            name: name.into(),
            digest: Sha256::digest(token).into(),
            key: SessionKey::of(token),
        };
        let operators =
            operators.into_iter().map(|(name, token)| account(VisitorRole::Operator, name, token));
        let viewer = viewer.map(|token| account(VisitorRole::Viewer, "viewer", token));
        let accounts = operators.chain(viewer).collect();
        Self { accounts, attempts: Attempts::default(), newest: 0, ended: BTreeSet::new() }
    }

    /// Returns the name of the session's cookie.
    pub(crate) fn cookie(&self) -> String {
        let label = self.accounts.first().map(|account| account.key.label());
        format!("dirigent_session_{:08x}", label.unwrap_or_default())
    }

    /// Returns the name of the account with this credential if it is known.
    pub(crate) fn name_of(&self, credential: Credential<'_>) -> Option<Arc<str>> {
        let at = match credential {
            Credential::Nothing => None,
            Credential::Bearer(token) => self.with_token(token),
            Credential::Session(text) => self.with_session(&Session::parse(text)?),
        };
        at.and_then(|at| self.accounts.get(at)).map(|account| Arc::clone(&account.name))
    }

    /// Returns the first valid one of these sessions.
    pub(crate) fn first_valid<'a>(
        &self,
        now: Timestamp,
        texts: impl Iterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let is_valid = |text: &&str| {
            let session = Session::parse(text);
            session.is_some_and(|session| self.try_session(now, &session) != Judgement::Unknown)
        };
        let mut texts = texts;
        texts.find(is_valid)
    }

    /// Returns the session that admitted a visitor.
    pub(crate) fn session_of(&self, credential: Credential<'_>) -> Option<SessionId> {
        let Credential::Session(text) = credential else { return None };
        let session = Session::parse(text)?;
        self.id_of(&session, self.with_session(&session)?)
    }

    fn id_of(&self, session: &Session<'_>, at: usize) -> Option<SessionId> {
        let account = self.accounts.get(at)?.key.label();
        Some(SessionId { expires: session.expires, account })
    }

    /// Returns true if this session has ended.
    pub(crate) fn is_over(&self, now: Timestamp, session: SessionId) -> bool {
        now >= session.expires() || self.ended.contains(&session)
    }

    /// Ends sessions, so that their cookies are refused. Returns true if one of them had not ended before.
    pub(crate) fn end(
        &mut self,
        now: Timestamp,
        sessions: impl IntoIterator<Item = SessionId>,
    ) -> bool {
        self.ended = self.ended.split_off(&SessionId { expires: now.as_millis(), account: 0 });
        let mut is_new = false;
        for session in sessions.into_iter().filter(|session| now < session.expires()) {
            is_new |= self.ended.insert(session);
            if self.ended.len() > ENDED_MAX {
                self.ended.pop_first();
            }
        }
        is_new
    }

    /// Returns the sessions that visitors ended, the one that would have expired first at the start.
    pub(crate) fn ended(&self) -> impl Iterator<Item = SessionId> {
        self.ended.iter().copied()
    }

    /// Judges a request. A valid session is admitted, even if other requests from its address fail. An invalid session
    /// does not count as a failed attempt, because a signature cannot be guessed and a browser keeps sending the cookie
    /// of a replaced token.
    pub(crate) fn judge(
        &mut self,
        now: Timestamp,
        address: Option<IpAddr>,
        credential: Credential<'_>,
    ) -> Judgement {
        match credential {
            Credential::Nothing => Judgement::Unknown,
            Credential::Bearer(token) => self.try_token(now, address, token),
            Credential::Session(text) => Session::parse(text)
                .map_or(Judgement::Unknown, |session| self.try_session(now, &session)),
        }
    }

    /// Compares a token, and returns a session for it.
    pub(crate) fn sign_in(
        &mut self,
        now: Timestamp,
        address: Option<IpAddr>,
        token: &str,
    ) -> Result<String, Judgement> {
        match self.try_token(now, address, token) {
            Judgement::Admitted(role) => {
                self.newest = (self.newest + 1).max(now.as_millis() + SESSION_SECONDS * 1_000);
                let account = self.with_token(token).and_then(|at| self.accounts.get(at));
                let session =
                    account.map(|account| Session::begin(role, self.newest, &account.key));
                session.ok_or(Judgement::Unknown)
            }
            refused @ (Judgement::Unknown | Judgement::TooMany { .. }) => Err(refused),
        }
    }

    fn try_token(&mut self, now: Timestamp, address: Option<IpAddr>, token: &str) -> Judgement {
        if let Some(wait) = self.attempts.barred_for(now, address) {
            return Judgement::TooMany { wait };
        }
        match self.with_token(token).and_then(|at| self.accounts.get(at)) {
            Some(account) => Judgement::Admitted(account.role),
            None => self.failed(now, address),
        }
    }

    /// Returns the account with this token. All tokens are compared, so that the time does not show which one it was.
    fn with_token(&self, token: &str) -> Option<usize> {
        let digest: [u8; 32] = Sha256::digest(token).into();
        let mut found = None;
        for (at, account) in self.accounts.iter().enumerate() {
            if bool::from(account.digest.ct_eq(&digest)) {
                found = found.or(Some(at));
            }
        }
        found
    }

    /// Returns the account that started the session with its token.
    fn with_session(&self, session: &Session<'_>) -> Option<usize> {
        let is_its = |account: &Account| {
            account.role == session.role && session.is_signed_with(&account.key)
        };
        self.accounts.iter().position(is_its)
    }

    fn try_session(&self, now: Timestamp, session: &Session<'_>) -> Judgement {
        match self.with_session(session).and_then(|at| self.id_of(session, at)) {
            Some(id) if self.is_over(now, id) => Judgement::Unknown,
            Some(_) => Judgement::Admitted(session.role),
            // The session was signed with a token that was replaced since, or it is forged.
            None => Judgement::Unknown,
        }
    }

    fn failed(&mut self, now: Timestamp, address: Option<IpAddr>) -> Judgement {
        if let Some(wait) = self.attempts.barred_for(now, address) {
            return Judgement::TooMany { wait };
        }
        self.attempts.failed(now, address);
        Judgement::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPERATOR: &str = "the operator's secret";
    const VIEWER: &str = "the viewer's secret";
    const HOME: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7)));
    const AWAY: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 8)));
    const NOON: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn auth() -> Auth {
        Auth::new([("operator", OPERATOR)], Some(VIEWER))
    }

    fn after(seconds: u64) -> Timestamp {
        NOON + Duration::from_secs(seconds)
    }

    #[test]
    fn each_token_opens_its_own_role_and_no_other_text_does() {
        let mut auth = auth();
        let mut bearer = |token| auth.judge(NOON, HOME, Credential::Bearer(token));
        assert_eq!(bearer(OPERATOR), Judgement::Admitted(VisitorRole::Operator));
        assert_eq!(bearer(VIEWER), Judgement::Admitted(VisitorRole::Viewer));
        for wrong in ["", "the operator's secre", "the operator's secret ", "THE OPERATOR'S SECRET"]
        {
            assert_eq!(bearer(wrong), Judgement::Unknown, "{wrong:?}");
        }
        let mut alone = Auth::new([("operator", OPERATOR)], None);
        assert_eq!(alone.judge(NOON, HOME, Credential::Bearer(VIEWER)), Judgement::Unknown);
    }

    #[test]
    fn a_session_lasts_twelve_hours_and_outlives_a_restart() {
        let session = auth().sign_in(NOON, HOME, VIEWER).unwrap();
        let mut restarted = auth();
        let mut at = |seconds| restarted.judge(after(seconds), HOME, Credential::Session(&session));
        assert_eq!(at(0), Judgement::Admitted(VisitorRole::Viewer));
        assert_eq!(at(12 * 3_600 - 1), Judgement::Admitted(VisitorRole::Viewer));
        assert_eq!(at(12 * 3_600), Judgement::Unknown);
    }

    #[test]
    fn a_session_dies_with_its_token() {
        let session = auth().sign_in(NOON, HOME, OPERATOR).unwrap();
        let mut other = Auth::new([("operator", "another secret")], Some(VIEWER));
        assert_eq!(other.judge(NOON, HOME, Credential::Session(&session)), Judgement::Unknown);
    }

    #[test]
    fn a_session_cannot_be_made_longer_or_mightier() {
        let session = auth().sign_in(NOON, HOME, VIEWER).unwrap();
        let [_, expires, signature]: [&str; 3] =
            session.split('.').collect::<Vec<_>>().try_into().unwrap();
        let later = expires.parse::<u64>().unwrap() + 1;
        let mut auth = auth();
        for forged in [
            format!("o.{expires}.{signature}"),
            format!("v.{later}.{signature}"),
            format!("v.{expires}."),
            format!("v.{expires}.{}", &signature[1..]),
            format!("v.0{expires}.{signature}"),
            "v..".to_owned(),
            String::new(),
        ] {
            let judged = auth.judge(NOON, None, Credential::Session(&forged));
            assert_eq!(judged, Judgement::Unknown, "{forged}");
        }
    }

    #[test]
    fn ten_failures_a_minute_bar_an_address_and_neither_another_one_nor_sessions() {
        let mut auth = auth();
        let session = auth.sign_in(NOON, HOME, OPERATOR).unwrap();
        for at in 0..10 {
            assert_eq!(
                auth.judge(after(at), HOME, Credential::Bearer("wrong")),
                Judgement::Unknown
            );
        }
        let barred = Judgement::TooMany { wait: Duration::from_secs(50) };
        assert_eq!(
            auth.judge(after(10), HOME, Credential::Bearer(OPERATOR)),
            barred,
            "not compared"
        );
        assert_eq!(auth.sign_in(after(10), HOME, OPERATOR), Err(barred));
        let admitted = Judgement::Admitted(VisitorRole::Operator);
        assert_eq!(auth.judge(after(10), HOME, Credential::Session(&session)), admitted);
        assert_eq!(auth.judge(after(10), AWAY, Credential::Bearer(OPERATOR)), admitted);
        assert_eq!(
            auth.judge(after(60), HOME, Credential::Bearer(OPERATOR)),
            admitted,
            "a minute later"
        );
    }

    /// PG8
    #[test]
    fn a_cookie_of_another_token_is_no_failed_attempt() {
        let stale = auth().sign_in(NOON, HOME, OPERATOR).unwrap();
        let mut auth = Auth::new([("operator", "another secret")], None);
        for text in std::iter::repeat_n(stale.as_str(), 100).chain(["", "o.1.forged", "v.."]) {
            assert_eq!(auth.judge(NOON, HOME, Credential::Session(text)), Judgement::Unknown);
        }
        let admitted = Judgement::Admitted(VisitorRole::Operator);
        assert_eq!(auth.judge(NOON, HOME, Credential::Bearer("another secret")), admitted);
    }

    /// PG8: the session that was ended, and no other one that began at the same moment.
    #[test]
    fn a_session_that_was_ended_opens_nothing() {
        let mut auth = Auth::new([("anna", OPERATOR), ("ben", "ben's own secret")], Some(VIEWER));
        let tokens = [OPERATOR, OPERATOR, "ben's own secret", VIEWER];
        let sessions = tokens.map(|token| auth.sign_in(NOON, HOME, token).unwrap());
        let name = |auth: &Auth, text| auth.name_of(Credential::Session(text)).unwrap().to_string();
        assert_eq!(
            (name(&auth, &sessions[0]), name(&auth, &sessions[2])),
            ("anna".into(), "ben".into())
        );
        let sign_out = |auth: &mut Auth, now, text| {
            let session = auth.session_of(Credential::Session(text));
            auth.end(now, session)
        };
        for (at, ended) in sessions.iter().enumerate() {
            assert!(sign_out(&mut auth, after(1), ended));
            assert!(!sign_out(&mut auth, after(1), ended), "it has ended already");
            assert!(!sign_out(&mut auth, after(1), "o.1.forged"));
            for (other, session) in sessions.iter().enumerate() {
                let judged = auth.judge(after(2), HOME, Credential::Session(session));
                assert_eq!(judged == Judgement::Unknown, other <= at, "{at} {other}");
            }
        }
        assert_eq!(auth.ended().count(), 4);
        assert!(!sign_out(&mut auth, after(20 * 3_600), &sessions[0]));
        assert_eq!(auth.ended().count(), 0, "those that are over are forgotten");
    }

    /// A process that lists its operators in another order takes the same session for the same one.
    #[test]
    fn a_session_that_ended_in_another_process_has_ended_in_this_one() {
        let all = [("anna", OPERATOR), ("ben", "ben's own secret")];
        let mut one = Auth::new(all, Some(VIEWER));
        let mut other = Auth::new(all.into_iter().rev(), None);
        let [anna, ben] = all.map(|(_, token)| one.sign_in(NOON, HOME, token).unwrap());
        let ended = one.session_of(Credential::Session(&ben));
        one.end(NOON, ended);
        assert!(other.end(NOON, one.ended()));
        let admitted = Judgement::Admitted(VisitorRole::Operator);
        for auth in [&mut one, &mut other] {
            assert_eq!(auth.judge(NOON, HOME, Credential::Session(&ben)), Judgement::Unknown);
            assert_eq!(auth.judge(NOON, HOME, Credential::Session(&anna)), admitted);
        }
    }

    /// PG8
    #[test]
    fn two_bots_on_a_machine_do_not_share_a_cookie() {
        let other = Auth::new([("operator", "another secret")], Some(VIEWER));
        assert_ne!(auth().cookie(), other.cookie());
        assert_eq!(auth().cookie(), auth().cookie(), "it survives a restart");
    }

    #[test]
    fn who_brings_nothing_has_not_failed() {
        let mut auth = auth();
        for _ in 0..100 {
            assert_eq!(auth.judge(NOON, HOME, Credential::Nothing), Judgement::Unknown);
        }
        let admitted = Judgement::Admitted(VisitorRole::Operator);
        assert_eq!(auth.judge(NOON, HOME, Credential::Bearer(OPERATOR)), admitted);
    }
}
