//! Reads the address of the database into one configuration for each host.

use std::io;
use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// Reads the address. With `encrypts` all connections are encrypted, without it none is.
///
/// Each host gets a configuration of its own, because the client tries hosts in order, and waits without limit for one
/// that accepts a connection and then stays silent, for example a server that stands still.
pub(super) fn read(address: &str, encrypts: bool) -> io::Result<Vec<Config>> {
    let mut config: Config = address.parse().map_err(|_| invalid("no address of a database"))?;
    match (config.get_ssl_mode(), encrypts) {
        // By default the client goes on in plain text if the server, or a proxy in between, offers no encryption.
        (SslMode::Prefer, true) => _ = config.ssl_mode(SslMode::Require),
        (SslMode::Prefer, false) => _ = config.ssl_mode(SslMode::Disable),
        (SslMode::Disable, true) => {
            return Err(invalid("the options have TLS, and the address says sslmode=disable"));
        }
        (SslMode::Disable, false) | (_, true) => {}
        (_, false) => {
            return Err(invalid("the address wants encryption, and the options have no TLS"));
        }
    }
    let (hosts, addresses) = (config.get_hosts().len(), config.get_hostaddrs().len());
    let count = hosts.max(addresses);
    let ports = config.get_ports().len();
    if count == 0
        || (ports > 1 && ports != count)
        || (hosts > 0 && addresses > 0 && hosts != addresses)
    {
        return Err(invalid("the address has no host, or another number of ports than of hosts"));
    }
    if count == 1 {
        return Ok(vec![config]);
    }
    Ok((0..count).map(|place| only(&config, place)).collect())
}

fn invalid(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

/// Returns one of several hosts, with the demand that it takes writes, because any of them may be the one that does.
fn only(all: &Config, place: usize) -> Config {
    let mut one = Config::new();
    match all.get_hosts().get(place) {
        Some(Host::Tcp(host)) => _ = one.host(host.clone()),
        #[cfg(unix)]
        Some(Host::Unix(path)) => _ = one.host_path(path),
        None => {}
    }
    let address = all.get_hostaddrs().get(place);
    address.map(|address| one.hostaddr(*address));
    let port = all.get_ports().get(place).or_else(|| all.get_ports().first());
    port.map(|port| one.port(*port));
    all.get_user().map(|user| one.user(user));
    all.get_password().map(|password| one.password(password));
    all.get_dbname().map(|name| one.dbname(name));
    all.get_options().map(|options| one.options(options));
    all.get_application_name().map(|name| one.application_name(name));
    all.get_connect_timeout().map(|time| one.connect_timeout(*time));
    all.get_tcp_user_timeout().map(|time| one.tcp_user_timeout(*time));
    all.get_keepalives_interval().map(|time| one.keepalives_interval(time));
    all.get_keepalives_retries().map(|count| one.keepalives_retries(count));
    one.keepalives(all.get_keepalives()).keepalives_idle(all.get_keepalives_idle());
    one.ssl_mode(all.get_ssl_mode()).ssl_negotiation(all.get_ssl_negotiation());
    one.channel_binding(all.get_channel_binding());
    one.load_balance_hosts(all.get_load_balance_hosts());
    one.target_session_attrs(TargetSessionAttrs::ReadWrite);
    one
}

/// Returns the database's address by its first host, without user and password.
pub(super) fn label(config: &Config) -> PathBuf {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => config.get_hostaddrs().first().map_or("localhost".to_owned(), ToString::to_string),
    };
    let port = config.get_ports().first().copied().unwrap_or(5_432);
    let database = config.get_dbname().or_else(|| config.get_user()).unwrap_or_default();
    PathBuf::from(format!("postgresql://{host}:{port}/{database}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modes(address: &str, encrypts: bool) -> Vec<SslMode> {
        read(address, encrypts).unwrap().iter().map(Config::get_ssl_mode).collect()
    }

    #[test]
    fn with_tls_no_address_falls_back_to_plain_text() {
        for address in [
            "postgresql://bot@db/bot",
            "host=db user=bot sslmode=prefer",
            "postgresql://db?sslmode=require",
        ] {
            assert_eq!(modes(address, true), [SslMode::Require], "{address}");
        }
        assert_eq!(modes("host=a,b user=bot", true), [SslMode::Require; 2]);
        assert_eq!(modes("host=a,b user=bot sslmode=prefer", false), [SslMode::Disable; 2]);
    }

    #[test]
    fn an_address_that_contradicts_the_options_is_refused() {
        for (address, encrypts) in [
            ("postgresql://db?sslmode=disable", true),
            ("postgresql://db?sslmode=require", false),
            ("host=a,b port=1,2,3", false),
            ("user=bot", false),
            ("port=many", false),
        ] {
            let refused = read(address, encrypts).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{address}");
        }
    }

    #[test]
    fn each_of_several_hosts_is_tried_by_itself_and_must_take_writes() {
        let address = "postgresql://bot:secret@a:1,b:2/talks?application_name=x&connect_timeout=3&options=-cfoo%3D1";
        let hosts = read(address, false).unwrap();
        let found: Vec<_> =
            hosts.iter().map(|one| (label(one), one.get_ports().to_vec())).collect();
        let expected = [
            ("postgresql://a:1/talks".into(), vec![1]),
            ("postgresql://b:2/talks".into(), vec![2]),
        ];
        assert_eq!(found, expected);
        for one in hosts {
            assert_eq!(one.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
            assert_eq!(one.get_password(), Some(&b"secret"[..]));
            assert_eq!((one.get_user(), one.get_application_name()), (Some("bot"), Some("x")));
            assert_eq!(one.get_options(), Some("-cfoo=1"));
            assert_eq!(one.get_connect_timeout().map(std::time::Duration::as_secs), Some(3));
        }
        assert_eq!(read("host=a,b port=7", false).unwrap()[1].get_ports(), [7]);
    }
}
