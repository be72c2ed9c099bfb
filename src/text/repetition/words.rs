//! Splits a text into pieces.

use std::sync::LazyLock;

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A word, by the hash of its first letters, so that "postpone" and "postponed" are equal.
    Word(u64),
    /// A character of a script that is written without spaces.
    Character(u64),
    /// A word that greets, thanks, agrees, praises or only connects.
    Empty,
    /// The person who speaks, is spoken to or is spoken of.
    Person(u64),
    /// A word with a different meaning if another one replaces it: a number, a letter, code, a picture, "left".
    Fact(u64),
    /// "Not", "no", "never".
    Negation,
    /// A vote. A repeated vote is another vote.
    Vote,
    /// The end of a clause that says something, with the hash of the whole clause.
    End(u64),
    /// A clause that the text has already, with the number of its words.
    Again(usize),
}

/// Words that have no content however often they come, in the languages that rooms of models mostly use.
static EMPTY: LazyLock<Vec<u64>> = LazyLock::new(|| sorted(include_str!("empty.txt")));
static FACTS: LazyLock<Vec<u64>> = LazyLock::new(|| sorted(include_str!("facts.txt")));
static PERSONS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    sorted(
        "i me my mine you your yours he him his she her they them their we us our ich du er sie yo tú je tu",
    )
});
static NEGATING: LazyLock<Vec<u64>> = LazyLock::new(|| sorted(include_str!("negations.txt")));
static VOTING: LazyLock<Vec<u64>> =
    LazyLock::new(|| sorted("approve approved lgtm vote votes voting"));

/// Characters that have no content.
const EMPTY_CHARACTERS: &str =
    "的了吧吗啊呀呢好是对也都很太真谢同意赞错这那就还はがをにのもとですねよ";
const FACT_CHARACTERS: &str =
    "左右上下东西南北前后内外大小多少高低一二三四五六七八九十半红绿蓝白黑黄";
const PERSON_CHARACTERS: &str = "我你他她您们咱私僕君";
const NEGATING_CHARACTERS: &str = "不没別别無无未非勿";

/// Words with which an author says that they repeat themselves, perhaps in other words.
const SAID_BEFORE: &[&str] = &[
    "as i said",
    "like i said",
    "as i've said",
    "as said",
    "as mentioned",
    "as i mentioned",
    "as noted",
    "as before",
    "i repeat",
    "can only repeat",
    "to repeat",
    "reiterate",
    "to recap",
    "in summary",
    "to sum",
    "in conclusion",
    "in a nutshell",
    "in short",
    "already said",
    "already pointed",
    "already mentioned",
    "i still think",
    "stand by what",
    "wie gesagt",
    "wie schon gesagt",
    "como dije",
    "comme je l'ai dit",
    "如前所述",
    "我说过",
];
/// The number of characters of a text in which these words are looked up.
const START: usize = 200;

/// Words that ask for a form in which words come back.
static RETURNING: LazyLock<Vec<u64>> = LazyLock::new(|| sorted(include_str!("returning.txt")));
/// Characters that ask for such a form.
const RETURNING_CHARACTERS: &str = "歌唱谣";
/// Words that say, together with words in quotation marks, when the words come back.
const WHENEVER: &[&str] =
    &["after each", "after every", "nach jede", "après chaque", "después de cada", "每次"];
const QUOTES: &[char] = &['"', '“', '”', '„', '«', '「'];

/// Signs that have a meaning in formulas, patterns, prices and paths.
const SIGNS: &[char] = &['+', '=', '^', '|', '$', '%', '/', '\\', '€', '_'];
/// Words before a number that only counts the entries of a list.
const COUNTED: &[&str] = &["Point ", "point ", "Item ", "item ", "Reason ", "Idea ", "Thought "];

/// The number of letters of a word that count.
const STEM: usize = 6;
/// The number of pieces in which a repeated clause of the text is looked up.
const LOOK_BACK: usize = 256;

/// Returns whether the text says about itself that it says nothing new.
pub(super) fn says_that_it_repeats(text: &str) -> bool {
    let start: String = text.chars().take(START).flat_map(char::to_lowercase).collect();
    SAID_BEFORE.iter().any(|words| start.contains(words))
}

