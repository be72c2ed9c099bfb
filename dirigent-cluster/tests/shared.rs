//! What the tests of every store use. It lies with those of the other stores.

#[expect(dead_code, reason = "the tests of the other stores use the rest")]
#[path = "../../dirigent-store/tests/shared/commits.rs"]
pub(crate) mod commits;
#[path = "../../dirigent-store/tests/shared/story.rs"]
pub(crate) mod story;
