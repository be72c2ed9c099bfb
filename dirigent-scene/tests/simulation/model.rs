//! The rules of scenes once more, slow and obvious: everything is counted anew from what was said so far.

use dirigent_scene::machine::{CastPlace, Plan, SceneEffect, SceneInput};
use dirigent_scene::{
    Audience, CloseSigns, CueKind, Direction, Judgement, Output, Prompt, SceneEvent,
};

/// What an actor answers.
pub(crate) enum Answer {
    Nothing,
    Malformed,
    Says(String),
}

/// Something that was said.
struct Said {
    by: usize,
    words: String,
    heard_by: Vec<usize>,
    /// How many were present.
    present: usize,
}

/// Where a character is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Away,
    Coming,
    Here,
    Going,
    Gone,
}

/// What is waited for.
#[derive(Clone, PartialEq, Eq)]
enum Waits {
    Start,
    Spawn(usize),
    Brief(usize),
    Direct(usize),
    Turn(usize, u32),
    Hear(usize, String),
    Show(usize, String, Option<Vec<usize>>),
    Judge,
    Entry(usize, u32),
}

/// The rules, and all that happened.
pub(crate) struct Model {
    plan: Plan,
    places: Vec<Where>,
    said: Vec<Said>,
    /// Up to which speech each has heard.
    heard_to: Vec<usize>,
    has_begun: Vec<bool>,
    waits: Waits,
    /// Who is to come and to go, in order.
    pending: Vec<(usize, bool)>,
    nudged: bool,
    /// Replies that may follow.
    closing: Option<u32>,
    closed: bool,
    /// Whether the cast is there.
    opened: bool,
    /// After how many speeches someone came or went last.
    moved_at: Option<usize>,
    out: Vec<String>,
}

/// An effect in words, without times.
pub(crate) fn told(effect: &SceneEffect) -> String {
    match effect {
        SceneEffect::Record(event) => record(event),
        SceneEffect::Spawn(seat) => format!("spawn {}", seat.index()),
        SceneEffect::Brief(seat) => format!("brief {}", seat.index()),
        SceneEffect::Direct(moment) => format!("direct {}", moment.speaker),
        SceneEffect::Ask { seat, cue } => {
            format!("ask {} {:?} {:?}", seat.index(), cue.kind(), cue.text())
        }
        SceneEffect::Hear { line, .. } => format!("hear {} {}", line.number, line.speech.as_str()),
        SceneEffect::Show(line) => {
            format!("show {} {} {}", line.number, line.is_whisper, line.speech.as_str())
        }
        SceneEffect::Judge(line) => format!("judge {}", line.number),
        SceneEffect::Journal { seat, entry } => format!("journal {} {entry}", seat.index()),
        SceneEffect::NoEntry { seat } => format!("no entry {}", seat.index()),
        SceneEffect::Refused { why, .. } => format!("refused {why}"),
        SceneEffect::Finish => "finish".to_owned(),
    }
}

fn record(event: &SceneEvent) -> String {
    let target = event.target.as_ref().map_or("-", |slug| slug.as_str());
    let audience = event
        .audience
        .as_ref()
        .map(|slugs| slugs.iter().map(ToString::to_string).collect::<Vec<_>>());
    let reason = event.reason.map_or("-", |reason| reason.as_str());
    format!(
        "record {} {} {target} {} {reason} {audience:?}",
        event.from.as_str(),
        event.kind.as_str(),
        event.text
    )
}

impl Model {
    pub(crate) fn new(plan: Plan) -> Self {
        let count = plan.roles.len();
        Self {
            places: vec![Where::Away; count],
            said: Vec::new(),
            heard_to: vec![0; count],
            has_begun: vec![false; count],
            waits: Waits::Start,
            pending: Vec::new(),
            nudged: false,
            closing: None,
            closed: false,
            opened: false,
            moved_at: None,
            out: Vec::new(),
            plan,
        }
    }

    pub(crate) fn speeches(&self) -> u32 {
        u32::try_from(self.said.len()).unwrap()
    }

