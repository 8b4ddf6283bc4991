//! Compares two contexts of a session by their reports.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::error::{Code, Error};
use crate::json::fields::{BadValue, Field, Fields};

/// The compared parts of a context, or of its stored report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedContext {
    strategy: String,
    tokens_used: u64,
    token_budget: u64,
    included_message_count: u64,
    /// The action on each message, in the report's order. A newer version may write actions unknown here.
    actions: Vec<(String, String)>,
}

/// The differences of two contexts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextComparison {
    /// The strategies.
    pub strategy: BeforeAfter<String>,
    /// The costs.
    pub tokens_used: BeforeAfter<u64>,
    /// The budgets.
    pub token_budget: BeforeAfter<u64>,
    /// The numbers of messages.
    pub included_message_count: BeforeAfter<u64>,
    /// The messages with different actions.
    pub messages: Vec<MessageChange>,
}

/// A value of both contexts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BeforeAfter<T> {
    /// In the first.
    pub before: T,
    /// In the second.
    pub after: T,
}

/// A message with different actions; `unread` means that a context did not reach it, or that it came later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageChange {
    /// The message's id.
    pub id: String,
    /// The action in the first.
    pub before: String,
    /// The action in the second.
    pub after: String,
}

impl ComparedContext {
    /// Reads a context, or its stored report, from JSON.
    ///
    /// # Errors
    /// `invalid_request` if there is no report, or not one of a context.
    pub fn from_json(json: &str) -> Result<ComparedContext, Error> {
        let without = || {
            comparison_error("expected two contexts, or what is kept of them, but found one without a report")
        };
        let mut context = Fields::parse(json).map_err(|_| without())?;
        let mut bad = Vec::new();
        let report = context.take_raw("report").filter(|report| *report != "null").ok_or_else(without)?;
        let reported = Fields::parse_at("report", report, &mut bad).and_then(|mut report| {
            let messages: Vec<MessageAction> = take_required(&mut report, "messages", &mut bad)?;
            Some(ComparedContext {
                strategy: take_required(&mut context, "strategy", &mut bad)?,
                tokens_used: take_required(&mut context, "tokensUsed", &mut bad)?,
                token_budget: take_required(&mut context, "tokenBudget", &mut bad)?,
                included_message_count: take_required(&mut context, "includedMessageCount", &mut bad)?,
                actions: messages.into_iter().map(|MessageAction(id, action)| (id, action)).collect(),
            })
        });
        match (reported, bad.into_iter().next()) {
            (Some(reported), None) => Ok(reported),
            (_, bad) => Err(comparison_error(bad.map_or_else(String::new, |bad| bad.message))),
        }
    }

    /// Indexes the actions by message; the last one counts. Some messages have no id.
    fn by_message(&self) -> BTreeMap<&str, &str> {
        self.actions.iter().map(|(id, action)| (id.as_str(), action.as_str())).collect()
    }
}

/// Compares two contexts.
pub fn compare_contexts(before: &ComparedContext, after: &ComparedContext) -> ContextComparison {
    let (was, is) = (before.by_message(), after.by_message());
    let mut met = BTreeSet::from([""]);
    let ids = before.actions.iter().chain(&after.actions).map(|(id, _)| id.as_str());
    let change = |id: &str| {
        let of = |actions: &BTreeMap<&str, &str>| String::from(actions.get(id).copied().unwrap_or("unread"));
        MessageChange { id: id.into(), before: of(&was), after: of(&is) }
    };
    ContextComparison {
        strategy: BeforeAfter { before: before.strategy.clone(), after: after.strategy.clone() },
        tokens_used: BeforeAfter { before: before.tokens_used, after: after.tokens_used },
        token_budget: BeforeAfter { before: before.token_budget, after: after.token_budget },
        included_message_count: BeforeAfter {
            before: before.included_message_count,
            after: after.included_message_count,
        },
        messages: ids
            .filter(|id| met.insert(id))
            .map(change)
            .filter(|change| change.before != change.after)
            .collect(),
    }
}

