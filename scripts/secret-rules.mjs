// @ts-check
// What secrets look like: gitleaks' rules, which are data, as regular expressions of JavaScript.
// `node scripts/secret-rules.mjs` writes js/privacy/gitleaks.js anew.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";

const folder = join(import.meta.dirname, "secret-rules");
const target = join(import.meta.dirname, "..", "js", "privacy", "gitleaks.js");

/** @typedef {{ source: string, flags: string }} Pattern */

/** What stands before the word that a service is known by; it may be nothing, so it decides nothing, and costs most of the time. */
const BEFORE = "[\\w.-]{0,50}?";
/** What has to stand behind a secret in source code. In a conversation anything may that does not go on with it. */
const BEHIND = "(?:[\\x60'\"\\s;]|\\\\[nr]|$)";
const GOES_ON = "(?![\\w-])";
// Whatever stands between the parts of a command, and as far as a command goes: else a page of "curl" takes minutes.
const ANYTHING = /(?<!\\)\.\*/g;
const SOME = ".{0,300}";
// leftoff's own finds more of them, see js/privacy/keys.js.
const OURS = new Set(["private-key"]);

/** @returns {string} the module as it should be */
export function written() {
  const { rules, allowlist } = /** @type {any} */ (parse(readFileSync(join(folder, "gitleaks.toml"), "utf8")));
  const all = rules.filter((/** @type {any} */ { id, regex }) => regex && !OURS.has(id)).map(ruleOf);
  const except = { patterns: allowlist.regexes.map((/** @type {string} */ one) => translated(one)), words: allowlist.stopwords.map(lower) };
  const license = readFileSync(join(folder, "LICENSE"), "utf8").trim().split("\n").map((line) => ` * ${line}`.trimEnd()).join("\n");
  const head = `// @ts-check\n/**\n * Written by scripts/secret-rules.mjs from gitleaks' rules, which came with this license.\n *\n${license}\n */\n`;
  const types = "\n/** @typedef {{ source: string, flags: string }} Pattern */\n/** @typedef {{ patterns: Pattern[], words: string[], of?: string }} Except */\n/** @typedef {{ id: string, pattern: Pattern, entropy: number, words: string[], group?: number, except: Except[] }} Rule */\n";
  const lines = all.map((/** @type {object} */ one) => `  ${JSON.stringify(one)},\n`).join("");
  return `${head}${types}\n/** @type {Rule[]} */\nexport const RULES = [\n${lines}];\n\n/** What is a secret of no rule. @type {Except} */\nexport const EXCEPT = ${JSON.stringify(except)};\n`;
}

/** @param {any} rule */
function ruleOf({ id, regex, entropy = 0, keywords = [], secretGroup, allowlists = [] }) {
  const bare = regex.replaceAll(BEFORE, "").replaceAll(BEHIND, GOES_ON).replaceAll(ANYTHING, SOME);
  return { id, pattern: translated(bare), entropy, words: keywords.map(lower), group: secretGroup, except: allowlists.flatMap(exceptOf) };
}

// One that holds in some files alone does not hold in a conversation.
/** @param {any} allowlist */
function exceptOf({ regexes = [], stopwords = [], regexTarget, condition, paths }) {
  if (condition === "AND" && paths) return [];
  if (regexes.length + stopwords.length === 0) return [];
  return [{ patterns: regexes.map((/** @type {string} */ one) => translated(one)), words: stopwords.map(lower), of: regexTarget }];
}

/** @param {string} word */
function lower(word) {
  return word.toLowerCase();
}

/** An expression of RE2, which knows flags in the middle, as one of JavaScript. @param {string} re2 @returns {Pattern} */
export function translated(re2) {
  const isWhole = re2.startsWith("(?i)") && !/\(\?-i/.test(re2);
  const text = isWhole ? re2.slice(4) : re2;
  let out = "";
  /** The flags that hold in each group that is open, the innermost last. */
  const flags = [{ i: false, s: false }];
  const now = () => /** @type {{ i: boolean, s: boolean }} */ (flags.at(-1));
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at);
    const [found = "", off = "", on] = /^\(\?(?:P?<\w+>|(-?)([is]+)([:)]))/.exec(rest) ?? [];
    if (found.endsWith(">")) [out, at] = [`${out}(?:`, at + found.length], flags.push({ ...now() });
    else if (found) {
      const next = { ...now(), ...Object.fromEntries(Array.from(on ?? "", (flag) => [flag, off === ""])) };
      if (found.endsWith(")")) flags[flags.length - 1] = next;
      else [out] = [`${out}(?:`], flags.push(next);
      at += found.length;
    } else if (rest[0] === "[") {
      const [whole = ""] = /^\[\^?\]?(?:\[:\w+:\]|\\x[0-9a-fA-F]{2}|\\.|[^\]\\])*\]/.exec(rest) ?? [];
      out += classOf(whole, now().i);
      at += whole.length;
    } else if (rest[0] === "\\") {
      const [whole = ""] = /^\\(?:x[0-9a-fA-F]{2}|.)/.exec(rest) ?? [];
      out += whole === "\\z" ? "$" : whole;
      at += whole.length;
    } else {
      const [sign = ""] = rest;
      if (sign === "(") flags.push({ ...now() });
      if (sign === ")") flags.pop();
      out += now()?.i && /[a-z]/i.test(sign) ? `[${sign.toLowerCase()}${sign.toUpperCase()}]` : sign === "." && now()?.s ? "[\\s\\S]" : sign;
      at += 1;
    }
  }
  return { source: new RegExp(out).source, flags: isWhole ? "i" : "" };
}

/** @param {string} whole @param {boolean} isCaseless */
function classOf(whole, isCaseless) {
  const named = whole.replace("[:alnum:]", "a-zA-Z0-9");
  if (!isCaseless) return named;
  // Ranges of letters in the other case as well.
  const more = Array.from(named.matchAll(/\\.|([a-z]-[a-z]|[A-Z]-[A-Z])|([a-zA-Z])/g), ([, range, letter]) => {
    const one = range ?? letter ?? "";
    return one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase();
  });
  return `${named.slice(0, -1)}${more.join("")}]`;
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) writeFileSync(target, written());
