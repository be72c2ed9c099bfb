//! What may happen next in a world.

use super::process::{Life, Process};
use super::setting::{Rule, Setting};
use super::world::World;

/// What happens; most of it to the process in this place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Time goes by; the clock of one process may miss it.
    Tick(Option<usize>),
    /// The table has it at once, and the process the answer.
    Heartbeat(usize),
    /// The table has it at once; the answer takes its time, or is lost.
    BeatSlow(usize),
    /// It is given up, and may still arrive.
    BeatCutOff(usize),
    BeatAnswered(usize),
    BeatLost(usize),
    Decide(usize),
    CommitArrives(usize),
    /// It is given up; it may still arrive.
    CommitLost(usize),
    Post(usize),
    PostArrives(usize),
    /// The clock of the table.
    SetBack,
    Crash(usize),
    Pause(usize),
    Resume(usize),
    /// Table and record cannot be reached any more, Discord can.
    CutOff(usize),
    Reconnect(usize),
    Resign(usize),
    End(usize),
    LateArrives(usize),
}

impl World {
    pub(super) fn events(&self, setting: &Setting, events: &mut Vec<Event>) {
        // A process that stands still or is cut off may be late; others are not.
        let is_due = |process: &Process| !process.is_paused && process.has_beat();
        if self.time < setting.ticks_max && !self.processes.iter().any(is_due) {
            events.push(Event::Tick(None));
            if self.spent.lag < setting.lags_max {
                events.extend((0..self.processes.len()).map(|number| Event::Tick(Some(number))));
            }
        }
        if self.spent.backs < setting.backs_max {
            events.push(Event::SetBack);
        }
        events.extend((0..self.late.len()).map(Event::LateArrives));
        for (number, process) in self.processes.iter().enumerate() {
            self.network_events(setting, number, process, events);
            if process.is_paused {
                events.push(Event::Resume(number));
            } else {
                self.own_events(setting, number, process, events);
            }
            if process.is_cut_off {
                events.push(Event::Reconnect(number));
            }
            let Setting { crashes_max, pauses_max, partitions_max, .. } = *setting;
            if self.spent.crashes < crashes_max {
                events.push(Event::Crash(number));
            }
            if self.spent.pauses < pauses_max && !process.is_paused {
                events.push(Event::Pause(number));
            }
            if self.spent.partitions < partitions_max && !process.is_cut_off {
                events.push(Event::CutOff(number));
            }
        }
    }

    /// What happens to what was sent, whether its sender stands still or not.
    fn network_events(
        &self,
        setting: &Setting,
        number: usize,
        process: &Process,
        events: &mut Vec<Event>,
    ) {
        if process.commit.is_some() && !process.is_cut_off {
            events.push(Event::CommitArrives(number));
        }
        if process.post.is_some() {
            events.push(Event::PostArrives(number));
        }
        if process.is_paused {
            return;
        }
        if process.beat.is_some() {
            events.push(Event::BeatLost(number));
        }
        let may_be_cut = self.spent.cuts < setting.cuts_max;
        let may_be_late = may_be_cut && self.late.len() < setting.late_max;
        if process.commit.is_some() && (may_be_late || process.is_cut_off) {
            events.push(Event::CommitLost(number));
        }
        if process.has_beat() && !process.is_cut_off && may_be_cut {
            events.push(Event::BeatSlow(number));
            if may_be_late {
                events.push(Event::BeatCutOff(number));
            }
        }
    }

    fn own_events(
        &self,
        setting: &Setting,
        number: usize,
        process: &Process,
        events: &mut Vec<Event>,
    ) {
        if process.beat.is_some() && !process.is_cut_off {
            events.push(Event::BeatAnswered(number));
        } else if process.has_beat() {
            events.push(Event::Heartbeat(number));
        }
        if process.may_decide(setting) {
            events.push(Event::Decide(number));
        }
        if process.may_post(setting) {
            events.push(Event::Post(number));
        }
        match process.life {
            Life::Member if self.spent.resigns < setting.resigns_max => {
                events.push(Event::Resign(number));
            }
            Life::Leaving if process.is_drained() || !setting.has(Rule::DrainBeforeTheEnd) => {
                events.push(Event::End(number));
            }
            Life::Member | Life::Leaving | Life::Gone => {}
        }
    }
}