    /// What must follow. Whose turn is next is taken from the machine, and must be allowed.
    pub(crate) fn step(&mut self, input: &SceneInput, found: &[SceneEffect]) -> Vec<String> {
        self.out.clear();
        let granted = found.iter().rev().find_map(|effect| match effect {
            SceneEffect::Direct(moment) => self.plan.seat(&moment.speaker).map(CastPlace::index),
            SceneEffect::Ask { seat, cue } if cue.kind() == CueKind::Turn => Some(seat.index()),
            _ => None,
        });
        match (self.waits.clone(), input) {
            (Waits::Start, SceneInput::Start) => {
                for at in 0..self.plan.present {
                    self.places[at] = Where::Coming;
                    self.pending.push((at, true));
                }
                self.go_on(granted);
            }
            (Waits::Spawn(at), SceneInput::Done) => {
                self.record(
                    "coordinator",
                    "spawn",
                    &self.slug(at),
                    &format!("Spawning actor for character c{at}"),
                );
                self.waits = Waits::Brief(at);
                self.out.push(format!("brief {at}"));
            }
            (Waits::Brief(at), SceneInput::Done) => {
                self.record(
                    "coordinator",
                    "brief",
                    &self.slug(at),
                    "Sent actor system prompt + profile + journal + scene perspective",
                );
                self.places[at] = Where::Here;
                self.heard_to[at] = self.said.len();
                self.go_on(granted);
            }
            (Waits::Direct(speaker), SceneInput::Directed(directions)) => {
                self.direct(speaker, directions, granted);
            }
            (Waits::Turn(at, corrections), SceneInput::Answered(output)) => {
                self.turn(at, corrections, output);
            }
            (Waits::Hear(at, words), SceneInput::Heard(audience)) => {
                self.speak(at, words, audience, found);
            }
            (Waits::Show(at, words, audience), SceneInput::Done) => {
                self.shown(at, &words, audience.as_deref(), granted);
            }
            (Waits::Judge, SceneInput::Judged(judgement)) => {
                if *judgement == Judgement::Ended {
                    self.closing = Some(self.plan.closing_replies);
                }
                self.next_turn(granted);
            }
            (Waits::Entry(at, corrections), SceneInput::Answered(output)) => {
                self.entry(at, corrections, output, granted);
            }
            (Waits::Judge, SceneInput::TimedOut) => self.next_turn(granted),
            (Waits::Entry(at, _), SceneInput::Failed | SceneInput::TimedOut) => {
                self.no_entry(at, granted);
            }
            (_, SceneInput::Failed) => self.abort(),
            (_, SceneInput::TimedOut) => self.end_at_once("timed-out"),
            (_, other) => panic!("the machine took {other:?}"),
        }
        self.out.clone()
    }

    fn turn(&mut self, at: usize, corrections: u32, output: &Output) {
        if let Ok(parsed) = dirigent_scene::parse_output(output.as_str()) {
            let words = parsed.speech.as_str().to_owned();
            self.out.push(format!("hear {} {words}", self.said.len() + 1));
            self.waits = Waits::Hear(at, words);
        } else if corrections == self.plan.corrections_max {
            self.abort();
        } else {
            self.correct(at);
            self.waits = Waits::Turn(at, corrections + 1);
        }
    }

    fn entry(&mut self, at: usize, corrections: u32, output: &Output, granted: Option<usize>) {
        match dirigent_scene::parse_output(output.as_str()) {
            Ok(parsed) if !parsed.speech.is_empty() => {
                let entry = parsed.speech.as_str();
                self.record(&self.slug(at), "journal", "-", entry);
                self.out.push(format!("journal {at} {entry}"));
                self.places[at] = Where::Gone;
                self.go_on(granted);
            }
            _ if corrections < self.plan.corrections_max => {
                self.correct(at);
                self.waits = Waits::Entry(at, corrections + 1);
            }
            _ => self.no_entry(at, granted),
        }
    }

    fn slug(&self, at: usize) -> String {
        self.plan.roles[at].slug().to_string()
    }

    fn record(&mut self, from: &str, kind: &str, target: &str, text: &str) {
        self.out.push(format!("record {from} {kind} {target} {text} - None"));
    }

    fn here(&self) -> Vec<usize> {
        (0..self.places.len()).filter(|at| self.places[*at] == Where::Here).collect()
    }

    fn staying(&self) -> Vec<usize> {
        (0..self.places.len())
            .filter(|at| matches!(self.places[*at], Where::Here | Where::Coming))
            .collect()
    }

    fn spoken(&self, by: &[usize]) -> usize {
        self.said.iter().filter(|said| by.contains(&said.by)).count()
    }

    /// Whether those who stay have had this many turns each, on average.
    fn is_reached(&self, cap: u32) -> bool {
        let staying = self.staying();
        self.spoken(&staying) >= cap as usize * staying.len()
    }

