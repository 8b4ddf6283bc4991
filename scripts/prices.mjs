#!/usr/bin/env node
// @ts-check
// Writes src/tokens/prices.tsv from LiteLLM's list of prices (MIT License), which its Python package carries:
//
//     pip download --no-deps litellm && unzip litellm-*.whl litellm/model_prices_and_context_window_backup.json
//     node scripts/prices.mjs litellm/model_prices_and_context_window_backup.json > src/tokens/prices.tsv
//
// and set the day in src/tokens/prices.rs. A line has a name, its points written as
// hyphens, and in US dollars for a million tokens: input, output,
// cache read, cache write for five minutes and for an hour; then, where long requests cost more, from how many tokens
// on, and the same five. What the list does not say is empty.

import { readFileSync } from "node:fs";
import process from "node:process";
import { fail } from "./run.mjs";

/** Who sells the models: of two that have one name, the first one counts. Who
 * makes a model comes first; of the last two, who still sell older ones at the same prices, only these are taken. */
const PROVIDERS = [
  "anthropic",
  "openai",
  "gemini",
  "xai",
  "deepseek",
  "zai",
  "moonshot",
  "minimax",
  "mistral",
  "dashscope",
  "bedrock_converse",
  "bedrock",
];
const MODES = ["chat", "responses"];
const FIELDS = [
  "input_cost_per_token",
  "output_cost_per_token",
  "cache_read_input_token_cost",
  "cache_creation_input_token_cost",
  "cache_creation_input_token_cost_above_1hr",
];
/** What follows a model's name in the name of one of its versions; `find_prices` knows the same. */
const VERSION = /[-@:](v\d|v?(latest|default|\d{8}|\d{4}(-\d\d-\d\d)?|\d{1,2}:\d|\d\d-\d{4}))$/;
/** Those of them that a coding agent's conversation is not held with. */
const OTHER_MODELS =
  /^(ft:|chat-|claude-(v\d|instant)|computer-use|deep-research|gemma|learnlm|.*(audio|robotics|live|realtime|tts|image|search|embed|omni|beta|gemma))/;

const [path] = process.argv.slice(2);
if (!path) fail("Usage: node scripts/prices.mjs model_prices_and_context_window_backup.json");

/** @type {Map<string, string>} */
const rows = new Map();
const listed = Object.entries(JSON.parse(readFileSync(path, "utf8")));
for (const provider of PROVIDERS)
  for (const [name, model] of listed)
    if (model.litellm_provider === provider && MODES.includes(model.mode) && model.input_cost_per_token > 0)
      addRow(nameAt(provider, name), model);
for (const name of rows.keys())
  if (rows.get(withoutVersion(name)) === rows.get(name) && VERSION.test(name)) rows.delete(name);
process.stdout.write(
  [...rows]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, prices]) => `${name}\t${prices}\n`)
    .join(""),
);

/** A model's name at who makes it; nothing for what is not taken. @param {string} provider @param {string} name */
function nameAt(provider, name) {
  if (provider.startsWith("bedrock")) {
    const [, given] = /^anthropic\.(claude-.*)$/.exec(name) ?? [];
    return given && withoutVersion(given);
  }
  return name.split("/").at(-1);
}

/** @param {string | undefined} name @param {Record<string, any>} model */
function addRow(name, model) {
  if (name === undefined || OTHER_MODELS.test(name)) return;
  const plain = name.toLowerCase().replaceAll(".", "-");
  const shortest = rows.has(withoutVersion(plain)) ? plain : withoutVersion(plain);
  if (rows.has(shortest)) return;
  const [, thousands] =
    Object.keys(model)
      .map((key) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(key))
      .find(Boolean) ?? [];
  const above = thousands
    ? [`${thousands}000`, ...FIELDS.map((field) => perMillion(model[`${field}_above_${thousands}k_tokens`]))]
    : [];
  rows.set(shortest, [...FIELDS.map((field) => perMillion(model[field])), ...above].join("\t").replace(/\t+$/, ""));
}

/** @param {string} name @returns {string} */
function withoutVersion(name) {
  const shorter = name.replace(VERSION, "");
  return shorter === name ? name : withoutVersion(shorter);
}

/** @param {unknown} dollars for one token */
function perMillion(dollars) {
  return typeof dollars === "number" && dollars > 0 ? String(Number((dollars * 1e6).toPrecision(6))) : "";
}
