//! Models at chat endpoints, as routing models and as agents.

mod agent;
mod providers;

pub use agent::ModelDelegate;
pub use providers::Providers;
