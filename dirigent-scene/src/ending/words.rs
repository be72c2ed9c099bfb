//! Splits text into sentences, clauses and words, as far as a close needs them.

/// A part of a sentence, as lower-case words without punctuation.
pub(super) struct Clause {
    pub(super) words: Vec<String>,
}

/// Words before a phrase that change its meaning.
const HEDGES: [&str; 18] = [
    "not", "never", "if", "unless", "until", "till", "before", "why", "when", "whether", "cannot",
    "without", "nicht", "nie", "wenn", "ob", "bevor", "warum",
];
/// Words after a phrase that change its meaning.
const GOES_ON: [&str; 3] = ["first", "on", "ahead"];

impl Clause {
    /// Returns true if the clause contains the phrase and means a close.
    pub(super) fn closes_with(&self, phrase: &[String]) -> bool {
        let Self { words } = self;
        let is_hedge = |word: &String| HEDGES.contains(&word.as_str()) || word.ends_with("n't");
        let mut places = words.windows(phrase.len().max(1)).enumerate();
        places.any(|(at, window)| {
            let hedged = words.iter().take(at).any(is_hedge);
            let behind = words.get(at + phrase.len());
            let goes_on = behind.is_some_and(|word| GOES_ON.contains(&word.as_str()));
            is_phrase(window, phrase) && !hedged && !goes_on
        })
    }
}

/// Returns true if these words are the phrase. A script without spaces makes one word of many.
fn is_phrase(window: &[String], phrase: &[String]) -> bool {
    match (window, phrase) {
        ([word], [phrase]) if phrase.starts_with(is_unspaced) => word.contains(phrase.as_str()),
        _ => window == phrase,
    }
}

/// Returns true if a character belongs to a script without spaces between words: Chinese, Japanese or Korean.
fn is_unspaced(c: char) -> bool {
    c >= '\u{2e80}'
}

/// Words that announce a return, or ask the others to stay or to come along.
const STAYS: &str = "be right back;right back;be back;back in a;brb;wait here;wait for me;hold on;one moment;one second;\
    one minute;just a moment;just a second;just a minute;don't go;stay here;stay there;come with me;follow me;\
    gleich wieder;gleich zurück;bald zurück;warte hier;wartet hier;moment bitte;einen moment;komm mit;马上回来;就回来;等我;等一下;稍等;跟我来";
/// Beginnings of a farewell.
const FAREWELLS: &str = "good night;goodnight;goodbye;good bye;bye;farewell;take care;see you;thanks;thank you;so long;good day;\
    good luck;gute nacht;auf wiedersehen;mach's gut;tschüss;leb wohl;danke;再见;晚安;保重";

/// Returns true if a sentence announces a return, or asks the others to stay or to come along.
pub(super) fn is_stay(sentence: &str) -> bool {
    clauses(sentence).any(|clause| STAYS.split(';').any(|stay| clause.closes_with(&words(stay))))
}

/// Returns true if a sentence is a farewell.
pub(super) fn is_farewell(sentence: &str) -> bool {
    let said = words(sentence);
    let begins = |farewell: &str| {
        let farewell = words(farewell);
        said.get(..farewell.len()).is_some_and(|begin| is_phrase(begin, &farewell))
    };
    !is_question(sentence) && FAREWELLS.split(';').any(begins)
}

/// Returns true if a sentence is a question.
pub(super) fn is_question(sentence: &str) -> bool {
    sentence.trim_end_matches(['"', '\'', '”', '’', ')', '*', '」']).ends_with(['?', '？'])
}

/// Splits a sentence at commas, semicolons, colons and dashes. An apostrophe belongs to its word.
pub(super) fn clauses(sentence: &str) -> impl Iterator<Item = Clause> + use<'_> {
    sentence
        .split([',', ';', ':', '—', '–', '，', '；', '：'])
        .map(|part| Clause { words: words(part) })
}

pub(super) fn words(text: &str) -> Vec<String> {
    let folded = text.replace(['’', '‘', 'ʼ', '`'], "'");
    let split = folded.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let words = split.map(|word| word.trim_matches('\'').to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

/// Returns the last sentences of a text, newest first, each with its final punctuation.
pub(super) fn last_sentences(text: &str, count: usize) -> impl Iterator<Item = &str> {
    let mut sentences = sentences(text);
    sentences.reverse();
    sentences.into_iter().take(count)
}

/// Returns the sentences of a text that contain a word.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let is_end = matches!(c, '.' | '!' | '?' | '…' | '\n' | '。' | '！' | '？');
        let next = characters.peek().map(|(_, next)| *next);
        // "3.5" and "..." do not end a sentence in their middle.
        let goes_on = next.is_some_and(|next| {
            next.is_alphanumeric() || matches!(next, '.' | '!' | '?' | '…' | '"' | '”' | '’' | ')')
        });
        if is_end && (!goes_on || matches!(c, '\n' | '。' | '！' | '？')) {
            let end = at + c.len_utf8();
            sentences.push(text.get(start..end).unwrap_or_default().trim());
            start = end;
        }
    }
    sentences.push(text.get(start..).unwrap_or_default().trim());
    sentences.retain(|sentence| sentence.contains(char::is_alphanumeric));
    sentences
}
