//! Plain values that all other folders use: ids, messages, errors.

pub(crate) mod call_error;
pub(crate) mod carried;
pub(crate) mod command;
pub(crate) mod deferral_key;
pub(crate) mod embed;
pub(crate) mod error;
pub(crate) mod extras;
pub(crate) mod id;
pub(crate) mod identity;
pub(crate) mod lines;
pub(crate) mod load_error;
pub(crate) mod mentions;
pub(crate) mod message;
pub(crate) mod reply_error;
pub(crate) mod reply_file;
pub(crate) mod shown;
pub(crate) mod stage;
pub(crate) mod summary;
pub(crate) mod sync;
