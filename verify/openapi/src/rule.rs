//! A schema that can be asked.

use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, ValidationError, Validator};
use serde_json::Value;

use super::sealed::{Unnamed, sealed};

/// A schema of the document, compiled when it is first asked.
#[derive(Debug)]
pub(super) struct Rule {
    /// As the document has it.
    pub(super) schema: Value,
    unnamed: Unnamed,
    compiled: OnceLock<Result<Validator, String>>,
}

/// What a value has that it may not have: where, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) pointer: String,
    pub(super) says: String,
}

impl Rule {
    pub(super) fn new(schema: &Value, unnamed: Unnamed) -> Self {
        Self { schema: schema.clone(), unnamed, compiled: OnceLock::new() }
    }

    /// What is wrong with a value. Of the value itself nothing is repeated but the names of keys.
    pub(super) fn faults(&self, document: &Value, value: &Value) -> Vec<Fault> {
        let compiled = self.compiled.get_or_init(|| {
            let schema = sealed(document, &self.schema, self.unnamed)?;
            let options = jsonschema::options().with_draft(Draft::Draft202012);
            let options = options.should_validate_formats(true).offline();
            let options = options.with_format("snowflake", is_snowflake);
            options.build(&schema).map_err(|error| error.masked().to_string())
        });
        let mut faults = Vec::new();
        match compiled {
            Ok(validator) => {
                for error in validator.iter_errors(value) {
                    unfold(&error, &mut faults);
                }
            }
            Err(says) => {
                let says = format!("the document's schema cannot be used: {says}");
                faults.push(Fault { pointer: String::new(), says });
            }
        }
        faults
    }
}

/// An id of Discord: 64 bits in decimal.
fn is_snowflake(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u64>().is_ok()
}

/// Of several alternatives that do not fit, what the nearest one says.
fn unfold(error: &ValidationError<'_>, faults: &mut Vec<Fault>) {
    let here = error.instance_path().as_str();
    if let ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } =
        error.kind()
    {
        let nearest = context.iter().min_by_key(|branch| strangeness(branch, here));
        if let Some(nearest) = nearest.filter(|branch| strangeness(branch, here).0 == 0) {
            for error in nearest {
                unfold(error, faults);
            }
            return;
        }
    }
    faults.push(Fault { pointer: here.to_owned(), says: error.masked().to_string() });
}

/// How far an alternative is from what is meant: the value itself is of another kind; a key whose values are
/// listed (such as `type`) has another one; how many other errors there are.
fn strangeness(errors: &[ValidationError<'_>], here: &str) -> (usize, usize, usize) {
    let depth = |error: &ValidationError<'_>| {
        let below = error.instance_path().as_str().strip_prefix(here).unwrap_or_default();
        below.matches('/').count()
    };
    let is = |error: &ValidationError<'_>, words: &[&str]| words.contains(&error.kind().keyword());
    let of_other_kind =
        errors.iter().filter(|one| depth(one) == 0 && is(one, &["type", "const", "enum"]));
    let of_other_type = errors.iter().filter(|one| depth(one) == 1 && is(one, &["const", "enum"]));
    (of_other_kind.count(), of_other_type.count(), errors.len())
}
