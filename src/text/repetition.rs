//! Whether a reply says anything that was not said since a person last wrote.
//!
//! Rooms of models loop by content: they say a sentence once more, thank each other, agree in other words, and count on in a list
//! that says nothing. A reply is new if it has words that were not said yet, or what carries a fact in another order: numbers,
//! single letters, code, pictures of a board, "left" and "right", negations, who does what. Words that greet, thank, praise, agree or
//! connect are never new.
//!
//! A copy counts as nothing to add at once. What says the same in other words is an agreement or a courtesy, and each agent may say such a
//! thing once after a reply that said something new; the next time it counts as nothing to add. So a loop ends in its second cycle, and
//! what is only alike, for example the moves of a game, stays. If a person asked for what comes back, for example a song with a chorus,
//! a copy counts as such a thing, too, and each agent may say two of them.
//!
//! `verify/evenings` has the evenings with which this is measured.

use dirigent_core::AgentKey;

mod seen;
mod words;

use seen::Seen;
pub(crate) use words::words_of_name;
use words::{Piece, asks_for_what_comes_back, read, says_that_it_repeats, with_order};

/// The fewest words, empty ones included, of a reply that copies the agent's own words: a shorter one may be an answer.
const OWN_MIN: usize = 5;
/// The fewest of one that copies another agent's: a shorter one may be agreement.
const OTHERS_MIN: usize = 7;
/// The fewest words that count of a reply in which one may be another.
const LONG: usize = 12;
/// A reply with so few words may be an answer: it is said once more before it counts as nothing to add.
const SHORT: usize = 3;
/// For a reply of how many pieces memory is kept from one talk to the next.
const KEPT: usize = 4_096;
/// How many replies in a row must have said nothing new before the next one counts as nothing to add.
const IN_A_ROW: usize = 3;

/// The words of a reply, those of its embeds included, and a hash of what else it shows, if it shows anything.
pub(crate) type Said<'a> = (&'a str, Option<u64>);

/// What was said since a person last wrote: hashes of it, never a text, in some 5 KB however long the talk is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    seen: Seen,
    /// Whose replies said nothing new since the last one that did.
    idle: Vec<AgentKey>,
    /// Whose reply was the newest one, if it asked: what another agent says next is an answer.
    asks: Option<AgentKey>,
    /// Whether the person asked for what comes back.
    comes_back: bool,
    /// The memory for the next reply.
    reply: Reply,
}

/// How much of a reply is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    /// It copies what was said.
    Copy,
    /// It says nothing.
    Nothing,
    /// So little that it may be the same in other words.
    Little,
    /// It says something.
    Something,
}

impl Recent {
    /// A person has written this, and everything before it is of no account.
    pub(crate) fn begin(&mut self, text: &str, names: &[u64]) {
        let reply = std::mem::take(&mut self.reply);
        // A reply of a hundred pages was read once, and its memory is not kept for the next.
        let reply = if reply.pieces.capacity() > KEPT { Reply::default() } else { reply };
        *self = Self { reply, comes_back: asks_for_what_comes_back(text), ..Self::default() };
        self.reply.read((text, None), names);
        self.reply.remember(&mut self.seen, None);
    }

    /// A reply is made. Returns whether it says nothing new; if not, it is part of what was said from now on. `names`: of the agents,
    /// as sorted [`words_of_name`].
    pub(crate) fn is_repeated(&mut self, author: AgentKey, said: Said<'_>, names: &[u64]) -> bool {
        self.reply.read(said, names);
        let news = self.news(author, said.0);
        let is_repeated = match news {
            News::Copy if !self.comes_back => true,
            News::Copy | News::Nothing => {
                let before = self.idle.iter().filter(|idle| **idle == author).count();
                let may_again = self.comes_back || self.reply.length() <= SHORT;
                self.idle.len() >= IN_A_ROW && before > usize::from(may_again)
            }
            News::Little | News::Something => false,
        };
        if is_repeated {
            return true;
        }
        match news {
            News::Something => self.idle.clear(),
            News::Copy | News::Nothing => self.idle.push(author),
            News::Little => {}
        }
        self.asks = self.reply.asks.then_some(author);
        self.reply.remember(&mut self.seen, Some(author));
        false
    }

