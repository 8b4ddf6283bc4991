// @ts-check
/** What has to become of a text before it may leave: where secrets stand in it, also in what it holds in another form. */

import { base64In, isLikeJson, stringsIn } from "./encoded.js";

/** @import { Inner } from "./encoded.js" */
/** @import { Known } from "./known.js" */
/** @import { Found, Scan } from "../secrets.js" */

/** @typedef {{ start: number, end: number, secret: string, rule: string }} Hit */
/** @typedef {{ text: string, found: Hit[], inner: (Pick<Inner, "start" | "end" | "encode"> & { plan: Plan })[] }} Plan */
/** @typedef {{ text: string, key: string }} Leaf a text, and the name that it has */
/** `told`: what is looked at, with the name before it @typedef {{ plan: Plan, head: string, told: string }} Due */

/** What is encoded again and again is not looked into farther. */
const DEEPEST = 4;
/** No secret that a rule knows has fewer letters. */
const LEAST = 6;
/** So many letters are looked at together. */
const TOGETHER = 1 << 18;
// Between two texts: no secret goes over it.
const BETWEEN = "\n\0\n";
const PLACEHOLDER = /^\[redacted:[\w-]+:[0-9a-f]{8}\]$/;
// `AWS_SECRET_ACCESS_KEY` tells more than what stands there.
const TELLING = /^[\w.-]{1,100}$/;

/** @param {Leaf[]} leaves @param {Scan} scan @param {Known} [known] @returns {Plan[]} one for each, in order */
export function planned(leaves, scan, known) {
  /** @type {Due[]} */
  const due = [];
  const plans = leaves.map((leaf) => drawn(leaf, due, 0));
  for (let at = 0; at < due.length; ) {
    /** @type {Due[]} */
    const some = [];
    for (let size = 0; at < due.length && size < TOGETHER; at += 1) {
      const one = /** @type {Due} */ (due[at]);
      some.push(one);
      size += one.told.length;
    }
    // Most have none, and what costs is to begin with a text.
    const isClean = scan(some.map(({ told }) => told).join(BETWEEN)).length === 0;
    for (const { plan, head, told } of some) {
      const found = isClean ? [] : scan(told).map(({ start, end, rule }) => ({ start: start - head.length, end: end - head.length, rule }));
      plan.found = hits(plan.text, [...found, ...(known?.find(plan.text) ?? [])]);
    }
  }
  return plans;
}

/** A text with something else for each secret. @param {Plan} plan @param {(hit: Hit) => string} stands */
export function rendered({ text, found, inner }, stands) {
  // Where a secret stands in the text itself, it does not matter what of it is encoded.
  const others = inner.filter(({ start, end }) => !found.some((hit) => hit.start < end && start < hit.end));
  const parts = [
    ...found.map((hit) => ({ start: hit.start, end: hit.end, write: () => stands(hit) })),
    ...others.map(({ start, end, plan, encode }) => ({ start, end, write: () => changed(text.slice(start, end), plan, encode, stands) })),
  ].sort((a, b) => a.start - b.start);
  let [clean, done] = ["", 0];
  for (const { start, end, write } of parts) {
    clean += text.slice(done, start) + write();
    done = end;
  }
  return clean + text.slice(done);
}

/** @param {string} encoded @param {Plan} plan @param {(text: string) => string} encode @param {(hit: Hit) => string} stands */
function changed(encoded, plan, encode, stands) {
  const after = rendered(plan, stands);
  return after === plan.text ? encoded : encode(after);
}

/** @param {Leaf} leaf @param {Due[]} due @param {number} depth @returns {Plan} */
function drawn({ text, key }, due, depth) {
  /** @type {Plan} */
  const plan = { text, found: [], inner: [] };
  if (text.length < LEAST) return plan;
  const isJson = isLikeJson(text);
  const isWhole = isJson && key === "arguments" && isValid(text);
  // Of JSON each string is looked at with its name: so that it stays JSON, and of a name that is there twice both count.
  const strings = isJson && depth < DEEPEST ? stringsIn(text, { all: isWhole }) : [];
  const files = isWhole || depth >= DEEPEST ? [] : base64In(text).filter(({ start, end }) => !strings.some((one) => one.start < end && start < one.end));
  plan.inner = [...strings, ...files].map(({ text: plain, key: name, ...place }) => ({ ...place, plan: drawn({ text: plain, key: name }, due, depth + 1) }));
  if (isWhole) return plan;
  const head = TELLING.test(key) ? `${key}="` : "";
  due.push({ plan, head, told: head ? `${head}${text}"` : text });
  return plan;
}

/** @param {string} text */
function isValid(text) {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return false;
  }
}

/** Those that meet as one, named by the first. @param {string} text @param {(Found & { secret?: string })[]} found @returns {Hit[]} */
function hits(text, found) {
  /** @type {Hit[]} */
  const all = [];
  const within = (/** @type {number} */ at) => Math.min(Math.max(at, 0), text.length);
  const places = found.map(({ start, end, ...one }) => ({ ...one, start: within(start), end: within(end) })).filter(({ start, end }) => start < end && !PLACEHOLDER.test(text.slice(start, end)));
  // Of two at one place the one that a rule found is named by what stands there.
  for (const { start, end, rule, secret } of places.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = all.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else all.push({ start, end, rule, secret: secret ?? "" });
  }
  return all.map((hit) => ({ ...hit, secret: hit.secret || text.slice(hit.start, hit.end) }));
}
