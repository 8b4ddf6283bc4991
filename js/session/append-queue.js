// @ts-check
/** Appends that wait for their turn, and which of them become one batch. */

import { LeftoffError } from "../error.js";
import { detectFormat } from "./library-answers.js";
import { toJson } from "../wasm/json.js";

/** @import { Storage } from "../storage/contract.js" */

/**
 * @typedef {object} WaitingAppend an append that waits for its turn
 * @property {string} json the drafts, an array
 * @property {number} count how many they are
 * @property {"durable" | "buffered"} durability
 * @property {import("../types/index.js").Format} [format] leftoff's unless given, or what they tell
 * @property {boolean} isCopy they were read from a log, or an agent's file
 * @property {boolean} revives a paused session goes on with it
 * @property {string} [once] under which conditions it counts, JSON
 * @property {(answer: import("./appended.js").Appended) => void} resolve
 * @property {(error: unknown) => void} reject
 */

/** How many appends at most become one batch. */
const MAX_GROUP = 1000;

/** Drafts as an array of JSON, and whose shape they have. @param {unknown[]} drafts @param {import("../types/index.js").Format} [format] @returns {{ json: string, format?: import("../types/index.js").Format }} */
export function serializeDrafts(drafts, format) {
  const json = (/** @type {boolean} */ ofProvider) => {
    let all = "";
    // Also of holes: each of them is no message.
    for (let place = 0; place < drafts.length; place += 1) all += `${place ? "," : ""}${toJson(drafts[place], { about: `message ${place}`, bytes: ofProvider, instances: ofProvider })}`;
    return `[${all}]`;
  };
  if (format !== undefined) return { json: json(format !== "leftoff"), format };
  try {
    return { json: json(false) };
  } catch (error) {
    // A provider's library may answer by objects of its own, which leftoff's shape has not.
    const loose = json(true);
    const told = /** @type {import("../types/index.js").Format} */ (detectFormat(loose));
    if (told === "leftoff") throw error;
    return { json: loose, format: told };
  }
}

/** One array of all that is in these, for one call of the core. @param {string[]} arrays each as JSON */
export function joinArrays(arrays) {
  const [only = "[]", ...others] = arrays;
  return others.length === 0 ? only : `[${arrays.map((array) => array.slice(1, -1)).filter(Boolean).join(",")}]`;
}

// Those at the front that can be one batch. What a provider's message becomes is not known beforehand, so each of
// these goes alone; and so does what counts under conditions of its own.
/** @param {WaitingAppend[]} waiting */
export function takeBatch(waiting) {
  const [first] = waiting;
  if (!first) return [];
  const other = waiting.findIndex((one, place) => place > 0 && (one.durability !== first.durability || one.format !== first.format || one.isCopy !== first.isCopy || one.once !== undefined));
  return waiting.splice(0, (first.format ?? "leftoff") === "leftoff" && first.once === undefined ? (other < 0 ? MAX_GROUP : Math.min(other, MAX_GROUP)) : 1);
}

/** @param {unknown} durability */
export function rejectUnknownDurability(durability) {
  if (durability === "durable" || durability === "buffered") return;
  throw new LeftoffError({ code: "invalid_request", message: `expected "durable" or "buffered" for "durability", but found ${JSON.stringify(durability)} instead` });
}

/** How safe an append is once it is written. @param {Storage} storage @param {boolean} durable whether that was waited for */
export function acknowledgmentOf({ capabilities }, durable) {
  return !capabilities.durable ? "volatile" : durable ? "durable" : "buffered";
}
