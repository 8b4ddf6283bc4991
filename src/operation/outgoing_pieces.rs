//! Redacts values that leave a store one by one.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::outgoing::OutgoingRedactor;
use super::{Io, Trouble};
use crate::json::fields::parse_items;
use crate::privacy::Secret;

/// Values that are reported as one.
pub(super) struct OutgoingPieces<'a> {
    redactor: &'a OutgoingRedactor,
    io: &'a Io,
    secrets: Vec<Secret>,
}

impl<'a> OutgoingPieces<'a> {
    pub fn new(redactor: &'a OutgoingRedactor, io: &'a Io) -> OutgoingPieces<'a> {
        OutgoingPieces { redactor, io, secrets: Vec::new() }
    }

    /// Redacts a value, JSON.
    pub async fn redact_one(&mut self, json: String) -> Result<String, Trouble> {
        let left = self.redactor.redact_json(self.io, &json).await?;
        for secret in left.secrets {
            match self.secrets.iter_mut().find(|one| one.placeholder == secret.placeholder) {
                Some(one) => one.count += secret.count,
                None => self.secrets.push(secret),
            }
        }
        self.redactor.gate.report_secrets(&self.secrets);
        Ok(left.value.unwrap_or(json))
    }

    /// Redacts several values, each JSON, together.
    pub async fn redact_all(&mut self, values: Vec<String>) -> Result<Vec<String>, Trouble> {
        if !self.redactor.is_on() || values.is_empty() {
            return Ok(values);
        }
        // A value nested as deep as allowed is too deep inside another.
        let whole = format!("[{}]", values.join(","));
        if parse_items(&whole).is_some() {
            let left = self.redact_one(whole).await?;
            return Ok(parse_items(&left).unwrap_or_default().into_iter().map(String::from).collect());
        }
        let mut left = Vec::new();
        for value in values {
            left.push(self.redact_one(value).await?);
        }
        Ok(left)
    }
}
