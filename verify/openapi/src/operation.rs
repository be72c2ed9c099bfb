//! What the document says of one method on one path.

use std::collections::BTreeMap;

use serde_json::Value;

use super::rule::Rule;
use super::sealed::Unnamed;
use super::template::Template;

/// An operation.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) method: String,
    pub(super) template: Template,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
    pub(super) token: Token,
    pub(super) answers: BTreeMap<String, Option<Rule>>,
}

/// Something that stands in the path, the query or a header.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) place: String,
    pub(super) is_required: bool,
    pub(super) rule: Rule,
}

/// What an operation takes.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) is_required: bool,
    /// By media type.
    pub(super) content: BTreeMap<String, Rule>,
}

/// Whether an operation wants a bot's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Wanted,
    Allowed,
    /// It is for others than bots.
    Refused,
}

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

impl Operation {
    /// Reads all operations of a path; `shared` are the parameters of all of them.
    pub(super) fn read_all(
        document: &Value,
        path: &str,
        item: &Value,
    ) -> Result<Vec<Self>, String> {
        let mut operations = Vec::new();
        for method in METHODS {
            if let Some(operation) = item.get(method) {
                operations.push(Self::read(document, path, method, item, operation)?);
            }
        }
        Ok(operations)
    }

    fn read(
        document: &Value,
        path: &str,
        method: &str,
        item: &Value,
        operation: &Value,
    ) -> Result<Self, String> {
        let mut parameters: Vec<Parameter> = Vec::new();
        let lists = [operation, item].into_iter().filter_map(|of| of.get("parameters"));
        for parameter in lists.filter_map(Value::as_array).flatten() {
            let parameter = Parameter::read(resolved(document, parameter)?)?;
            let is_known = |known: &Parameter| {
                (&known.name, &known.place) == (&parameter.name, &parameter.place)
            };
            // An operation's own parameter goes before its path's.
            if !parameters.iter().any(is_known) {
                parameters.push(parameter);
            }
        }
        let body = operation.get("requestBody");
        let body = body.map(|body| Body::read(resolved(document, body)?)).transpose()?;
        let mut answers = BTreeMap::new();
        for (status, answer) in
            operation.get("responses").and_then(Value::as_object).into_iter().flatten()
        {
            let schema = resolved(document, answer)?.pointer("/content/application~1json/schema");
            let rule = schema.map(|schema| Rule::new(schema, Unnamed::Allowed));
            answers.insert(status.to_uppercase(), rule);
        }
        Ok(Self {
            method: method.to_uppercase(),
            template: Template::read(path),
            parameters,
            body,
            token: Token::read(document, operation),
            answers,
        })
    }

    pub(super) fn name(&self) -> String {
        format!("{} {}", self.method, self.template.text)
    }

    pub(super) fn parameters_in<'a>(
        &'a self,
        place: &'a str,
    ) -> impl Iterator<Item = &'a Parameter> {
        self.parameters.iter().filter(move |parameter| parameter.place == place)
    }

    /// What may be answered with a status: a JSON value, nothing (`Some(None)`), or it may not be.
    pub(super) fn answer(&self, status: u16) -> Option<&Option<Rule>> {
        let names = [status.to_string(), format!("{}XX", status / 100), "DEFAULT".to_owned()];
        names.iter().find_map(|name| self.answers.get(name))
    }
}

impl Parameter {
    fn read(parameter: &Value) -> Result<Self, String> {
        let text = |key: &str| parameter.get(key).and_then(Value::as_str).map(str::to_owned);
        let name = text("name").ok_or("a parameter has no name")?;
        let place = text("in").ok_or("a parameter has no place")?;
        let schema = parameter.get("schema").ok_or_else(|| format!("{name} has no schema"))?;
        let is_required = flag(parameter, "required");
        Ok(Self { name, place, is_required, rule: Rule::new(schema, Unnamed::Refused) })
    }
}

impl Body {
    fn read(body: &Value) -> Result<Self, String> {
        let content = body.get("content").and_then(Value::as_object);
        let content = content.ok_or("a body has no content")?;
        let rule = |(name, media): (&String, &Value)| {
            let schema = media.get("schema").unwrap_or(&Value::Bool(true));
            (name.to_lowercase(), Rule::new(schema, Unnamed::Refused))
        };
        let is_required = flag(body, "required");
        Ok(Self { is_required, content: content.iter().map(rule).collect() })
    }
}

impl Token {
    fn read(document: &Value, operation: &Value) -> Self {
        let security = operation.get("security").or_else(|| document.get("security"));
        let Some(ways) = security.and_then(Value::as_array).filter(|ways| !ways.is_empty()) else {
            return Self::Allowed;
        };
        let is_token = |scheme: &String| {
            let schemes = document.pointer("/components/securitySchemes");
            let scheme = schemes.and_then(|schemes| schemes.get(scheme));
            let says = |key: &str| scheme.and_then(|s| s.get(key)).and_then(Value::as_str);
            let name = says("name").unwrap_or_default();
            says("type") == Some("apiKey")
                && says("in") == Some("header")
                && name.eq_ignore_ascii_case("authorization")
        };
        let ways: Vec<_> = ways.iter().filter_map(Value::as_object).collect();
        if ways.iter().any(|way| way.is_empty()) {
            Self::Allowed
        } else if ways.iter().any(|way| way.keys().all(is_token)) {
            Self::Wanted
        } else {
            Self::Refused
        }
    }
}

/// What a value refers to, or the value itself.
pub(super) fn resolved<'a>(document: &'a Value, value: &'a Value) -> Result<&'a Value, String> {
    let mut value = value;
    // A document whose references lead in a circle leads nowhere.
    for _ in 0..16 {
        let Some(target) = value.get("$ref").and_then(Value::as_str) else {
            return Ok(value);
        };
        let pointer = target.strip_prefix('#').unwrap_or(target);
        let found = document.pointer(pointer);
        value = found.ok_or_else(|| format!("nothing is at {target}"))?;
    }
    Err("references lead in a circle".to_owned())
}

fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}