/// A message of a report, and its action.
struct MessageAction(String, String);

impl Field for MessageAction {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<MessageAction> {
        let mut fields = Fields::parse_at(path, raw, bad)?;
        Some(MessageAction(
            fields.take("id", bad).unwrap_or_default(),
            take_required(&mut fields, "action", bad)?,
        ))
    }
}

fn take_required<T: Field>(fields: &mut Fields<'_>, key: &str, bad: &mut Vec<BadValue>) -> Option<T> {
    if fields.raw(key).is_none_or(|value| value == "null") {
        bad.push(BadValue { message: format!("expected \"{key}\" of a context, but found none") });
    }
    fields.take(key, bad)
}

fn comparison_error(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::text::to_json;

    fn context(actions: &[(&str, &str)]) -> String {
        let messages: Vec<String> = actions
            .iter()
            .map(|(id, action)| {
                format!("{{\"id\":\"{id}\",\"action\":\"{action}\",\"rule\":\"fits\",\"tokens\":4}}")
            })
            .collect();
        format!(
            "{{\"strategy\":\"full-history\",\"tokensUsed\":{used},\"tokenBudget\":90,\"includedMessageCount\":{used},\
             \"report\":{{\"messages\":[{messages}]}}}}",
            used = actions.len(),
            messages = messages.join(",")
        )
    }

    fn changes(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<(String, String, String)> {
        let read = |actions| ComparedContext::from_json(&context(actions)).expect("a context");
        let ContextComparison { messages, .. } = compare_contexts(&read(before), &read(after));
        messages.into_iter().map(|MessageChange { id, before, after }| (id, before, after)).collect()
    }

    fn change(id: &str, before: &str, after: &str) -> (String, String, String) {
        (id.into(), before.into(), after.into())
    }

    #[test]
    fn what_became_the_same_is_no_difference() {
        let one = [("a", "kept"), ("b", "dropped"), ("", "dropped")];
        assert_eq!(changes(&one, &one), []);
        assert_eq!(changes(&[], &[("", "dropped")]), [], "what has no name is told of nobody");
    }

    #[test]
    fn what_one_did_not_reach_is_unread_there_and_those_of_the_first_come_first() {
        let before = [("b", "kept"), ("c", "summarized")];
        let after = [("a", "dropped"), ("b", "shortened")];
        let all = [
            change("b", "kept", "shortened"),
            change("c", "summarized", "unread"),
            change("a", "unread", "dropped"),
        ];
        assert_eq!(changes(&before, &after), all);
    }

    #[test]
    fn a_message_that_is_named_twice_became_what_is_said_last() {
        assert_eq!(
            changes(&[("a", "kept"), ("a", "dropped")], &[("a", "kept")]),
            [change("a", "dropped", "kept")]
        );
    }

    #[test]
    fn both_have_their_numbers_beside_each_other() {
        let read = |actions| ComparedContext::from_json(&context(actions)).expect("a context");
        let json = to_json(&compare_contexts(&read(&[]), &read(&[("", "kept")])));
        assert!(json.contains(r#""tokensUsed":{"before":0,"after":1}"#), "{json}");
        assert!(json.contains(r#""includedMessageCount":{"before":0,"after":1}"#), "{json}");
    }

    #[test]
    fn what_is_no_context_is_refused() {
        let whole = context(&[("a", "kept")]);
        for bad in [
            "{}".into(),
            "7".into(),
            whole.replace("report", "retort"),
            whole.replace("{\"messages", "null,\"x\":{\"messages"),
            whole.replace("tokensUsed\":1", "tokensUsed\":\"1\""),
            whole.replace("\"strategy\":\"full-history\"", "\"strategy\":null"),
            whole.replace("\"action\":\"kept\",", ""),
            whole.replace("\"messages\":[", "\"messages\":[3,"),
        ] {
            let refusal = ComparedContext::from_json(&bad).expect_err(&bad);
            assert_eq!(refusal.code, Code::InvalidRequest);
            assert!(refusal.message.starts_with("expected "), "{}", refusal.message);
        }
    }
}