    fn news(&self, author: AgentKey, text: &str) -> News {
        let (reply, is_new) = (&self.reply, |hash: u64| !self.seen.has(hash));
        let unseen = |hashes: &[u64]| hashes.iter().filter(|hash| is_new(**hash)).count();
        let words = unseen(&reply.words);
        if words > 2 && words * 3 > reply.words.len() {
            return News::Something;
        }
        let pairs = unseen(&reply.pairs);
        let claims = reply.claims.is_some_and(is_new);
        let names_others = reply.words.len() > 1 && reply.persons.is_some_and(is_new);
        let is_vote = reply.is_vote;
        let says_same = words == 0 && !claims && !names_others;
        if !is_vote
            && (says_same && self.copies(author, pairs) || self.is_near(words, pairs, claims))
        {
            return News::Copy;
        }
        let few = words * 3 <= reply.words.len();
        let says_so = (words <= 2 || few) && !reply.asks && says_that_it_repeats(text);
        if says_so && unseen(&reply.facts) == 0 {
            return News::Nothing;
        }
        // An entry more in a list, a word more in a sentence that stands.
        let is_edit = words > 0 && reply.pairs.len() > 1 && pairs * 2 < reply.pairs.len();
        let is_move = reply.all_facts.is_some() && reply.words.is_empty() && reply.empty == 0;
        let asks = reply.asks && (words > 0 || reply.length() <= SHORT + 1);
        if is_vote || is_move || is_edit || asks || reply.all_facts.is_some_and(is_new) {
            return News::Something;
        }
        if self.asks.is_some_and(|other| other != author) {
            return News::Little;
        }
        if says_same {
            return News::Nothing;
        }
        if words < 2 || few { News::Little } else { News::Something }
    }

    /// Whether a reply without a new word is a copy: clause by clause, or in another order of its clauses.
    fn copies(&self, author: AgentKey, new_pairs: usize) -> bool {
        let reply = &self.reply;
        let is_own = |hash: u64| self.seen.has(by(author, hash));
        let has_all = |is: &dyn Fn(u64) -> bool| {
            !reply.clauses.is_empty() && reply.clauses.iter().all(|(hash, _)| is(*hash))
        };
        let order_is_known = new_pairs * 8 <= reply.pairs.len();
        let foreign_pairs = reply.pairs.iter().filter(|pair| !is_own(**pair)).count();
        let own_words = reply.words.len() > 3 && foreign_pairs * 12 <= reply.pairs.len();
        let own = (reply.shows || reply.length() >= OWN_MIN)
            && (has_all(&is_own) && order_is_known || own_words);
        let clauses = has_all(&|hash| self.seen.has(hash)) && order_is_known;
        own || reply.length() >= OTHERS_MIN && clauses
            || reply.words.len() >= OTHERS_MIN && new_pairs == 0
    }

    /// Whether a long reply is a copy but for one word within a sentence.
    fn is_near(&self, new_words: usize, new_pairs: usize, claims: bool) -> bool {
        let reply = &self.reply;
        let mut changed = reply.clauses.iter().filter(|(hash, _)| !self.seen.has(*hash));
        let is_within = |words: usize| words > 3;
        let only_one =
            changed.next().is_none_or(|(_, words)| is_within(*words)) && changed.next().is_none();
        reply.words.len() >= LONG && new_words == 1 && new_pairs <= 2 && only_one && !claims
    }
}

/// What a reply is made of, as far as it counts.
#[derive(Clone, Debug, Default)]
struct Reply {
    pieces: Vec<Piece>,
    words: Vec<u64>,
    /// Words beside each other.
    pairs: Vec<u64>,
    /// Each clause that says something, and how many words of it count.
    clauses: Vec<(u64, usize)>,
    /// What carries a fact, each by itself.
    facts: Vec<u64>,
    /// The same as one hash, in its order, with what the reply shows besides.
    all_facts: Option<u64>,
    /// The same, and what is denied.
    claims: Option<u64>,
    /// Who is spoken of, in order, if that are several.
    persons: Option<u64>,
    /// How many words say nothing.
    empty: usize,
    /// How many words stand in clauses that it has said already.
    again: usize,
    /// How many of the words are characters of a script without spaces.
    characters: usize,
    /// Whether it shows something besides its words: then a copy of it is one however few they are.
    shows: bool,
    is_vote: bool,
    asks: bool,
}

