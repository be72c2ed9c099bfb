//! The log of orders in a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use crate::page::look::LoggedOrder;
use crate::page::ports::OrderStore;

/// The size, in bytes, at which the file is renamed and a new one starts.
const SIZE_MAX: u64 = 16 * 1024 * 1024;

/// Stores the log of orders in a file, with one JSON object on each line, for one process. A line is on the disk before
/// the next one is written. At 16 MB the file is renamed to its name with `.1` at the end, which replaces an older one,
/// and a new file starts. On Unix only the bot's own user can read it.
///
/// ```no_run
/// # fn host(builder: dirigent_control::ControlBuilder) -> std::io::Result<dirigent_control::ControlBuilder> {
/// Ok(builder.order_log(dirigent_control::OrderFile::open("orders.jsonl")?))
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OrderFile {
    path: PathBuf,
    file: Arc<Mutex<File>>,
}

impl OrderFile {
    /// Opens the file, or creates it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened or written.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        let mut file = opened(&path)?;
        // A line that a crash cut short must not swallow the next one.
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
            }
        }
        Ok(Self { path, file: Arc::new(Mutex::new(file)) })
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.metadata()?.len() >= SIZE_MAX {
            std::fs::rename(&self.path, self.before())?;
            *file = opened(&self.path)?;
        }
        file.write_all(line.as_bytes())?;
        file.sync_data()
    }

    fn before(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".1");
        name.into()
    }

    fn newest_lines(&self, most: usize) -> io::Result<Vec<LoggedOrder>> {
        let before = std::fs::read_to_string(self.before()).unwrap_or_default();
        let now = {
            let _file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            String::from_utf8_lossy(&std::fs::read(&self.path)?).into_owned()
        };
        let lines = now.lines().rev().chain(before.lines().rev());
        let orders = lines.filter_map(|line| serde_json::from_str(line).ok());
        let mut newest: Vec<_> = orders.take(most).collect();
        newest.reverse();
        Ok(newest)
    }
}

fn opened(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[async_trait]
impl OrderStore for OrderFile {
    async fn add(&self, order: &LoggedOrder) -> Result<(), String> {
        let mut line = serde_json::to_string(order).map_err(|error| error.to_string())?;
        line.push('\n');
        let this = self.clone();
        blocking(move || this.append(&line)).await
    }

    async fn newest(&self, most: usize) -> Result<Vec<LoggedOrder>, String> {
        let this = self.clone();
        blocking(move || this.newest_lines(most)).await
    }
}

async fn blocking<T: Send + 'static>(
    run: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(run).await.map_err(|error| error.to_string())?;
    done.map_err(|error| error.to_string())
}
