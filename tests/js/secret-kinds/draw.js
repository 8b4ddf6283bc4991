// @ts-check
/**
 * Draws samples of a kind of secrets from its template. `«…»` is the secret, of which what stands before `^` may stay,
 * as the prefix that its service documents; `·` says nothing: it keeps a template from looking like a secret to
 * somebody's scanner. In braces stand letters and how many:
 * `a` letters and digits, `s` letters, `l` and `u` small or capital ones and digits, `d` digits, `x` hexadecimal, `z`
 * and `t` of base 32 (also as AWS has it), `b` of base64, `w` of base64 in URLs, `p` of passwords; or `uuid`, `json`
 * and `basic` in base64, `jwt`.
 */

/**
 * @typedef {{ text: string, secret: { start: number, end: number } }} Sample what must not leave, and where that stands
 */

const DIGITS = "0123456789";
const SMALL = "abcdefghijklmnopqrstuvwxyz";
const LARGE = SMALL.toUpperCase();
const BOTH = SMALL + LARGE;
/** @type {Record<string, string>} */
const LETTERS = {
  a: BOTH + DIGITS,
  s: BOTH,
  l: SMALL + DIGITS,
  u: LARGE + DIGITS,
  d: DIGITS,
  x: "0123456789abcdef",
  z: "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
  t: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
  b: `${BOTH + DIGITS}+/`,
  w: `${BOTH + DIGITS}-_`,
  p: `${BOTH + DIGITS}!@#%^*+=_.-`,
};

let state = 11;

/** @param {number} length @param {string} alphabet */
function draw(length, alphabet) {
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return alphabet[state % alphabet.length];
  }).join("");
}

/** @type {Record<string, () => string>} */
const WHOLE = {
  uuid: () => [8, 4, 4, 4, 12].map((length) => draw(length, LETTERS.x ?? "")).join("-"),
  json: () =>
    base64(
      JSON.stringify({ a: draw(32, LETTERS.x ?? ""), t: draw(90, LETTERS.a ?? ""), s: draw(90, LETTERS.b ?? "") }),
    ),
  jwt: () =>
    [
      { alg: "HS256", typ: "JWT" },
      { iss: "some", role: "service", ref: draw(20, SMALL), iat: 1_700_000_000 },
    ]
      .map((part) => base64(JSON.stringify(part)))
      .concat(draw(43, LETTERS.w ?? ""))
      .join("."),
  basic: () => Buffer.from(`someone:${draw(15, LETTERS.a ?? "")}`).toString("base64"),
};

/** @param {string} text */
function base64(text) {
  return Buffer.from(text).toString("base64url");
}

/** A sample by a template. @param {string} template @returns {Sample} */
export function drawSample(template) {
  const drawn = template
    .replaceAll("·", "")
    .replace(
      /\{(uuid|json|jwt|basic|[a-z])(\d*)\}/g,
      (_, what, length) => WHOLE[what]?.() ?? draw(Number(length), LETTERS[what] ?? ""),
    );
  const [before = "", rest = ""] = drawn.split("«");
  const [secret = "", behind = ""] = rest.split("»");
  const prefix = secret.includes("^") && !/\{p/.test(template) ? secret.slice(0, secret.indexOf("^")) : "";
  const body = prefix || secret.startsWith("^") ? secret.slice(prefix.length + 1) : secret;
  const start = before.length + prefix.length;
  return { text: before + prefix + body + behind, secret: { start, end: start + body.length } };
}

/** How many samples of each kind are drawn. */
export const SAMPLES = 5;

/**
 * Of each kind its samples, the same in each run.
 * @param {[kind: string, template: string][]} kinds
 * @returns {Map<string, Sample[]>}
 */
export function drawSamples(kinds) {
  state = 11;
  return new Map(kinds.map(([kind, template]) => [kind, Array.from({ length: SAMPLES }, () => drawSample(template))]));
}

/**
 * How many of its samples of each kind are found whole.
 * @param {[kind: string, template: string][]} kinds
 * @param {(text: string) => Promise<{ start: number, end: number }[]>} find
 */
export async function countFound(kinds, find) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const [kind, samples] of drawSamples(kinds)) {
    let found = 0;
    for (const sample of samples) if (isFound(sample, await find(sample.text))) found += 1;
    counts.set(kind, found);
  }
  return counts;
}

/** Whether nothing of a secret is left. @param {Sample} sample @param {{ start: number, end: number }[]} spans */
export function isFound({ text, secret }, spans) {
  for (let at = secret.start; at < secret.end; at += 1) {
    const isGone = /[\s"]/.test(text[at] ?? "") || spans.some(({ start, end }) => start <= at && at < end);
    if (!isGone) return false;
  }
  return true;
}
