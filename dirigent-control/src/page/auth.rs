//! Decides who may come in, as a value: tokens, signed sessions (`session`) and failed attempts (`attempts`). Time
//! is an argument.

mod attempts;
mod session;

use std::net::IpAddr;
use std::time::Duration;

use dirigent::ports::Timestamp;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use self::attempts::Attempts;
pub(crate) use self::session::SESSION_SECONDS;
use self::session::{Session, SessionKey};

/// What a visitor may do.
///
/// ```
/// use dirigent_control::VisitorRole;
/// assert!(VisitorRole::Operator.may_change() && !VisitorRole::Viewer.may_change());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a host's own check answers with one of the two")]
pub enum VisitorRole {
    /// Sees everything and changes nothing.
    Viewer,
    /// Sees and steers everything.
    Operator,
}

impl VisitorRole {
    /// Whether this visitor may change anything.
    pub const fn may_change(self) -> bool {
        matches!(self, Self::Operator)
    }
}

/// What a request brings along.
#[derive(Clone, Copy)]
pub(crate) enum Credential<'a> {
    Nothing,
    Bearer(&'a str),
    Session(&'a str),
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Admitted(VisitorRole),
    Unknown,
    /// Too many failures from this address: nothing is compared before this time is over.
    TooMany {
        wait: Duration,
    },
}

/// The tokens, and what they open.
pub(crate) struct Auth {
    accounts: Vec<Account>,
    attempts: Attempts,
}

struct Account {
    role: VisitorRole,
    /// The token's digest: comparing digests takes the same time whatever the lengths are.
    digest: [u8; 32],
    key: SessionKey,
}

impl Auth {
    pub(crate) fn new(operator: &str, viewer: Option<&str>) -> Self {
        let account = |role, token: &str| Account {
            role,
            digest: Sha256::digest(token).into(),
            key: SessionKey::of(token),
        };
        let operator = account(VisitorRole::Operator, operator);
        let viewer = viewer.map(|token| account(VisitorRole::Viewer, token));
        let accounts = std::iter::once(operator).chain(viewer).collect();
        Self { accounts, attempts: Attempts::default() }
    }

    /// Judges a request. A session that is valid is admitted whatever others do at its address.
    pub(crate) fn judge(
        &mut self,
        now: Timestamp,
        address: Option<IpAddr>,
        credential: Credential<'_>,
    ) -> Judgement {
        match credential {
            Credential::Nothing => Judgement::Unknown,
            Credential::Bearer(token) => self.try_token(now, address, token),
            Credential::Session(text) => match Session::parse(text) {
                Some(session) => self.try_session(now, address, &session),
                None => self.failed(now, address),
            },
        }
    }

    /// Compares a token, and gives a session for it.
    pub(crate) fn sign_in(
        &mut self,
        now: Timestamp,
        address: Option<IpAddr>,
        token: &str,
    ) -> Result<String, Judgement> {
        match self.try_token(now, address, token) {
            Judgement::Admitted(role) => {
                let account = self.accounts.iter().find(|account| account.role == role);
                let session = account.map(|account| Session::begin(role, now, &account.key));
                session.ok_or(Judgement::Unknown)
            }
            refused @ (Judgement::Unknown | Judgement::TooMany { .. }) => Err(refused),
        }
    }

    fn try_token(&mut self, now: Timestamp, address: Option<IpAddr>, token: &str) -> Judgement {
        if let Some(wait) = self.attempts.barred_for(now, address) {
            return Judgement::TooMany { wait };
        }
        let digest: [u8; 32] = Sha256::digest(token).into();
        let mut found = None;
        // All are compared, so that the time does not tell which one it was.
        for account in &self.accounts {
            if bool::from(account.digest.ct_eq(&digest)) {
                found = found.or(Some(account.role));
            }
        }
        match found {
            Some(role) => Judgement::Admitted(role),
            None => self.failed(now, address),
        }
    }

    fn try_session(
        &mut self,
        now: Timestamp,
        address: Option<IpAddr>,
        session: &Session<'_>,
    ) -> Judgement {
        let account = self.accounts.iter().find(|account| account.role == session.role);
        match account.filter(|account| session.is_signed_with(&account.key)) {
            Some(_) if session.is_over(now) => Judgement::Unknown,
            Some(account) => Judgement::Admitted(account.role),
            // Signed with a token that was replaced since, or forged.
            None => self.failed(now, address),
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
        Auth::new(OPERATOR, Some(VIEWER))
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
        let mut alone = Auth::new(OPERATOR, None);
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
        let mut other = Auth::new("another secret", Some(VIEWER));
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
        assert_eq!(auth.judge(after(10), HOME, Credential::Session("o.1.forged")), barred);
        let admitted = Judgement::Admitted(VisitorRole::Operator);
        assert_eq!(auth.judge(after(10), HOME, Credential::Session(&session)), admitted);
        assert_eq!(auth.judge(after(10), AWAY, Credential::Bearer(OPERATOR)), admitted);
        assert_eq!(
            auth.judge(after(60), HOME, Credential::Bearer(OPERATOR)),
            admitted,
            "a minute later"
        );
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
