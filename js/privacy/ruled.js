// @ts-check
/** Secrets by gitleaks' rules and leftoff's own: a word that has to be there, a pattern, and how little what it finds repeats itself. */

import { EXCEPT, RULES } from "./gitleaks.js";
import { OWN_RULES } from "./own-rules.js";
import { wordFinder } from "./words.js";

/** @import { Except, Pattern } from "./gitleaks.js" */
/** @import { Found } from "./secrets.js" */

// Of what is called a key a name is none: it has no digit.
const GENERIC = "generic-api-key";

/** @typedef {{ patterns: RegExp[], words: string[], of: string }} Exception */

/** @returns {(text: string) => Found[]} in the order of the rules */
export function byRules() {
  const rules = [...RULES, ...OWN_RULES].map(({ pattern, except, ...rule }) => ({ ...rule, pattern: compiled(pattern, "gd"), except: [...except, EXCEPT].map(exceptionOf) }));
  const words = [...new Set(rules.flatMap((rule) => rule.words))];
  const finder = wordFinder(words);
  const bare = rules.filter((rule) => rule.words.length === 0);
  const byWord = words.map((word) => rules.filter((rule) => rule.words.includes(word)));
  return (text) => {
    const due = new Set(bare);
    for (const place of finder(text)) for (const rule of byWord[place] ?? []) due.add(rule);
    /** @type {Found[]} */
    const found = [];
    for (const { id, pattern, group, entropy, except } of due) {
      for (const match of text.matchAll(pattern)) {
        const [start = 0, end = 0] = placeOf(match, group);
        const secret = text.slice(start, end);
        const isRandom = entropyOf(secret) > entropy && (id !== GENERIC || /\d/.test(secret));
        if (isRandom && !except.some((one) => isExcepted(one, { secret, match: match[0], line: () => lineOf(text, match) }))) found.push({ start, end, rule: id });
      }
    }
    return found;
  };
}

/** The group that the rule names, else the first that has something, else all of it. @param {RegExpMatchArray} match @param {number} [group] */
function placeOf({ indices = /** @type {any} */ ([]) }, group) {
  const places = /** @type {([number, number] | undefined)[]} */ ([...indices]);
  const named = group ? places[group] : places.slice(1).find((place) => place && place[1] > place[0]);
  return named ?? places[0] ?? [];
}

/** @param {Exception} except @param {{ secret: string, match: string, line: () => string }} of */
function isExcepted({ patterns, words, of }, { secret, match, line }) {
  const target = of === "match" ? match : of === "line" ? line() : secret;
  const small = secret.toLowerCase();
  return patterns.some((pattern) => pattern.test(target)) || words.some((word) => small.includes(word));
}

/** @param {string} text @param {RegExpMatchArray} match */
function lineOf(text, { index = 0, 0: whole }) {
  const end = text.indexOf("\n", index + whole.length);
  return text.slice(text.lastIndexOf("\n", index) + 1, end < 0 ? undefined : end);
}

/** Shannon's, in bits a letter. @param {string} text */
export function entropyOf(text) {
  const counts = new Map();
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** @param {Except} except @returns {Exception} */
function exceptionOf({ patterns, words, of = "secret" }) {
  return { patterns: patterns.map((pattern) => compiled(pattern)), words, of };
}

/** @param {Pattern} pattern @param {string} [more] */
function compiled({ source, flags }, more = "") {
  return new RegExp(source, flags + more);
}
