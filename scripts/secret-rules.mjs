// @ts-check
// Turns gitleaks' rules for secrets, which are data, into the core's form.
// `node scripts/secret-rules.mjs` writes src/privacy/secrets/gitleaks.rs anew.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";

const folder = join(import.meta.dirname, "secret-rules");
export const target = join(import.meta.dirname, "..", "src", "privacy", "secrets", "gitleaks.rs");

/** The pattern before a service's word: it may match nothing, so it decides nothing, and costs most of the time. */
const PREFIX_PATTERN = "[\\w.-]{0,50}?";
/**
 * The pattern that has to follow a secret in source code. In a conversation anything may that does not continue the
 * secret.
 */
const SUFFIX_PATTERN = "(?:[\\x60'\"\\s;]|\\\\[nr]|$)";
const WORD_END_PATTERN = "(?:[^\\w-]|$)";
// Anything between the parts of a command, limited to a command's length: else a page of "curl" takes minutes.
const ANY_TEXT = /(?<!\\)\.\*/g;
const BOUNDED_TEXT = ".{0,300}";
// The core counts bytes, of which a letter has up to three in most scripts.
const BOUNDED_LETTERS = /((?:\(\?s:\.\)|(?<!\\)\.)\{0,)(\d+)\}/g;
// Named groups become unnamed: a named part is no secret by itself.
const NAMED_GROUP = /\(\?P?<\w+>/g;
// Before the first sign that an expression finds.
const PATTERN_START = /^(?:\(\?i\)|\\b|\(\?:|\()+/;
const SIGN_CLASSES = /\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]])*\]/g;
// RE2 takes a brace that repeats nothing for one.
const BRACE = /(?<!\\)\{(?!\d+(?:,\d*)?\})/g;
// leftoff's own rules find more of them: keys.rs and named.rs in src/privacy/secrets. gitleaks asks the second in
// Terraform's files alone; in a conversation it takes each `Kind::Password => "password"` of a program's source for
// one.
const OWN_RULES = new Set(["private-key", "hashicorp-tf-password"]);

/** @returns {string} the module as it should be */
export function renderModule() {
  const { rules, allowlist } = /** @type {any} */ (parse(readFileSync(join(folder, "gitleaks.toml"), "utf8")));
  const all = rules.filter((/** @type {any} */ { id, regex }) => regex && !OWN_RULES.has(id)).map(ruleOf);
  const license = readFileSync(join(folder, "LICENSE"), "utf8")
    .trim()
    .split("\n")
    .map((line) => `//! ${line}`.trimEnd())
    .join("\n");
  const head = `//! Written by scripts/secret-rules.mjs from gitleaks' rules, which came with this license.\n//!\n${license}\n\nuse super::rules::{Except, ExceptionTarget, Rule};\n`;
  const except = `/// What is a secret of no rule.\npub(super) const EXCEPTIONS: Except = ${exceptOf(allowlist)};\n`;
  return `${head}\npub(super) const RULES: &[Rule] = &[\n${all.join("")}];\n\n${except}`;
}

/** @param {any} rule */
function ruleOf({ id, regex, entropy = 0, keywords = [], secretGroup, allowlists = [] }) {
  const pattern = expression(
    regex
      .replaceAll(PREFIX_PATTERN, "")
      .replaceAll(SUFFIX_PATTERN, WORD_END_PATTERN)
      .replaceAll(ANY_TEXT, BOUNDED_TEXT)
      .replaceAll(NAMED_GROUP, "(?:"),
  );
  const except = allowlists.filter(isOfTexts).map(exceptOf).join(", ");
  const group = secretGroup === undefined ? "None" : `Some(${secretGroup})`;
  const words = keywords.map(lower);
  return `    Rule { id: ${text(id)}, pattern: ${text(pattern)}, entropy: ${Number.isInteger(entropy) ? entropy.toFixed(1) : entropy}, words: ${texts(words)}, is_near: ${isNear(pattern, words)}, group: ${group}, and: &[], except: &[${except}] },\n`;
}

// Whether every match begins with one of the words: some rules have words that stand elsewhere in a file, or not in
// each alternative.
/** @param {string} pattern @param {string[]} words */
function isNear(pattern, words) {
  const [start = ""] = PATTERN_START.exec(pattern) ?? [];
  const rest = pattern.slice(start.length);
  if (!words.some((word) => rest.toLowerCase().startsWith(word))) return false;
  let around = (start.match(/\((?!\?i\))/g) ?? []).length;
  let depth = around;
  for (const sign of rest.replace(SIGN_CLASSES, "")) {
    if (sign === "|" && depth === around) return false;
    if (sign === "(") depth += 1;
    if (sign === ")") depth -= 1;
    around = Math.min(around, depth);
  }
  return true;
}

// Whether an allowlist is about texts: one that is limited to some files does not apply to a conversation.
/** @param {any} allowlist */
function isOfTexts({ regexes = [], stopwords = [], condition, paths }) {
  return !(condition === "AND" && paths) && regexes.length + stopwords.length > 0;
}

/** @param {any} allowlist */
function exceptOf({ regexes = [], stopwords = [], regexTarget = "secret" }) {
  return `Except { patterns: ${texts(regexes.map(expression))}, words: ${texts(stopwords.map(lower))}, of: ExceptionTarget::${regexTarget.replace(/^./, (/** @type {string} */ letter) => letter.toUpperCase())} }`;
}

/** Turns an expression of RE2 into one of Rust's. @param {string} re2 */
function expression(re2) {
  return re2.replaceAll(BRACE, "\\{").replaceAll(BOUNDED_LETTERS, (_, some, most) => `${some}${3 * most}}`);
}

/** @param {string} word */
function lower(word) {
  return word.toLowerCase();
}

/** A literal of Rust, which for ASCII equals one of JSON. @param {string} value */
function text(value) {
  if (!/^[ -~]*$/.test(value)) throw new Error(`expected ASCII, but found ${value}`);
  return JSON.stringify(value);
}

/** @param {string[]} values */
function texts(values) {
  return `&[${values.map(text).join(", ")}]`;
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) writeFileSync(target, renderModule());
