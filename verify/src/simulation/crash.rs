//! The process dies and starts again from what it stored last.

use dirigent_core::snapshot::{PendingEffect, Phase, TurnRun};

use super::agenda::{Ending, Happening, How};
use super::world::World;
use crate::invariants::Violation;

impl World {
    /// Chooses when the process dies next.
    pub(super) fn plan_crash(&mut self) {
        self.crash_in = if self.faults.crash == 0 {
            u64::MAX
        } else {
            // State is stored for some steps before each death, so two deaths stand apart.
            65 + self.dice.below(2_000_000 / u64::from(self.faults.crash))
        };
    }

    /// Brings the channel back. Runs that were under way are gone, pending effects are carried out
    /// again or dropped, and missed messages are read.
    pub(super) fn restart(&mut self) -> Result<(), Violation> {
        self.tally.restarts += 1;
        self.tally.faults += 1;
        self.epoch += 1;
        self.plan_crash();
        self.cast.iter_mut().for_each(|agent| agent.run = None);
        self.time += self.dice.between(100, 30_000);
        self.watched.restart(&self.stored)?;
        self.end_lost_run();
        let pending: Vec<PendingEffect> = self.watched.channel().pending().to_vec();
        for effect in pending {
            let wanted = self.watched.channel().wants(&effect.effect);
            if wanted {
                self.perform(&effect.effect);
            } else if let Some(ticket) = effect.effect.ticket() {
                let how = How::Dropped;
                let epoch = self.epoch;
                self.agenda.add(self.time, Happening::Settle { ticket, how, epoch });
            }
        }
        if self.dice.hits(500_000) {
            let newest = self.watched.glance().newest;
            let missed: Vec<_> = self.room.after(newest, 20).collect();
            for id in missed {
                self.agenda.add(self.time, Happening::Deliver(id));
            }
        }
        Ok(())
    }

    /// A host that knows that its runs died says so; another leaves it to the time-out.
    fn end_lost_run(&mut self) {
        let reply =
            self.watched.glance().reply.map(|reply| (reply.agent, reply.run.unwrap_or_default()));
        let (agent, run) = match (reply, self.stored.state.floor.phase) {
            (Some(reply), _) => reply,
            (None, Phase::Running { run: TurnRun { agent, id: Some(run), .. }, .. }) => {
                (agent, run)
            }
            (None, _) => return,
        };
        let place = self.cast.iter().position(|known| known.key == agent);
        let Some(agent) = place.and_then(|at| u8::try_from(at).ok()) else {
            return;
        };
        let epoch = self.epoch;
        match self.dice.below(4) {
            // What is delivered goes on.
            _ if reply.is_some() => {
                let (ending, at) = (Ending::Pass, self.time + self.dice.between(100, 20_000));
                self.agenda.add(at, Happening::End { agent, run, ending, epoch });
            }
            0 => {
                let ending = Ending::Failed;
                self.agenda.add(self.time, Happening::End { agent, run, ending, epoch });
            }
            1 => {}
            rerun => {
                let rerun = rerun == 2;
                self.agenda.add(self.time, Happening::LoseRuns { rerun, epoch });
            }
        }
    }
}
