//! The work on files that all stores share. When a function returns, its change is on the disk, or its error says
//! what is.
//!
//! `replace` replaces a whole file, `aside` keeps a damaged one, `read` reads, and `folder` makes and syncs
//! folders. `stray` removes the files that interrupted writes left, and `lock` makes sure that only one store
//! opens a file.

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
pub(crate) use read::read;
pub(crate) use replace::{private, replace, replace_shared};
pub(crate) use stray::remove_strays;

/// Returns the names in a folder, sorted.
#[cfg(test)]
fn names(folder: &std::path::Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
