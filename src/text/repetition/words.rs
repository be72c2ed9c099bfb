//! The words of a text, as far as they count.

/// A word that counts, by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Another word in its place says nearly the same.
    Plain(u64),
    /// The same, and it says next to nothing: who speaks, or is spoken to.
    Light(u64),
    /// Another one in its place says something else.
    Fact(u64),
    /// The text votes: the same again is another vote.
    Vote,
}

/// The longest word of a list, in bytes.
const LISTED_MAX: usize = 11;

/// Words that only connect, greet, agree or stress.
const CONNECTING: &[&str] = &[
    "a",
    "absolutely",
    "again",
    "agree",
    "agreed",
    "also",
    "an",
    "and",
    "anyway",
    "as",
    "but",
    "certainly",
    "definitely",
    "exactly",
    "great",
    "hello",
    "hi",
    "indeed",
    "just",
    "ok",
    "okay",
    "perhaps",
    "please",
    "quite",
    "really",
    "right",
    "so",
    "sure",
    "thank",
    "thanks",
    "that",
    "the",
    "then",
    "there",
    "too",
    "totally",
    "true",
    "truly",
    "very",
    "well",
    "yeah",
    "yes",
];
/// Words of courtesy: a clause of nothing else says nothing.
const COURTEOUS: &[&str] = &[
    "all",
    "beautiful",
    "before",
    "can",
    "clears",
    "completely",
    "course",
    "excellent",
    "fair",
    "fait",
    "fully",
    "genau",
    "good",
    "he",
    "here",
    "hmm",
    "idea",
    "ja",
    "like",
    "love",
    "lovely",
    "mention",
    "mentioned",
    "more",
    "nice",
    "nicely",
    "observation",
    "observed",
    "of",
    "oui",
    "point",
    "precisely",
    "put",
    "reiterate",
    "repeat",
    "said",
    "say",
    "says",
    "she",
    "spot",
    "stimmt",
    "that's",
    "they",
    "think",
    "throat",
    "to",
    "tout",
    "what",
    "with",
    "wonderful",
    "you're",
];
/// Signs that say something in formulas, patterns, prices and paths.
const SIGNS: &[char] = &['+', '=', '^', '|', '$', '%', '/', '\\', '€'];
/// What stands in front of a number that only counts.
const COUNTED: &[&str] = &["Point ", "point ", "Item ", "item ", "Reason ", "Idea ", "Thought "];
const LIGHT: &[&str] = &["i", "it", "me", "my", "our", "us", "we", "you", "your"];
const NEGATING: &[&str] =
    &["cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "without"];
const VOTING: &[&str] = &["approve", "approved", "lgtm", "vote", "votes", "voting"];

/// The words of the text that count, in order. Those of `names`, by their hashes in ascending order, are left aside, and
/// so are the numbers of lists.
pub(super) fn words<'a>(text: &'a str, names: &'a [u64]) -> impl Iterator<Item = Word> {
    let mut fenced = false;
    let asks = text.trim_end().ends_with('?').then_some(Word::Fact(u64::MAX));
    let lines = text.lines().flat_map(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        let is_code = fenced || fence;
        let code = is_code.then(|| Word::Fact(hash(line.trim().chars())));
        let line = if is_code { "" } else { without_marker(line) };
        let clauses = line.split_inclusive(ends_clause).filter(move |it| !is_courtesy(it, names));
        let words = clauses.flat_map(move |clause| {
            let signs = clause.chars().filter(|c| SIGNS.contains(c));
            let signs = signs.map(|c| Word::Fact(hash(std::iter::once(c))));
            pieces(clause).filter_map(move |piece| read(piece, names)).chain(signs)
        });
        code.into_iter().chain(words)
    });
    lines.chain(asks)
}

/// The hashes of the words of a name.
pub(crate) fn words_of_name(name: &str) -> impl Iterator<Item = u64> {
    pieces(name).map(|piece| hash(lowered(piece.text)))
}

const fn ends_clause(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ':' | ';' | ',' | '—' | '。' | '，' | '！' | '：')
}

/// Whether a clause only agrees, thanks or announces: "as I said", "great point", "thank you, poet".
fn is_courtesy(clause: &str, names: &[u64]) -> bool {
    let mut said = false;
    for Piece { text, .. } in pieces(clause) {
        said = true;
        let short = Short::of(text);
        let is = |list: &[&str]| short.as_ref().is_some_and(|it| it.is_in(list));
        let is_name = names.binary_search(&hash(lowered(text))).is_ok();
        if !is_name && !is(CONNECTING) && !is(LIGHT) && !is(COURTEOUS) {
            return false;
        }
    }
    said
}

