//! The parts that `dirigent-cluster` shares with [`Slave`](crate::Slave) and [`Master`](crate::Master). They are
//! hidden, because the two crates are released together and the parts may change with each version. Do not use them in
//! another crate.

pub use crate::client::WAY;
pub use crate::master::{bound, refused};
pub use crate::permission::{Asking, Way};
pub use crate::rule::{read, write};
pub use crate::rules::ChannelRule;
pub use crate::server::ServerCounts;
pub use crate::tool_use::{ToolAnswer, UseTool};
