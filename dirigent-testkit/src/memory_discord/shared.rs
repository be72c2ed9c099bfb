//! The state that all handles of a test share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dirigent::Clock;

use super::world::World;

/// All state behind its lock, and the clock, which can be read without the lock. Clones share both.
#[derive(Clone)]
pub(crate) struct SharedWorld {
    world: Arc<Mutex<World>>,
    clock: Arc<dyn Clock>,
}

impl SharedWorld {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { world: Arc::new(Mutex::new(World::new(Arc::clone(&clock)))), clock }
    }

    /// Returns the state, after all late posts that are due have arrived.
    pub(crate) fn lock(&self) -> MutexGuard<'_, World> {
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        world.land_due();
        world
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }
}