impl Reply {
    /// How many words it has, empty ones included. Two characters of a script without spaces are one.
    fn length(&self) -> usize {
        self.words.len() + self.empty + self.again - self.characters / 2
    }

    /// Reads this reply in place of the one before.
    fn read(&mut self, (text, shown): Said<'_>, names: &[u64]) {
        for hashes in [&mut self.words, &mut self.pairs, &mut self.facts] {
            hashes.clear();
        }
        self.clauses.clear();
        (self.all_facts, self.persons) = (shown, None);
        // The same words with a picture, and without it, are two things.
        self.claims = Some(shown.unwrap_or(NOTHING_SHOWN));
        (self.empty, self.again, self.characters, self.is_vote) = (0, 0, 0, false);
        self.asks = text.trim_end().ends_with(['?', '？']);
        let mut pieces = std::mem::take(&mut self.pieces);
        read(text, names, &mut pieces);
        self.take(&pieces);
        self.pieces = pieces;
        self.shows = shown.is_some();
        self.clauses.extend(shown.map(|shown| (shown, 0)));
    }

    fn take(&mut self, pieces: &[Piece]) {
        let (mut newest, mut counted, mut denies) = (None, 0, false);
        let (mut first, mut several) = (None, false);
        let mut before = None;
        for piece in pieces {
            match *piece {
                Piece::Word(hash) | Piece::Character(hash) => {
                    self.characters += usize::from(matches!(piece, Piece::Character(_)));
                    if std::mem::take(&mut denies) {
                        add(&mut self.claims, hash);
                    }
                    self.pairs.extend(newest.map(|newest| with_order(newest, hash)));
                    newest = Some(hash);
                    self.words.push(hash);
                }
                Piece::Fact(hash) => {
                    self.facts.push(with_order(FACT, hash));
                    add(&mut self.all_facts, hash);
                    add(&mut self.claims, hash);
                }
                Piece::Negation => denies = true,
                Piece::Person(hash) => {
                    self.empty += 1;
                    several |= *first.get_or_insert(hash) != hash;
                    add(&mut self.persons, hash);
                }
                Piece::Empty => self.empty += 1,
                Piece::Again(words) => self.again += words,
                // "I vote", "my vote", "Vote: yes"; not "a vote by the pupils".
                Piece::Vote => self.is_vote |= matches!(before, None | Some(Piece::Person(_))),
                Piece::End(hash) => {
                    self.clauses.push((hash, self.words.len() - counted));
                    counted = self.words.len();
                }
            }
            before = Some(*piece);
        }
        if denies {
            add(&mut self.claims, 1);
        }
        if self.asks {
            add(&mut self.claims, ASKS);
        }
        self.persons = self.persons.filter(|_| several);
    }

    /// What it says is said from now on: by its author, or by a person.
    fn remember(&self, seen: &mut Seen, author: Option<AgentKey>) {
        let clauses = || self.clauses.iter().map(|(hash, _)| *hash);
        let claims = self.claims.filter(|_| author.is_some());
        let wholes = [self.all_facts, claims, self.persons].into_iter().flatten();
        let parts = self.words.iter().chain(&self.pairs).chain(&self.facts).copied();
        clauses().chain(parts).chain(wholes).for_each(|hash| seen.put(hash));
        if let Some(author) = author {
            let own = clauses().chain(self.pairs.iter().copied());
            own.for_each(|hash| seen.put(by(author, hash)));
        }
    }
}

/// In place of the hash of what a reply shows besides its words.
const NOTHING_SHOWN: u64 = 3;
/// That a reply asks is a claim of its own.
const ASKS: u64 = 2;
/// Keeps single facts apart from the words that they may be.
const FACT: u64 = 5;

/// A hash as one agent's own.
fn by(author: AgentKey, hash: u64) -> u64 {
    with_order(hash, u64::from(author.get()) + 1)
}

/// One more of a list that is known as one hash.
fn add(list: &mut Option<u64>, hash: u64) {
    *list = Some(with_order(list.unwrap_or_default(), hash));
}

#[cfg(test)]
mod tests;