    fn go_on(&mut self, granted: Option<usize>) {
        if self.pending.is_empty() {
            if self.closed {
                self.out.push("finish".to_owned());
            } else if self.opened {
                self.ask(granted);
            } else {
                self.opened = true;
                assert_eq!(granted, Some(self.plan.first_speaker.index()), "the first speaker");
                self.grant(granted);
            }
            return;
        }
        let (at, comes) = self.pending.remove(0);
        if comes {
            self.out.push(format!("spawn {at}"));
            self.waits = Waits::Spawn(at);
        } else {
            self.places[at] = Where::Going;
            let heard = self.take_heard(at);
            let text = [heard, vec![Prompt::Journal.as_str().to_owned()]].concat().join("\n\n");
            self.out.push(format!("ask {at} Journal {text:?}"));
            self.waits = Waits::Entry(at, 0);
        }
    }

    fn direct(&mut self, speaker: usize, directions: &[Direction], granted: Option<usize>) {
        let mut refused = |why: &str| self.out.push(format!("refused {why}"));
        let mut places = self.places.clone();
        let mut pending = Vec::new();
        let known = |slug: &dirigent_scene::Slug| self.plan.seat(slug).map(CastPlace::index);
        let mut stopped = false;
        for direction in directions {
            let staying =
                places.iter().filter(|place| matches!(place, Where::Here | Where::Coming)).count();
            match direction {
                Direction::Stop => {
                    stopped = true;
                    break;
                }
                Direction::Enter(slug) => match known(slug) {
                    None => refused("no character of the scene has this slug"),
                    Some(at) if places[at] == Where::Away => {
                        places[at] = Where::Coming;
                        pending.push((at, true));
                    }
                    Some(_) => refused("the character is in the scene or has left it"),
                },
                Direction::Leave(slug) => match known(slug) {
                    Some(at) if places[at] == Where::Here && staying > 2 => {
                        places[at] = Where::Going;
                        pending.push((at, false));
                    }
                    Some(at) if places[at] == Where::Here => {
                        refused("fewer than two would remain: stop the scene instead");
                    }
                    Some(_) => refused("the character is not present"),
                    None => refused("no character of the scene has this slug"),
                },
                other => panic!("{other:?}"),
            }
        }
        if stopped {
            return self.abort();
        }
        if !pending.is_empty() {
            self.moved_at = Some(self.said.len());
        }
        self.places = places;
        self.pending = pending;
        if !directions.is_empty() && self.is_reached(self.plan.hard_cap) {
            for (at, comes) in std::mem::take(&mut self.pending) {
                if comes {
                    self.places[at] = Where::Away;
                } else {
                    self.pending.push((at, false));
                }
            }
            let reason = self.reason("hard-cap");
            return self.close(reason, granted);
        }
        if self.pending.is_empty() {
            assert_eq!(granted, Some(speaker), "no one went, so the turn stays");
        }
        self.go_on(granted);
    }

    /// A turn is given, and must be one that may be given.
    fn grant(&mut self, granted: Option<usize>) {
        let at = granted.expect("a turn is due");
        assert!(self.places[at] == Where::Here, "only who is here has a turn");
        // Where someone came or went, the round after it may begin with who spoke last.
        let long = 2 * self.plan.roles.len();
        let is_settled = self.moved_at.is_none_or(|at| self.said.len() > at + long);
        if let Some(last) = self.said.last().filter(|_| is_settled) {
            assert!(last.by != at, "twice in a row");
        }
        self.out.push(format!("direct c{at}"));
        self.waits = Waits::Direct(at);
    }

    fn take_heard(&mut self, at: usize) -> Vec<String> {
        let from = std::mem::replace(&mut self.heard_to[at], self.said.len());
        let heard = self.said[from..].iter().filter(|said| said.heard_by.contains(&at));
        let heard = heard.map(|said| match (said.words.as_str(), said.present) {
            ("", _) => format!("[C{} says nothing.]", said.by),
            (words, 2) => words.to_owned(),
            (words, _) => format!("[C{}, speaking]: \"{words}\"", said.by),
        });
        heard.collect()
    }

