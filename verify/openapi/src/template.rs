//! A path with parameters in it.

use super::exchange::decoded;

/// A path as the document writes it, such as `/channels/{channel_id}/typing`.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pub(super) text: String,
    segments: Vec<Segment>,
}

#[derive(Clone, Debug)]
enum Segment {
    Literal(String),
    Parameter(String),
}

impl Template {
    pub(super) fn read(text: &str) -> Self {
        let segment = |part: &str| {
            let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
            match name {
                Some(name) => Segment::Parameter(name.to_owned()),
                None => Segment::Literal(part.to_owned()),
            }
        };
        Self { text: text.to_owned(), segments: text.split('/').skip(1).map(segment).collect() }
    }

    /// The values of the parameters, by name and in order, if a path is of this shape.
    pub(super) fn values(&self, path: &str) -> Option<Vec<(String, String)>> {
        let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        if parts.len() != self.segments.len() {
            return None;
        }
        let mut values = Vec::new();
        for (segment, part) in self.segments.iter().zip(parts) {
            let part = decoded(part, false)?;
            match segment {
                Segment::Literal(literal) if *literal == part => {}
                Segment::Parameter(name) if !part.is_empty() => values.push((name.clone(), part)),
                Segment::Literal(_) | Segment::Parameter(_) => return None,
            }
        }
        Some(values)
    }

    /// The path with another value for one of its parameters.
    pub(super) fn with_value(&self, path: &str, name: &str, value: &str) -> Option<String> {
        let parts = path.strip_prefix('/')?.split('/');
        let changed = self.segments.iter().zip(parts).map(|(segment, part)| match segment {
            Segment::Parameter(known) if known == name => value,
            Segment::Parameter(_) | Segment::Literal(_) => part,
        });
        Some(changed.fold(String::new(), |path, part| path + "/" + part))
    }

    /// The path with its first word cut short.
    pub(super) fn misspelt(&self, path: &str, base: &str) -> Option<String> {
        let Segment::Literal(word) = self.segments.first()? else { return None };
        let rest = path.strip_prefix(base)?.strip_prefix('/')?.strip_prefix(word.as_str())?;
        let short = word.get(..word.len().checked_sub(1)?)?;
        Some(format!("{base}/{short}{rest}"))
    }

    /// Which of several that fit is meant: the one that says more, and says it earlier.
    pub(super) fn rank(&self) -> (usize, Vec<bool>) {
        let literal = |segment: &Segment| matches!(segment, Segment::Literal(_));
        let literals: Vec<bool> = self.segments.iter().map(literal).collect();
        (literals.iter().filter(|literal| **literal).count(), literals)
    }
}
