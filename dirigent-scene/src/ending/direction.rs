//! Finds stage directions, and the exits among them.

use super::words::{is_farewell, is_question, sentences, words};

/// A stage direction, with its place in the spoken text.
pub(super) struct Direction<'a> {
    text: &'a str,
    /// The place of the direction in the spoken text.
    at: usize,
}

/// Brackets of directions.
const BRACKETS: [(char, char); 3] = [('[', ']'), ('［', '］'), ('【', '】')];

/// Splits a speech into spoken text and stage directions in square brackets.
pub(super) fn split_directions(speech: &str) -> (String, Vec<Direction<'_>>) {
    let mut said = String::with_capacity(speech.len());
    let mut found = Vec::new();
    let mut rest = speech;
    while let Some(at) = rest.find(BRACKETS.map(|(open, _)| open)) {
        let (before, from) = rest.split_at(at);
        let close = BRACKETS.into_iter().find_map(|(open, close)| {
            from.strip_prefix(open).and_then(|inner| inner.split_once(close))
        });
        let Some((text, after)) = close else {
            break;
        };
        said.push_str(before.strip_suffix('*').unwrap_or(before));
        // The words before and after a direction must not become one word.
        said.push(' ');
        found.push(Direction { text, at: said.len() });
        rest = after.strip_prefix('*').unwrap_or(after);
    }
    said.push_str(rest);
    (said, found)
}

/// The actions that are exits.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Exits {
    actions: Vec<Action>,
}

#[derive(Clone, PartialEq, Eq)]
struct Action {
    /// For each place, the words that may stand there.
    words: Vec<Vec<String>>,
    may_go_on: bool,
    /// True if the action only begins an exit. It is one if no other action or speech follows.
    is_beginning: bool,
}

/// Words that say how something is done.
const MANNERS: &str = "slowly quickly quietly silently softly finally abruptly suddenly gently then just simply wordlessly \
    calmly carefully langsam schnell leise still wortlos stumm ruhig plötzlich schließlich dann";
/// Words that may stand for the speaker before an action.
const SPEAKERS: &str = "he she they i er sie ich";
/// Words that say whose or which thing it is.
const DETERMINERS: &str =
    "a an the his her their its my own den der die das dem einen ihren ihre seinen seine meinen";
/// If one of these words follows, the action is no exit.
const RETURNS: &str =
    "returns return back again stops pauses reenters hesitates turns wieder zurück";
/// Words that turn an apparent return into none.
const NEVER: &str = "not never nicht nie niemals doesn't";
/// If an exit goes on with one of these words, it is an errand or does not lead far.
const ERRANDS: &str = "to onto for briefly moment minute minutes second seconds while balcony porch terrace way um kurz";
/// A character who has just come in closes a door behind them, too.
const ENTRIES: &str = "in inside enters returns back herein hinein";
/// Words that begin a clause of a direction.
const JOINTS: &str = "and then before und dann bevor";

fn is_one_of(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Returns true if these words only tell which thing is meant, for example "her".
fn is_determiner(words: &[String]) -> bool {
    words.iter().all(|word| is_one_of(word, DETERMINERS))
}

/// The progress of an exit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exit {
    None,
    /// The character stands up, or puts on a coat.
    Begun(usize),
    Left(usize),
}

impl Exits {
    pub(super) fn new<'a>(actions: impl IntoIterator<Item = &'a str>) -> Self {
        let action = |text: &str| {
            let places = text.split_whitespace();
            let places: Vec<Vec<String>> =
                places.map(|place| place.split('/').flat_map(words).collect()).collect();
            let is_meant = |(at, place): &(usize, &Vec<String>)| {
                !place.is_empty() && (at + 1 == places.len() || !is_determiner(place))
            };
            let meant = places.iter().enumerate().filter(is_meant);
            Action {
                words: meant.map(|(_, place)| place.clone()).collect(),
                may_go_on: text.ends_with('…'),
                is_beginning: text.ends_with('?'),
            }
        };
        let actions = actions.into_iter().map(action);
        Self { actions: actions.filter(|action| !action.words.is_empty()).collect() }
    }

    /// Returns true if the last thing the speaker does is to leave.
    pub(super) fn is_exit(&self, said: &str, directions: &[Direction<'_>], speaker: &str) -> bool {
        let name = words(speaker);
        let (mut exit, mut has_come_in) = (Exit::None, false);
        for direction in directions {
            for clause in clauses(direction.text) {
                let is_negated = clause.iter().any(|word| is_one_of(word, NEVER));
                let is_return = clause.iter().any(|word| is_one_of(word, RETURNS)) && !is_negated;
                let fits = |action: &&Action| action.fits(&clause, &name, has_come_in);
                let action = self.actions.iter().filter(fits).min_by_key(|it| it.is_beginning);
                exit = match (action, exit) {
                    (Some(action), _) if !action.is_beginning => Exit::Left(direction.at),
                    (Some(_), Exit::None | Exit::Begun(_)) => Exit::Begun(direction.at),
                    (_, Exit::Left(at)) if !is_return => Exit::Left(at),
                    _ => Exit::None,
                };
                has_come_in |= clause.iter().any(|word| is_one_of(word, ENTRIES));
            }
        }
        let around = |at: usize| {
            let (before, behind) = said.split_at_checked(at).unwrap_or_default();
            (sentences(before), sentences(behind))
        };
        match exit {
            Exit::None => false,
            Exit::Left(at) => around(at).1.len() <= 1,
            Exit::Begun(at) => {
                let (before, behind) = around(at);
                let is_calm = |last: &&str| {
                    is_farewell(last) || !(is_question(last) || last.ends_with(['!', '！']))
                };
                before.last().is_none_or(is_calm) && behind.iter().all(|it| is_farewell(it))
            }
        }
    }
}

impl Action {
    fn fits(&self, clause: &[String], name: &[String], has_come_in: bool) -> bool {
        let is_speaker = |word: &String| is_one_of(word, SPEAKERS) || name.contains(word);
        let done = clause.iter().filter(|word| !is_one_of(word, MANNERS)).collect::<Vec<_>>();
        let lead = done.iter().take_while(|word| is_speaker(word)).count();
        // "leaves her coat" is about a coat, "leaves her" about a person.
        let is_meant =
            |(at, word): &(usize, &&String)| at + 1 == done.len() || !is_one_of(word, DETERMINERS);
        let done: Vec<&str> = done
            .iter()
            .enumerate()
            .skip(lead)
            .filter(is_meant)
            .map(|(_, word)| word.as_str())
            .collect();
        let Some((begin, rest)) = done.split_at_checked(self.words.len()) else {
            return false;
        };
        let is_it =
            self.words.iter().zip(begin).all(|(place, word)| place.iter().any(|it| it == word));
        let closes_door = has_come_in
            && self.words.iter().flatten().any(|word| word == "behind" || word == "hinter");
        let for_good = matches!(rest, ["for", "good" | "ever"]);
        let is_errand = rest.iter().any(|word| is_one_of(word, ERRANDS)) && !for_good;
        is_it && !closes_door && !is_errand && (self.may_go_on || for_good || rest.is_empty())
    }
}

/// Returns the clauses of a direction, as words.
fn clauses(direction: &str) -> Vec<Vec<String>> {
    let mut clauses = Vec::new();
    for part in direction.split([',', ';', '.', '—', '–', '!', ':', '，', '。', '、']) {
        for clause in words(part).split(|word| is_one_of(word, JOINTS)) {
            if !clause.is_empty() {
                clauses.push(clause.to_vec());
            }
        }
    }
    clauses
}
