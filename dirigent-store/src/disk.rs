//! Work on files that all stores share. When a function returns, its change is on the disk, or its error says what
//! is.
//!
//! `replace` replaces a file as a whole, `aside` keeps a damaged one, `read` and `folder` look, `stray` removes
//! what interrupted writes left, and `lock` allows one opener.

mod aside;
mod folder;
mod lock;
mod read;
mod replace;
#[cfg(test)]
pub(crate) mod steps;
mod stray;

pub(crate) use aside::{keep_aside, keep_copy};
pub(crate) use folder::{create_folder, place_of, resolve, sync_folder};
pub(crate) use lock::Lock;
pub(crate) use read::{ReadError, read};
pub(crate) use replace::{private, replace, replace_shared};
pub(crate) use stray::remove_strays;

/// The names in a folder, sorted.
#[cfg(test)]
fn names(folder: &std::path::Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