    fn ask(&mut self, granted: Option<usize>) {
        let at = granted.expect("a turn is due");
        let mut parts = self.take_heard(at);
        let is_first = !std::mem::replace(&mut self.has_begun[at], true);
        if !self.nudged && self.closing.is_none() && self.is_reached(self.plan.soft_cap) {
            self.nudged = true;
            self.record("coordinator", "brief", &self.slug(at), Prompt::WindDown.as_str());
            parts.push(Prompt::WindDown.as_str().to_owned());
        } else if parts.is_empty() && !is_first {
            parts.push(Prompt::YourTurn.as_str().to_owned());
        }
        self.out.push(format!("ask {at} Turn {:?}", parts.join("\n\n")));
        self.waits = Waits::Turn(at, 0);
    }

    fn correct(&mut self, at: usize) {
        self.record("coordinator", "correct", &self.slug(at), Prompt::Correction.as_str());
        self.out.push(format!("ask {at} Correction {:?}", Prompt::Correction.as_str()));
    }

    fn speak(&mut self, at: usize, words: String, audience: &Audience, found: &[SceneEffect]) {
        let here = self.here();
        let audience = match audience {
            Audience::Only(slugs) => {
                let is_meant =
                    |other: &usize| *other != at && slugs.contains(self.plan.roles[*other].slug());
                Some(here.iter().copied().filter(is_meant).collect::<Vec<_>>())
            }
            _ => None,
        };
        // Which step's thought it is, only the machine was told.
        let thought = found.iter().find_map(|effect| match effect {
            SceneEffect::Record(event) if event.kind.as_str() == "think" => {
                Some(event.text.to_string())
            }
            _ => None,
        });
        let thought = thought.expect("a thought comes first");
        assert!(thought.starts_with('t') && !words.contains(&thought));
        self.record(&self.slug(at), "think", "-", &thought);
        let names = audience
            .as_ref()
            .map(|seats| seats.iter().map(|seat| self.slug(*seat)).collect::<Vec<_>>());
        self.out.push(format!("record c{at} speak - {words} - {names:?}"));
        let number = self.said.len() + 1;
        self.out.push(format!("show {number} {} {words}", audience.is_some()));
        self.said.push(Said {
            by: at,
            words: words.clone(),
            heard_by: Vec::new(),
            present: here.len(),
        });
        self.waits = Waits::Show(at, words, audience);
    }

    fn shown(
        &mut self,
        at: usize,
        words: &str,
        audience: Option<&[usize]>,
        granted: Option<usize>,
    ) {
        if words == "*[the scene ends here]*" {
            return self.close("explicit", granted);
        }
        for to in self.here() {
            if to != at && audience.is_none_or(|audience| audience.contains(&to)) {
                self.record(
                    "coordinator",
                    "route",
                    &self.slug(to),
                    &format!("Forwarding C{at}'s speech to C{to}"),
                );
                self.said.last_mut().unwrap().heard_by.push(to);
            }
        }
        match &mut self.closing {
            Some(left) => *left -= 1,
            None if CloseSigns::default().is_close(words, "") => {
                self.closing = Some(self.plan.closing_replies);
            }
            None => {
                self.out.push(format!("judge {}", self.said.len()));
                self.waits = Waits::Judge;
                return;
            }
        }
        self.next_turn(granted);
    }

    fn next_turn(&mut self, granted: Option<usize>) {
        if self.closing == Some(0) || self.is_reached(self.plan.hard_cap) {
            let reason = self.reason("hard-cap");
            return self.close(reason, granted);
        }
        self.grant(granted);
    }

    /// Why it ends: naturally, where it was closing, and otherwise so.
    fn reason(&self, otherwise: &'static str) -> &'static str {
        match self.closing {
            Some(_) if self.nudged => "soft-cap",
            Some(_) => "natural",
            None => otherwise,
        }
    }

    fn record_close(&mut self, reason: &str) {
        self.closed = true;
        self.out.push(format!("record coordinator close - Scene ended: {reason} {reason} None"));
    }

    fn close(&mut self, reason: &str, granted: Option<usize>) {
        self.record_close(reason);
        let here = self.here();
        self.pending.extend(here.into_iter().map(|at| (at, false)));
        self.go_on(granted);
    }

    fn no_entry(&mut self, at: usize, granted: Option<usize>) {
        self.out.push(format!("no entry {at}"));
        self.places[at] = Where::Gone;
        self.go_on(granted);
    }

    fn abort(&mut self) {
        self.end_at_once("aborted");
    }

    fn end_at_once(&mut self, reason: &str) {
        if !self.closed {
            self.record_close(reason);
        }
        self.out.push("finish".to_owned());
    }
}
