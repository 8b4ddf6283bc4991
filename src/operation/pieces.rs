//! What leaves a store piece by piece.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::leaving::Leaving;
use super::{Io, Trouble};
use crate::json::fields::items;
use crate::privacy::Secret;

/// It is told as one.
pub(super) struct Pieces<'a> {
    leaving: &'a Leaving,
    io: &'a Io,
    secrets: Vec<Secret>,
}

impl<'a> Pieces<'a> {
    pub fn new(leaving: &'a Leaving, io: &'a Io) -> Pieces<'a> {
        Pieces { leaving, io, secrets: Vec::new() }
    }

    /// A value as it may leave, JSON.
    pub async fn out(&mut self, json: String) -> Result<String, Trouble> {
        let left = self.leaving.left(self.io, &json).await?;
        for secret in left.secrets {
            match self.secrets.iter_mut().find(|one| one.placeholder == secret.placeholder) {
                Some(one) => one.count += secret.count,
                None => self.secrets.push(secret),
            }
        }
        self.leaving.door.tell(&self.secrets);
        Ok(left.value.unwrap_or(json))
    }

    /// Some values as they may leave, each JSON, looked at together.
    pub async fn all(&mut self, values: Vec<String>) -> Result<Vec<String>, Trouble> {
        if !self.leaving.is_on() || values.is_empty() {
            return Ok(values);
        }
        // One that is nested as deep as may be is too deep within another.
        let whole = format!("[{}]", values.join(","));
        if items(&whole).is_some() {
            let left = self.out(whole).await?;
            return Ok(items(&left).unwrap_or_default().into_iter().map(String::from).collect());
        }
        let mut left = Vec::new();
        for value in values {
            left.push(self.out(value).await?);
        }
        Ok(left)
    }
}
