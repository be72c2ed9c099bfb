//! Machine and model, step for step.

use std::sync::Arc;

use dirigent_core::{AgentKey, Config};

use super::Report;
use super::compare::{self, Seen};
use super::step::Step;
use super::trace::Trace;
use super::walk::Walk;
use crate::model::Model;

/// After how many steps a restored copy makes the step too.
const COPY_EVERY: usize = 5;

/// Machine and model side by side.
pub(super) struct Pair {
    /// The machine and its way.
    walk: Walk,
    /// What the rules say.
    model: Model,
}

impl Pair {
    pub(super) fn new(config: &Arc<Config>, seed: u64, trace: Trace) -> Self {
        Self { walk: Walk::new(config, seed, trace), model: Model::new(Arc::clone(config)) }
    }

    /// The way so far, one step a line.
    pub(super) fn into_trace(self) -> Vec<String> {
        self.walk.trace.into_lines()
    }

    /// What was seen so far.
    pub(super) fn report(&self) -> Report {
        self.walk.report.clone()
    }

    /// Goes on with another model.
    #[cfg(test)]
    pub(super) fn replace_model(&mut self, model: Model) {
        self.model = model;
    }

    /// Makes one step and compares.
    pub(super) fn step(&mut self, step: &Step, number: usize) -> Result<(), String> {
        let Some(input) = self.walk.next_input(step)? else {
            return compare::portraits(&self.walk.machine, &self.model);
        };
        let copies = number % COPY_EVERY == 0;
        let copy = copies.then(|| self.walk.copy()).transpose()?;
        let before = self.walk.machine.view().phase();
        let (answer, effects) = self.walk.feed(&input);
        let (machine, now) = (&self.walk.machine, self.walk.now);
        let order: Vec<AgentKey> = machine.view().list().map(|seat| seat.agent).collect();
        let predicted = self.model.step(now, &input, &order);
        let seen = Seen { before, answer, effects: &effects, now };
        compare::steps(&seen, &predicted, machine)?;
        compare::portraits(machine, &self.model)?;
        let audit = machine.audit();
        audit.map_err(|breach| format!("the machine's own audit: {breach:?}"))?;
        if let Some(mut copy) = copy {
            compare::copies(&mut copy, machine, &input, &seen)?;
            self.walk.report.restored += 1;
        }
        Ok(())
    }
}
