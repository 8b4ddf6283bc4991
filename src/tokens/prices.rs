//! Looks up what a model's tokens cost. The table `prices.tsv` is LiteLLM's list of prices as of [`LISTED_ON`], version
//! 1.110.2, MIT License; `scripts/prices.mjs` makes it and says what its columns are.

use alloc::borrow::ToOwned;
#[cfg(feature = "interop")]
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::error::Error;
use crate::json::fields::{BadValue, Field, Fields, FromFields, reject};
use crate::json::request;
use crate::record::message::Usage;

/// The day of the list.
pub const LISTED_ON: &str = "2026-11-29";

const PRICE_TABLE: &str = include_str!("prices.tsv");
const DECIMALS: usize = 6;

/// An amount in US dollars, to a millionth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dollars(u64);

/// Prices in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rates {
    /// Of what is sent.
    pub input: Dollars,
    /// Of what is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Dollars>,
    /// Of what the provider reads from its cache; as other input, if the provider has no other price for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Dollars>,
    /// Of what the provider puts into its cache for five minutes; as other input, if it has no other price for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<Dollars>,
    /// Of what it puts there for an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_hour: Option<Dollars>,
}

/// A model's prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    /// Those of a usual request.
    pub rates: Rates,
    /// Those of a longer one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long: Option<LongRates>,
    /// The day of the list; `None` if the caller gives the prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed_on: Option<&'static str>,
}

/// The prices of requests with more input than so much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LongRates {
    /// With more tokens of input than these, all tokens of the request have these prices.
    pub above: u32,
    /// The prices.
    pub rates: Rates,
}

impl Dollars {
    // Reads a decimal number.
    fn parse(number: &str) -> Option<Dollars> {
        let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
        if whole.is_empty()
            || decimals.len() > DECIMALS
            || !whole.bytes().chain(decimals.bytes()).all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        format!("{whole}{decimals:0<DECIMALS$}").parse().ok().map(Dollars)
    }

    // What so many tokens cost at this price for a million.
    fn times(self, tokens: u64) -> u64 {
        self.0.saturating_mul(tokens)
    }

    /// Makes an amount of a sum of [`Prices::cost_of_usage`].
    pub fn from_units(units: u128) -> Dollars {
        Dollars(u64::try_from(units.saturating_add(500_000) / 1_000_000).unwrap_or(u64::MAX))
    }
}

impl Serialize for Dollars {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let unit = 10_u64.pow(DECIMALS as u32);
        let number = format!("{}.{:0DECIMALS$}", self.0 / unit, self.0 % unit);
        let shortest = number.trim_end_matches('0').trim_end_matches('.');
        RawValue::from_string(shortest.to_owned()).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl Field for Dollars {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<Dollars> {
        Dollars::parse(raw).or_else(|| reject(raw, path, "US dollars with at most six decimals", bad))
    }
}

impl Prices {
    /// Computes what a call's input costs, where so many tokens of it are in the provider's cache and the others go
    /// into it.
    pub fn cost_of_input(&self, cached: u64, fresh: u64) -> Dollars {
        let rates = self.rates_of(cached + fresh);
        let read = rates.cache_read.unwrap_or(rates.input).times(cached);
        let written = rates.cache_write.unwrap_or(rates.input).times(fresh);
        Dollars(read.saturating_add(written) / 1_000_000)
    }

    /// Computes what a call's input costs without a cache.
    pub fn cost_uncached(&self, tokens: u64) -> Dollars {
        Dollars(self.rates_of(tokens).input.times(tokens) / 1_000_000)
    }

