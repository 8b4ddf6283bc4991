// @ts-check
/**
 * Private keys, however they are shown: with line numbers, in a diff, quoted, within a string of source code, on one line,
 * encrypted, and also where a cut took the end away, or the beginning.
 */

/** @import { Found } from "./secrets.js" */

const PRIVATE_KEY = "privatekey";

const BEGIN = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-\d+:[^\n]{0,100}/g;
const END = /-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/y;
const ENDS = new RegExp(END.source, "g");
// What a line may have before it or behind it: numbers, arrows, marks of diffs and quotes, signs of strings and comments.
const DECORATION = /(?:[\s>|+\-#*:\u2192\u2502.,"'`\\;%(){}[\]&$@!~<]|\d{1,7}(?=[\s:|\u2192>.)-])|\\[nrt])+/y;
const HEADER = /(?:Proc-Type: \d,ENCRYPTED|DEK-Info: [\w-]+,[0-9A-Fa-f]+|(?:Version|Comment|Hash|Charset|MessageID|Encryption|Subject|Key-Derivation|Argon2-\w+|Public-Lines|Private-Lines|Private-MAC|Private-Hash):[^\n]{0,120}?(?=\s{2}|\n|$))/y;
const BODY = /[A-Za-z0-9+/=_]+/y;
/** A word of so many letters is no word. */
const LONG = 16;
/** Of a whole line of a key, in every form of them, there are more. */
const LINE = 40;

/** @param {string} text @returns {Found[]} */
export function privateKeys(text) {
  /** @type {Found[]} */
  const found = [];
  let done = 0;
  for (const { index, 0: head } of text.matchAll(BEGIN)) {
    if (index < done) continue;
    const end = bodyEnd(text, index + head.length);
    if (end === undefined) continue;
    found.push({ start: index, end, rule: PRIVATE_KEY });
    done = end;
  }
  const begun = found.length;
  let [next, least] = [0, 0];
  for (const { index, 0: foot } of text.matchAll(ENDS)) {
    // Those before it in the text are behind: both go forward.
    for (; next < begun && Number(found[next]?.start) <= index; next += 1) least = Math.max(least, Number(found[next]?.end));
    if (index < least) continue;
    const start = bodyStart(text, index, least);
    if (start < index) found.push({ start, end: index + foot.length, rule: PRIVATE_KEY });
    least = index + foot.length;
  }
  return found;
}

/** Where the body ends that begins there; nothing where none does. @param {string} text @param {number} start */
function bodyEnd(text, start) {
  /** @type {number | undefined} */
  let end;
  let [last, at] = [0, start];
  for (;;) {
    at = passed(DECORATION, text, at);
    const foot = end === undefined ? at : passed(END, text, beforeDashes(text, at));
    if (end !== undefined && foot > beforeDashes(text, at)) return foot;
    const header = passed(HEADER, text, at);
    if (header > at) {
      at = header;
      continue;
    }
    const next = passed(BODY, text, at);
    const size = next - at;
    // The last line may be short: where it stands alone, or the key ends behind it.
    const isLast = last >= LINE && (size > 1 && (isAlone(text, next) || endsBehind(text, next)));
    if (size < LONG && !isLast) return end;
    [end, last, at] = [next, size, next];
    if (size < LONG && !endsBehind(text, next)) return end;
  }
}

/** Where the body begins that ends there. @param {string} text @param {number} end @param {number} least */
function bodyStart(text, end, least) {
  let start = end;
  for (let [at, isLast] = [end, true]; at > least; ) {
    const feed = Math.max(text.lastIndexOf("\n", at - 1), least - 1);
    const line = text.slice(feed + 1, at);
    const longest = (line.match(/[A-Za-z0-9+/=_]+/g) ?? []).reduce((most, one) => Math.max(most, one.length), 0);
    // The last line of a key may be short, where there are more.
    if (longest >= LONG) start = feed + 1;
    else if (line.trim() !== "" && at !== end && !isLast) break;
    isLast &&= at === end || line.trim() === "";
    at = feed;
  }
  return start;
}

// The dashes of the end look like those of a diff.
/** @param {string} text @param {number} at */
function beforeDashes(text, at) {
  let start = at;
  while (text[start - 1] === "-" || (text[start - 1] === " " && text[start - 2] === "-")) start -= 1;
  return start;
}

/** @param {string} text @param {number} at */
function endsBehind(text, at) {
  const start = beforeDashes(text, passed(DECORATION, text, at));
  return passed(END, text, start) > start;
}

/** @param {string} text @param {number} at */
function isAlone(text, at) {
  const feed = text.indexOf("\n", at);
  return !/[A-Za-z0-9]/.test(text.slice(at, feed < 0 ? Math.min(text.length, at + 40) : Math.min(feed, at + 40)));
}

/** Behind what a pattern finds there. @param {RegExp} pattern @param {string} text @param {number} at */
function passed(pattern, text, at) {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}
