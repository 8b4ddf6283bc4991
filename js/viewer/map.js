// @ts-check
/** The map of a session: where each message lies, how large it is, and what stands out. Nothing here draws. */

import { countsOf } from "./conversation.js";

/** @import { Row, Turn } from "./conversation.js" */

/** @typedef {"user" | "assistant" | "tool" | "note" | "agent" | "summary" | "failed"} BandKind */
/**
 * @typedef {{ row: number, id: string, kind: BandKind, tokens: number, top: number, height: number, isCapped: boolean }}
 *   Band `id`: of its message
 */
/** @typedef {{ top: number, kind: "failed" | "damage" | "summary" | "fork" | "turn", text: string }} Mark */
/**
 * @typedef {{ forks: readonly number[], damage: readonly number[] }} Landmarks what stands between rows: by the rows that it is
 *   behind, -1 for what is before the first
 */
/**
 * @typedef {{ bands: Band[], tops: number[], marks: Mark[], fill: { top: number, share: number }[] }} Layout
 *   `tops`: of each row, and the end
 */

/** A band takes at most this share of the map. */
const MAX_SHARE = 0.06;
/** In a session of few messages a band may take this part of a fair share. */
const FEW_BANDS = 3;
/** Marks nearer than this become one, in pixels. */
const MARK_PIXELS = 14;
/** Which band is seen where many share a pixel, the last one most. @type {BandKind[]} */
export const PRIORITY = ["note", "tool", "assistant", "agent", "user", "summary", "failed"];

/**
 * Lays a session out on a map, linear in tokens; no message has less than a pixel of the screen while there is room.
 * @param {readonly Row[]} rows @param {readonly Turn[]} turns
 * @param {{ height: number, pixel: number, window: number }} map in pixels, `pixel`: one of the screen
 * @param {Landmarks} [landmarks]
 * @returns {Layout}
 */
export function layOut(rows, turns, { height, pixel, window }, landmarks = { forks: [], damage: [] }) {
  const bands = rows.flatMap(bandsOf);
  const least = Math.min(pixel, height / Math.max(bands.length, 1));
  const room = height - least * bands.length;
  const cap = height * Math.max(MAX_SHARE, FEW_BANDS / Math.max(bands.length, 1));
  const scale = scaleOf(bands, room, cap);
  let top = 0;
  /** @type {number[]} */
  const tops = [];
  for (const band of bands) {
    band.top = top;
    const wanted = band.tokens * scale;
    band.isCapped = wanted > cap;
    band.height = least + Math.min(wanted, cap);
    tops[band.row] ??= top;
    top += band.height;
  }
  tops.push(top);
  return { bands, tops, marks: marksOf(bands, turns, tops, landmarks), fill: fillOf(rows, tops, window) };
}

/**
 * The pixels of a token, so that bands which are capped leave their room to the others.
 * @param {Band[]} bands @param {number} room @param {number} cap
 */
function scaleOf(bands, room, cap) {
  const sizes = bands.map(({ tokens }) => tokens).sort((a, b) => b - a);
  let rest = sizes.reduce((sum, tokens) => sum + tokens, 0);
  let left = room;
  for (const tokens of sizes) {
    const scale = rest > 0 ? left / rest : 0;
    if (tokens * scale <= cap) return scale;
    left -= cap;
    rest -= tokens;
  }
  return bands.length === 0 ? 0 : cap / Math.max(sizes.at(-1) ?? 1, 1);
}

/** @param {Row} row @param {number} place @returns {Band[]} */
function bandsOf(row, place) {
  const band = (/** @type {string} */ id, /** @type {BandKind} */ kind, /** @type {number} */ tokens) => ({
    ...{ row: place, id, kind, tokens },
    ...{ top: 0, height: 0, isCapped: false },
  });
  const own = band(row.id, row.kind === "tool" && row.failed ? "failed" : row.kind, row.message.tokens?.count ?? 0);
  const results = row.calls.flatMap(({ failed, kind, tokens = 0, result }) =>
    result ? [band(result.id, failed ? "failed" : kind === "agent" ? "agent" : "tool", tokens)] : [],
  );
  return [own, ...results];
}

/**
 * The marks, of those that are near each other the worst one.
 * @param {Band[]} bands @param {readonly Turn[]} turns @param {number[]} tops @param {Landmarks} landmarks
 */
function marksOf(bands, turns, tops, { forks, damage }) {
  const of = (/** @type {Mark["kind"]} */ kind, /** @type {number[]} */ places) =>
    places.map((top) => ({ top, kind, text: "" }));
  const bandsOfKind = (/** @type {BandKind} */ wanted) =>
    bands.filter(({ kind }) => kind === wanted).map(({ top }) => top);
  const numbers = turns.map(({ number, firstRow }) => ({
    top: tops[firstRow],
    kind: /** @type {const} */ ("turn"),
    text: String(number),
  }));
  /** @type {Mark[]} */
  const kept = [];
  const ordered = [
    ...of("failed", bandsOfKind("failed")),
    ...of(
      "damage",
      damage.map((row) => tops[row + 1]),
    ),
    ...of("summary", bandsOfKind("summary")),
    ...of(
      "fork",
      forks.map((row) => tops[row + 1]),
    ),
    ...numbers,
  ];
  // By place in steps, so that a session of many marks asks only for the neighbors.
  const taken = new Set();
  for (const mark of ordered) {
    const step = Math.floor(mark.top / MARK_PIXELS);
    const isNear = [step - 1, step, step + 1].some(
      (near) => taken.has(near) && kept.some(({ top }) => Math.abs(top - mark.top) < MARK_PIXELS),
    );
    if (isNear) continue;
    taken.add(step);
    kept.push(mark);
  }
  return kept;
}

/** The context of each request, as a share of the window. @param {readonly Row[]} rows @param {number[]} tops @param {number} window */
function fillOf(rows, tops, window) {
  const sent = rows.map(({ message }) => countsOf(message).sent);
  const whole = window || sent.reduce((most, tokens) => Math.max(most, tokens), 1);
  return sent.flatMap((tokens, row) => (tokens > 0 ? [{ top: tops[row], share: Math.min(tokens / whole, 1) }] : []));
}

/**
 * The row at a height of the map, and how far in it.
 * @param {Layout} layout @param {number} at in pixels
 * @returns {{ row: number, fraction: number }}
 */
export function placeAt({ tops }, at) {
  const row = Math.max(
    tops.findLastIndex((top, place) => top <= at && place < tops.length - 1),
    0,
  );
  const size = (tops[row + 1] ?? 0) - (tops[row] ?? 0);
  return { row, fraction: size > 0 ? Math.min(Math.max((at - tops[row]) / size, 0), 1) : 0 };
}