/// Returns whether a person asks for a form in which words come back, for example a song, or says which words come back
/// when.
pub(super) fn asks_for_what_comes_back(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let is_returning = |word: &str| RETURNING.binary_search(&hash(lowered(word))).is_ok();
    let whenever = || {
        let lower = text.to_lowercase();
        WHENEVER.iter().any(|words| lower.contains(words))
    };
    text.contains(|c| RETURNING_CHARACTERS.contains(c))
        || words.filter(|word| !word.is_empty()).any(is_returning)
        || text.contains(QUOTES) && whenever()
}

/// Returns the hashes of the words of a name.
pub(crate) fn words_of_name(name: &str) -> impl Iterator<Item = u64> {
    let words = name.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(|word| hash(lowered(word)))
}

/// Reads the pieces of the text, in order, in place of those before. Of a clause that the text has already, it only
/// counts the words. It leaves out the numbers of lists and the marks of Markdown. `names` has the [`words_of_name`],
/// in ascending order.
pub(super) fn read(text: &str, names: &[u64], found: &mut Vec<Piece>) {
    found.clear();
    // "Round 12: we agree" counts no event, but "Day 12: no rain" does.
    let without_number = after_number(text).map(|rest| read_lines(rest, names, found));
    let all = match without_number {
        Some(all) if !found.iter().any(says) => all,
        Some(_) | None => {
            found.clear();
            read_lines(text, names, found)
        }
    };
    // A text without content is one clause, so that a long one that comes again is a copy, too.
    if !found.iter().any(says) {
        found.push(Piece::End(all));
    }
}

const fn says(piece: &Piece) -> bool {
    !matches!(piece, Piece::Empty | Piece::Person(_))
}

/// Returns the text after "Round 12:".
fn after_number(text: &str) -> Option<&str> {
    let (head, rest) = text.trim_start().trim_start_matches('*').split_once([':', '.', ')'])?;
    let (word, number) = head.trim_end_matches('*').split_once(' ')?;
    let counts = word.chars().all(char::is_alphabetic) && number.parse::<u32>().is_ok();
    (counts && !rest.trim().is_empty()).then_some(rest)
}

/// Returns a hash of all clauses.
fn read_lines(text: &str, names: &[u64], found: &mut Vec<Piece>) -> u64 {
    let (mut fenced, mut all) = (false, 0);
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if fenced || fence {
            found.push(Piece::Fact(hash(line.trim().chars())));
            continue;
        }
        let code = line.split('`').skip(1).step_by(2);
        found.extend(code.map(|code| Piece::Fact(hash(code.chars()))));
        let mut rest = without_marker(line);
        while !rest.is_empty() {
            let mut ends = rest.char_indices().filter(|(_, c)| ends_clause(*c));
            let end = ends.next().map_or(rest.len(), |(at, c)| at + c.len_utf8());
            let (clause, after) = rest.split_at(end);
            rest = after;
            all = with_order(all, read_clause(clause, rest.is_empty(), names, found));
        }
    }
    all
}

/// Reads a clause, and returns its hash. A clause without content has no end.
fn read_clause(clause: &str, is_last: bool, names: &[u64], found: &mut Vec<Piece>) -> u64 {
    let from = found.len();
    let hash = read_words(clause, names, found);
    let end = Piece::End(hash);
    if found.iter().skip(from).any(says) {
        let known = found.len().saturating_sub(LOOK_BACK)..from;
        if found.get(known).is_some_and(|before| before.contains(&end)) {
            let is_dense = |piece: &&Piece| matches!(piece, Piece::Character(_));
            let dense = found.iter().skip(from).filter(is_dense).count();
            let words = found.len() - from - dense / 2;
            found.truncate(from);
            found.push(Piece::Again(words));
        } else {
            found.push(end);
        }
    } else if from == 0 || is_last || found.len() > from + 1 {
        // A name that a clause calls or thanks is no part of the content, but a name in the middle of a list is.
        found.iter_mut().skip(from).for_each(|piece| *piece = Piece::Empty);
    }
    hash
}