/// A line without what makes it an entry of a list: `- `, `2. `, `(3) `, `b) `, `Point 4: `.
fn without_marker(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '-' | '*' | '•' | '#' | '>')
    });
    let inner = line.strip_prefix('(').unwrap_or(line);
    let inner = COUNTED.iter().find_map(|word| inner.strip_prefix(word)).unwrap_or(inner);
    let digits = inner.trim_start_matches(|c: char| c.is_ascii_digit());
    let letter =
        inner.strip_prefix(|c: char| c.is_ascii_lowercase()).filter(|it| it.starts_with(')'));
    let rest = letter.unwrap_or(digits);
    let is_number = rest.len() < inner.len();
    match rest.strip_prefix(['.', ')', ':']) {
        Some(rest) if is_number && rest.starts_with(char::is_whitespace) => rest,
        Some(_) | None => line,
    }
}

/// A run of letters and digits, and whether it is followed by something else than a word.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    ends: bool,
}

/// Runs of letters and digits. A character of a script without spaces is a word.
fn pieces(line: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !is_part(c));
        let first = rest.chars().next()?;
        let ends = |(at, c): (usize, char)| {
            (at > 0 && (!is_part(c) || is_dense(c) || is_dense(first))).then_some(at)
        };
        let end = rest.char_indices().find_map(ends).unwrap_or(rest.len());
        let text = &rest[..end];
        rest = &rest[end..];
        let mut following = rest.chars();
        let is_joined = following.next() == Some(' ') && following.next().is_some_and(is_part);
        Some(Piece { text, ends: !is_joined })
    })
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\'' | '’' | '_')
}

/// Whether the character is of a script that is written without spaces.
const fn is_dense(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn read(Piece { text, ends }: Piece<'_>, names: &[u64]) -> Option<Word> {
    let hash = hash(lowered(text));
    let short = Short::of(text);
    let is = |list: &[&str]| short.as_ref().is_some_and(|it| it.is_in(list));
    let is_name = names.binary_search(&hash).is_ok();
    // A mention is a name, and its number is longer than any that is talked about.
    let is_account = text.len() >= 15 && text.bytes().all(|byte| byte.is_ascii_digit());
    // The letter, not the article.
    let is_choice = text == "A" && ends;
    if is_name || is_account || (is(CONNECTING) && !is_choice) {
        return None;
    }
    if is(VOTING) {
        return Some(Word::Vote);
    }
    if is(LIGHT) {
        return Some(Word::Light(hash));
    }
    let is_letter = text.len() == 1 && text.is_ascii();
    let has_digit = text.chars().any(char::is_numeric);
    let negates = is(NEGATING) || text.ends_with("n't") || text.ends_with("n’t");
    let is_fact = is_letter || has_digit || negates;
    Some(if is_fact { Word::Fact(hash) } else { Word::Plain(hash) })
}

/// A word that may stand in a list: in lower case, without an allocation.
struct Short {
    bytes: [u8; LISTED_MAX],
    length: usize,
}

impl Short {
    fn of(text: &str) -> Option<Self> {
        let mut bytes = [0; LISTED_MAX];
        let taken = bytes.get_mut(..text.len()).filter(|_| text.is_ascii())?;
        taken.copy_from_slice(text.as_bytes());
        taken.make_ascii_lowercase();
        Some(Self { bytes, length: text.len() })
    }

    fn is_in(&self, list: &[&str]) -> bool {
        list.binary_search(&self.as_str()).is_ok()
    }

    fn as_str(&self) -> &str {
        let word = self.bytes.get(..self.length).unwrap_or_default();
        std::str::from_utf8(word).unwrap_or_default()
    }
}

/// The characters of a word in lower case, with one kind of apostrophe.
fn lowered(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| if c == '’' { '\'' } else { c }).flat_map(char::to_lowercase)
}

/// FNV-1a, so that a digest is the same in every process; stirred, since its low bits are what the last letters are.
fn hash(word: impl Iterator<Item = char>) -> u64 {
    let step = |hash: u64, c: char| (hash ^ u64::from(u32::from(c))).wrapping_mul(0x0100_0000_01B3);
    let hash = word.fold(0xCBF2_9CE4_8422_2325, step);
    (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_order_and_their_words_fit() {
        for list in [CONNECTING, COURTEOUS, LIGHT, NEGATING, VOTING] {
            assert!(list.is_sorted());
            assert!(list.iter().all(|word| word.len() <= LISTED_MAX));
        }
    }
}
