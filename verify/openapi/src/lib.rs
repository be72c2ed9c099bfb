//! Requests and answers, held against an OpenAPI document.
//!
//! Discord publishes one of its REST API. The program `check-contract` lets the real adapter make every
//! call that it can make, and asks a [`Document`] what it thinks of each request: path, query, headers and body,
//! where **a key that the document does not name is refused**. Before that, every request is spoilt in each way that
//! is known ([`Document::spoil`]), and each must be found: a checker that finds nothing proves nothing.
//!
//! ```
//! use check_contract::{Document, Place, Request};
//!
//! let text = r#"{
//!     "openapi": "3.1.0",
//!     "servers": [{"url": "https://chat.example/api"}],
//!     "paths": {"/rooms": {"get": {"parameters": [
//!         {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}}
//!     ]}}}
//! }"#;
//! let document = Document::read(text, &[]).unwrap();
//! let asked = |target| Request::new("GET", target).header("user-agent", "DiscordBot (https://x.example, 1)");
//! assert!(document.check(&asked("/api/rooms?limit=100")).is_empty());
//! let findings = document.check(&asked("/api/rooms?limit=101"));
//! assert_eq!(findings[0].place, Place::Query("limit".to_owned()));
//! ```

mod correction;
mod corrections;
mod document;
mod exchange;
mod finding;
mod form;
mod header_rules;
mod landmark;
mod operation;
mod recorder;
mod rule;
mod sealed;
mod spoil;
mod template;

pub use correction::Correction;
pub use corrections::CORRECTIONS;
pub use document::{Document, DocumentError};
pub use exchange::{Answer, Exchange, Request};
pub use finding::{Finding, Place};
pub use recorder::{Partner, Recorder};
pub use spoil::{Controls, Missed, Spoilt, Wrong};