/// Returns a hash of all words except for names, because the name that a clause calls is no part of its content.
fn read_words(clause: &str, names: &[u64], found: &mut Vec<Piece>) -> u64 {
    let (mut rest, mut before, mut all) = (clause, None, 0_u64);
    while let Some(first) = rest.chars().next() {
        let length = word_length(rest, first, before);
        if length == 0 {
            let says = first == '?' || first == '？';
            let sign = read_sign(first);
            if says || sign.is_some() {
                all = with_order(all, u64::from(u32::from(first)));
            }
            found.extend(sign);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            before = Some(first);
            continue;
        }
        let (word, after) = rest.split_at(length);
        let mut following = after.chars();
        let is_followed =
            following.next() == Some(' ') && following.next().is_some_and(char::is_alphanumeric);
        let word_hash = hash(lowered(word));
        if !is_account(word) && names.binary_search(&word_hash).is_err() {
            all = with_order(all, word_hash);
        }
        let piece = read_word(word, is_followed, names);
        let is_call = before == Some('@') && matches!(piece, Some(Piece::Person(_)));
        found.extend(if is_call { Some(Piece::Empty) } else { piece });
        (rest, before) = (after, word.chars().next_back());
    }
    all
}

/// Returns whether a word is an account. A mention is a name, and its number is longer than any in a conversation.
fn is_account(word: &str) -> bool {
    word.len() >= 15 && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns a hash that includes the order of its parts.
pub(super) const fn with_order(before: u64, hash: u64) -> u64 {
    (before.rotate_left(5) ^ hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Returns how many bytes of the text, which begins with `first`, are one word or number. It is 0 if the text begins
/// with a sign.
fn word_length(text: &str, first: char, before: Option<char>) -> usize {
    if is_dense(first) {
        return first.len_utf8();
    }
    let is_sign =
        matches!(first, '-' | '−' | '+') && before.is_none_or(|c: char| c.is_whitespace());
    let sign = if is_sign { first.len_utf8() } else { 0 };
    let number = text.get(sign..).unwrap_or_default();
    if number.starts_with(|c: char| c.is_ascii_digit()) {
        let joins = ['.', ',', ':', '/'];
        let is_part = |c: char| c.is_alphanumeric() && !is_dense(c) || joins.contains(&c);
        let end = number.find(|c| !is_part(c)).unwrap_or(number.len());
        return sign + number.get(..end).unwrap_or_default().trim_end_matches(joins).len();
    }
    if !first.is_alphanumeric() {
        return 0;
    }
    let is_part = |c: char| c.is_alphanumeric() && !is_dense(c) || matches!(c, '\'' | '’');
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

fn read_word(word: &str, is_followed: bool, names: &[u64]) -> Option<Piece> {
    let apostrophes = ['\'', '’'];
    let word = word.trim_matches(apostrophes);
    let negates = word.ends_with("n't") || word.ends_with("n’t");
    // "You're" and "you" are equal.
    let base = word.split(apostrophes).next().unwrap_or(word);
    let word = if negates || base.len() < 2 && base != "I" { word } else { base };
    let (hash, mut characters) = (hash(lowered(word)), word.chars());
    let (first, is_single) = (characters.next()?, characters.next().is_none());
    if is_dense(first) {
        return Some(read_character(first, hash));
    }
    let is = |list: &[u64]| list.binary_search(&hash).is_ok();
    // This is the letter and not the article, or the side and not the agreement.
    let is_choice = word == "A" && !is_followed;
    let agrees =
        || !is_followed && matches!(&*word.to_ascii_lowercase(), "right" | "true" | "second");
    Some(if is_account(word) || is(names) || is(&PERSONS) {
        Piece::Person(hash)
    } else if is(&VOTING) {
        Piece::Vote
    } else if negates || is(&NEGATING) {
        Piece::Negation
    } else if is(&FACTS) && !agrees() {
        Piece::Fact(hash)
    } else if is(&EMPTY) && !is_choice || is(&FACTS) || is_empty_adverb(word) {
        Piece::Empty
    } else if is_single && word.is_ascii() || word.chars().any(char::is_numeric) {
        Piece::Fact(hash)
    } else {
        Piece::Word(self::hash(lowered(word).take(STEM)))
    })
}

fn read_character(character: char, hash: u64) -> Piece {
    if NEGATING_CHARACTERS.contains(character) {
        Piece::Negation
    } else if FACT_CHARACTERS.contains(character) {
        Piece::Fact(hash)
    } else if EMPTY_CHARACTERS.contains(character) {
        Piece::Empty
    } else if PERSON_CHARACTERS.contains(character) {
        Piece::Person(hash)
    } else {
        Piece::Character(hash)
    }
}

/// Returns whether an adverb is as empty as its adjective, for example "wonderfully" and "wonderful".
fn is_empty_adverb(word: &str) -> bool {
    let stem = word.strip_suffix("ly").filter(|stem| stem.len() > 2);
    stem.is_some_and(|stem| EMPTY.binary_search(&hash(lowered(stem))).is_ok())
}

fn read_sign(sign: char) -> Option<Piece> {
    let says = SIGNS.contains(&sign) || is_picture(sign);
    says.then(|| Piece::Fact(hash(std::iter::once(sign))))
}

/// Returns whether a picture has a meaning, for example a square of a board, a check mark, a card or a die. A smile and
/// flowers have none.
const fn is_picture(c: char) -> bool {
    let is_sign = matches!(c, '\u{2190}'..='\u{21FF}' | '\u{2500}'..='\u{25FF}' | '\u{2648}'..='\u{27BF}' | '\u{2B00}'..='\u{2BFF}');
    let is_decoration = matches!(c, '❤' | '✨' | '→');
    let is_coloured = matches!(c, '\u{1F0A0}'..='\u{1F1FF}' | '\u{1F534}'..='\u{1F53B}' | '\u{1F7E0}'..='\u{1F7EB}');
    is_sign && !is_decoration || is_coloured
}

/// Returns a line without the mark of a list entry: `- `, `2. `, `(3) `, `b) `, `#4 `, `Point 5: `.
fn without_marker(line: &str) -> &str {
    let is_marker = |c: char| c.is_whitespace() || matches!(c, '*' | '•' | '#' | '>');
    let is_numbered = line.trim_start().starts_with('#');
    let line = line.trim_start_matches(is_marker);
    let line = line.strip_prefix("- ").unwrap_or(line).trim_start_matches('*');
    let counts = |rest: &&str| rest.starts_with(|c: char| c.is_ascii_digit());
    let counted = COUNTED.iter().find_map(|word| line.strip_prefix(word).filter(counts));
    let line = counted.unwrap_or(line);
    let inner = line.strip_prefix('(').unwrap_or(line);
    let digits = inner.trim_start_matches(|c: char| c.is_ascii_digit());
    let letter =
        inner.strip_prefix(|c: char| c.is_ascii_lowercase()).filter(|it| it.starts_with(')'));
    let rest = letter.unwrap_or(digits);
    let has_number = rest.len() < inner.len();
    match rest.strip_prefix(['.', ')', ':']) {
        Some(rest) if has_number && rest.starts_with(char::is_whitespace) => rest,
        None if has_number && is_numbered && rest.starts_with(' ') => rest,
        Some(_) | None => line,
    }
}

const fn ends_clause(c: char) -> bool {
    matches!(
        c,
        '.' | '!'
            | '?'
            | ':'
            | ';'
            | ','
            | '—'
            | '–'
            | '('
            | ')'
            | '。'
            | '，'
            | '！'
            | '？'
            | '：'
            | '；'
    )
}

/// Returns whether the character is of a script that is written without spaces.
const fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Returns the hashes of these words, in ascending order.
fn sorted(words: &str) -> Vec<u64> {
    let mut hashes: Vec<u64> = words.split_whitespace().map(|word| hash(lowered(word))).collect();
    hashes.sort_unstable();
    hashes
}

/// Returns the characters of a word in lower case, with one kind of apostrophe.
fn lowered(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| if c == '’' { '\'' } else { c }).flat_map(char::to_lowercase)
}

/// FNV-1a, so that a hash is equal in every process. The result is mixed, because its low bits depend only on the last
/// letters.
fn hash(word: impl Iterator<Item = char>) -> u64 {
    let step = |hash: u64, c: char| (hash ^ u64::from(u32::from(c))).wrapping_mul(0x0100_0000_01B3);
    let hash = word.fold(0xCBF2_9CE4_8422_2325, step);
    (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}