    /// Computes what a call cost by the provider's own counts, in millionths of a millionth of a dollar, so that many
    /// small ones sum exactly; `None` where the model has no price for what it answered. Cache writes count as those for
    /// five minutes, but for those that are known to stay for an hour.
    pub fn cost_of_usage(&self, usage: &Usage) -> Option<u128> {
        let [input, output, read, written] =
            [usage.input, usage.output, usage.cache_read, usage.cache_write].map(Option::unwrap_or_default);
        let rates = self.rates_of(input.saturating_add(read).saturating_add(written));
        let hour = usage.cache_write_hour.unwrap_or_default().min(written);
        let write_rate = rates.cache_write.unwrap_or(rates.input);
        let answered = if output == 0 { Dollars(0) } else { rates.output? };
        let priced = [
            (rates.input, input),
            (answered, output),
            (rates.cache_read.unwrap_or(rates.input), read),
            (write_rate, written - hour),
            (rates.cache_write_hour.unwrap_or(write_rate), hour),
        ];
        Some(priced.into_iter().map(|(price, tokens)| u128::from(price.0) * u128::from(tokens)).sum())
    }

    fn rates_of(&self, input_tokens: u64) -> Rates {
        self.long.filter(|long| input_tokens > u64::from(long.above)).map_or(self.rates, |long| long.rates)
    }
}

// The prices that a caller gives.
impl FromFields for Prices {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Prices> {
        request::reject_unknown(&fields, "input, cacheRead or cacheWrite", bad);
        let Some(given) = fields.take_raw("input") else {
            bad.push(BadValue { message: "expected a price for \"prices.input\", but found none".into() });
            return None;
        };
        let input = Dollars::read(given, &fields.path_to("input"), bad);
        let (cache_read, cache_write) = (fields.take("cacheRead", bad), fields.take("cacheWrite", bad));
        let rates = Rates { input: input?, output: None, cache_read, cache_write, cache_write_hour: None };
        Some(Prices { rates, long: None, listed_on: None })
    }
}

/// Returns the prices of a model by its name, with or without its provider, its version or its date:
/// `openai/gpt-5-2025-08-07`, `claude-sonnet-4.5`. A model that is not listed has none: nothing is guessed by a similar
/// name.
pub fn find_prices(name: &str) -> Option<Prices> {
    let name: String = name.rsplit('/').next()?.chars().map(plain).collect();
    let name = name.strip_suffix("[1m]").unwrap_or(&name);
    let (_, row) = rows().filter(|(listed, _)| is_of(name, listed)).max_by_key(|(listed, _)| listed.len())?;
    read_row(row)
}

/// Prices that are looked up once for each model, as many calls are of few models.
#[cfg(feature = "interop")]
#[derive(Debug, Default)]
pub(crate) struct PriceLookup(BTreeMap<String, Option<Prices>>);

#[cfg(feature = "interop")]
impl PriceLookup {
    /// As [`Prices::cost_of_usage`]; `None` for a model that is not known or has no prices.
    pub fn cost_of_call(&mut self, model: Option<&str>, usage: &Usage) -> Option<u128> {
        let name = model.unwrap_or_default();
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), find_prices(name));
        }
        self.0.get(name).copied().flatten()?.cost_of_usage(usage)
    }

    /// The models that were looked up, and have no prices.
    pub fn unlisted_models(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, prices)| prices.is_none()).map(|(name, _)| &**name)
    }
}

/// Computes what a call of a model cost by its provider's counts, `{"input","output","cacheRead","cacheWrite",
/// "cacheWriteHour"}`, JSON; `None` for a model without prices.
///
/// # Errors
/// `invalid_request` for what is no object of counts.
pub fn cost_of(name: &str, usage: &str) -> Result<Option<Dollars>, Error> {
    let mut bad = Vec::new();
    let usage = Usage::from_fields(request::parse_object(usage)?, &mut bad).unwrap_or_default();
    request::reject_bad(&mut bad)?;
    let units = find_prices(name).and_then(|prices| prices.cost_of_usage(&usage));
    Ok(units.map(Dollars::from_units))
}

// A point in a number, as `4.5`, is written as a hyphen by some.
fn plain(letter: char) -> char {
    if letter == '.' { '-' } else { letter.to_ascii_lowercase() }
}

// Nothing, or a date or version, follows the listed name.
fn is_of(name: &str, listed: &str) -> bool {
    let Some(rest) = name.strip_prefix(listed) else { return false };
    let Some(version) = rest.strip_prefix(['-', '@', ':']) else { return rest.is_empty() };
    let digits = version.bytes().filter(u8::is_ascii_digit).count();
    version == "latest"
        || (digits >= 4 && version.bytes().all(|byte| byte.is_ascii_digit() || b"-:v".contains(&byte)))
}

fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    PRICE_TABLE.lines().filter_map(|line| line.split_once('\t'))
}

fn read_row(row: &str) -> Option<Prices> {
    let mut columns = row.split('\t');
    let rates = read_rates(&mut columns)?;
    let above = columns.next().and_then(|above| above.parse().ok());
    let long = above.and_then(|above| Some(LongRates { above, rates: read_rates(&mut columns)? }));
    Some(Prices { rates, long, listed_on: Some(LISTED_ON) })
}

fn read_rates<'a>(columns: &mut impl Iterator<Item = &'a str>) -> Option<Rates> {
    let mut next = || columns.next().and_then(Dollars::parse);
    let (input, output) = (next(), next());
    let (cache_read, cache_write, cache_write_hour) = (next(), next(), next());
    Some(Rates { input: input?, output, cache_read, cache_write, cache_write_hour })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::text::to_json;

    fn dollars(number: &str) -> Dollars {
        Dollars::parse(number).unwrap_or_else(|| panic!("{number} is no price"))
    }

    #[test]
    fn each_line_of_the_table_has_prices() {
        assert_eq!(rows().count(), PRICE_TABLE.lines().count());
        for (name, row) in rows() {
            let columns: Vec<&str> = row.split('\t').collect();
            assert!(columns.len() <= 11, "{name}");
            assert!(columns.iter().all(|one| one.is_empty() || Dollars::parse(one).is_some()), "{name}");
            let prices = find_prices(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(Some(prices), read_row(row), "{name}");
            assert_eq!(prices.long.is_some(), columns.len() > 5, "{name}");
            let dated = format!("some/{}-20261129", name.to_uppercase());
            assert_eq!(find_prices(&dated), Some(prices), "{name}");
        }
    }

    #[test]
    fn a_version_of_a_listed_model_is_one_and_a_similar_name_is_none() {
        let input = |name| find_prices(name).map(|prices| to_json(&prices.rates.input));
        let given = [
            "claude-sonnet-4-5-20250929",
            "anthropic/claude-opus-4.5",
            "claude-opus-4-1-20250805",
            "claude-sonnet-4-6[1m]",
            "openai/gpt-5-2025-08-07",
            "gpt-5-mini",
        ];
        // As Anthropic and OpenAI publish them.
        let published = ["3", "5", "15", "3", "1.25", "0.25"];
        assert_eq!(given.map(input), published.map(|price| Some(price.into())));
        let unlisted =
            ["", "/", "claude-opus-9", "claude-opus-5-7", "gpt-5-unheard-of", "gpt-55", "fake-model", "über"];
        assert_eq!(unlisted.map(input), [const { None }; 8]);
    }

    #[test]
    fn a_call_costs_by_what_is_cached_and_how_long_it_is() {
        let of = |name| find_prices(name).unwrap_or_else(|| panic!("{name} is not listed"));
        let sonnet = of("claude-sonnet-4-5");
        assert_eq!(sonnet.cost_uncached(1_000_000), dollars("3"));
        assert_eq!(sonnet.cost_of_input(900_000, 100_000), dollars("0.645"));
        // OpenAI bills no cache writes before GPT-5.6.
        assert_eq!(of("gpt-5").cost_of_input(0, 1_000_000), dollars("1.25"));
        assert_eq!(of("gpt-5.5").cost_uncached(272_000), dollars("1.36"));
        assert_eq!(of("gpt-5.5").cost_uncached(272_001), dollars("2.72001"));
    }

    #[test]
    fn dollars_are_written_as_they_are_read() {
        for number in ["0", "3", "0.5", "0.000001", "12.345678", "100"] {
            assert_eq!(to_json(&dollars(number)), number);
        }
        assert_eq!(
            ["", ".", "-1", "1e-7", "0.0000001", "1.2.3", "99999999999999999999"].map(Dollars::parse),
            [None; 7]
        );
    }
}
