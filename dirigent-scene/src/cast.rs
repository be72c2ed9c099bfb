//! A factory for actors that you name one by one.

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;

use crate::actor::{Actor, ActorError, ActorFactory, CastRole};

type Make = Box<dyn FnOnce() -> Box<dyn Actor> + Send>;

/// An [`ActorFactory`] with a function of your own for each character. For example, one creates a scripted actor, one a
/// model and one a person.
///
/// ```
/// use dirigent_scene::{Cast, ScriptedActor};
///
/// let cast = Cast::new()
///     .actor("maria", || ScriptedActor::new(["<thinking></thinking><speech>Hello.</speech>"]))
///     .actor("sam", || ScriptedActor::new(["<thinking></thinking><speech>Safe travels.</speech>"]));
/// # let _ = cast;
/// ```
#[derive(Default)]
pub struct Cast(BTreeMap<String, Make>);

impl Cast {
    /// Creates a factory without characters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the function that creates the actor of the character with this slug. It is called once.
    #[must_use]
    pub fn actor<A: Actor + 'static>(
        mut self,
        slug: impl Into<String>,
        make: impl FnOnce() -> A + Send + 'static,
    ) -> Self {
        self.0.insert(slug.into(), Box::new(move || Box::new(make())));
        self
    }
}

#[async_trait]
impl ActorFactory for Cast {
    async fn spawn(&mut self, role: &CastRole) -> Result<Box<dyn Actor>, ActorError> {
        let make = self.0.remove(role.slug().as_str());
        Ok(make.ok_or_else(|| ActorError::new("the cast has no actor for the character"))?())
    }
}

impl fmt::Debug for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
