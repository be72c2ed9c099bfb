//! The host of the chat's files. No other code ever fetches an address from a message.

use dirigent::ports::{ApiError, Attachment, ErrorKind};
use http::Uri;

use crate::{DiscordAccount, RestError};

/// Discord's hosts of attachments.
const DISCORD: [&str; 2] = ["https://cdn.discordapp.com", "https://media.discordapp.net"];

/// The only origins that files are read from.
pub(crate) struct FileHost {
    origins: Vec<String>,
}

impl FileHost {
    pub(crate) fn discord() -> Self {
        Self { origins: DISCORD.map(str::to_owned).to_vec() }
    }

    /// Uses this origin instead of Discord's.
    pub(crate) fn only(origin: String) -> Self {
        Self { origins: vec![origin] }
    }

    /// Returns the address if it is on the host. It is compared as written, so another spelling of the host, a port, a
    /// user or a literal address counts as another host.
    pub(crate) fn address(&self, url: &str) -> Option<Uri> {
        let is_ours = |origin: &String| {
            url.strip_prefix(origin.as_str()).is_some_and(|path| path.starts_with('/'))
        };
        let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let address: Uri =
            url.parse().ok().filter(|_| is_plain && self.origins.iter().any(is_ours))?;
        // The host that the parser found must be the one that was compared.
        let origin = format!("{}://{}", address.scheme_str()?, address.authority()?);
        self.origins.contains(&origin).then_some(address)
    }
}

impl DiscordAccount {
    pub(crate) async fn read_file(
        &self,
        file: &Attachment,
        max: usize,
    ) -> Result<Vec<u8>, ApiError> {
        let not_ours = || {
            tracing::debug!("a file of another host is not read");
            RestError::NotAcceptable.report()
        };
        let address = self.file_host.address(&file.url).ok_or_else(not_ours)?;
        let deadline = self.clock().now() + self.timeout;
        let read = self.transport.read_file(address, max, self.clock(), deadline).await;
        // This includes redirections, because the file is not where the message says.
        let is_gone = |error: &RestError| matches!(error, RestError::Refused { status: 300..=428 | 430..=499, .. });
        read.map_err(
            |error| {
                if is_gone(&error) { ApiError::new(ErrorKind::Gone) } else { error.report() }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_chats_own_host_are_read() {
        for url in [
            "https://cdn.discordapp.com/attachments/1/2/message.txt?ex=6&is=5&hm=ab&",
            "https://media.discordapp.net/attachments/1/2/a.png",
        ] {
            assert_eq!(
                FileHost::discord().address(url).map(|url| url.to_string()).as_deref(),
                Some(url)
            );
        }
        let local = FileHost::only("http://127.0.0.1:8080".to_owned());
        assert!(local.address("http://127.0.0.1:8080/files/1/message.txt").is_some());
        assert!(local.address("http://127.0.0.1:80801/files").is_none());
        assert!(local.address("https://cdn.discordapp.com/a").is_none());
    }

    #[test]
    fn no_other_address_is_ever_asked() {
        for url in [
            "http://cdn.discordapp.com/a",
            "https://cdn.discordapp.com",
            "https://cdn.discordapp.com.evil.example/a",
            "https://cdn.discordapp.com@evil.example/a",
            "https://user@cdn.discordapp.com/a",
            "https://cdn.discordapp.com:443/a",
            "https://cdn.discordapp.com:8443/a",
            "https://cdn.discordapp.com./a",
            "https://CDN.discordapp.com/a",
            "HTTPS://cdn.discordapp.com/a",
            "https://cdn.discordapp.com\\@evil.example/a",
            "https://cdn.discordapp.com\\evil.example/a",
            "https:cdn.discordapp.com/a",
            "https:///cdn.discordapp.com/a",
            "//cdn.discordapp.com/a",
            "cdn.discordapp.com/a",
            "/attachments/1/2/message.txt",
            "https://discordapp.com/a",
            "https://discord.com/api/v10/users/@me",
            "https://evil.example/cdn.discordapp.com/a",
            "https://evil.example/?https://cdn.discordapp.com/a",
            "https://evil.example#https://cdn.discordapp.com/a",
            "https://xcdn.discordapp.com/a",
            "https://127.0.0.1/a",
            "https://[::1]/a",
            "https://169.254.169.254/latest/meta-data/",
            "https://2130706433/a",
            "https://0x7f.1/a",
            "https://localhost/a",
            "file:///etc/passwd",
            "data:text/plain,hi",
            "ftp://cdn.discordapp.com/a",
            "gopher://cdn.discordapp.com/a",
            "https://cdn.discordapp.com%2eevil.example/a",
            "https://cdn.discordapp.com%40evil.example/a",
            "https://cdn\u{ff0e}discordapp.com/a",
            "https://cdn.discordapp.com/a\r\nHost: evil.example",
            " https://cdn.discordapp.com/a",
            "https://cdn.discordapp.com\t/a",
            "",
        ] {
            assert_eq!(FileHost::discord().address(url), None, "{url}");
        }
    }
}
