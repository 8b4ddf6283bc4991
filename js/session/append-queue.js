// @ts-check
/** The queue of appends that wait for their turn, and which of them become one batch. */

import { LeftoffError } from "../error.js";
import { detectFormat } from "./library-answers.js";
import { toJson } from "../wasm/json.js";

/** @import { Storage } from "../storage/contract.js" */

/**
 * @typedef {object} WaitingAppend an append that waits for its turn
 * @property {string} json the drafts, a JSON array
 * @property {number} count how many they are
 * @property {"durable" | "buffered"} durability
 * @property {import("../types/index.js").Format} [format] leftoff's unless given, or detected from the drafts
 * @property {boolean} isCopy the drafts were read from a log, or an agent's file
 * @property {boolean} revives the append makes a paused session active again
 * @property {string} [once] the append conditions, JSON
 * @property {(answer: import("./appended.js").Appended) => void} resolve
 * @property {(error: unknown) => void} reject
 */

/** The most appends that become one batch. */
const MAX_GROUP_APPENDS = 1000;

/**
 * Writes drafts as a JSON array, and detects their format.
 * @param {unknown[]} drafts
 * @param {import("../types/index.js").Format} [format]
 * @returns {{ json: string, format?: import("../types/index.js").Format }}
 */
export function serializeDrafts(drafts, format) {
  const json = (/** @type {boolean} */ ofProvider) => {
    let all = "";
    // Counted by index, to include holes of the array: each is refused as no message.
    for (let place = 0; place < drafts.length; place += 1)
      all += `${place ? "," : ""}${toJson(drafts[place], { about: `message ${place}`, bytes: ofProvider, instances: ofProvider })}`;
    return `[${all}]`;
  };
  if (format !== undefined) return { json: json(format !== "leftoff"), format };
  try {
    return { json: json(false) };
  } catch (error) {
    // A provider's library may answer with instances of its own classes, which leftoff's shape doesn't have.
    const loose = json(true);
    const told = /** @type {import("../types/index.js").Format} */ (detectFormat(loose));
    if (told === "leftoff") throw error;
    return { json: loose, format: told };
  }
}

/** Joins arrays into one, for one call of the core. @param {string[]} arrays each as JSON */
export function joinArrays(arrays) {
  const [only = "[]", ...others] = arrays;
  return others.length === 0
    ? only
    : `[${arrays
        .map((array) => array.slice(1, -1))
        .filter(Boolean)
        .join(",")}]`;
}

// Takes from the front the appends that can be one batch. How many messages a provider's message becomes is not known
// beforehand, so each goes alone; and so does an append with conditions of its own.
/** @param {WaitingAppend[]} waiting */
export function takeBatch(waiting) {
  const [first] = waiting;
  if (!first) return [];
  const other = waiting.findIndex(
    (one, place) =>
      place > 0 &&
      (one.durability !== first.durability ||
        one.format !== first.format ||
        one.isCopy !== first.isCopy ||
        one.once !== undefined),
  );
  return waiting.splice(
    0,
    (first.format ?? "leftoff") === "leftoff" && first.once === undefined
      ? other < 0
        ? MAX_GROUP_APPENDS
        : Math.min(other, MAX_GROUP_APPENDS)
      : 1,
  );
}

/** @param {unknown} durability */
export function rejectUnknownDurability(durability) {
  if (durability === "durable" || durability === "buffered") return;
  throw new LeftoffError({
    code: "invalid_request",
    message: `expected "durable" or "buffered" for "durability", but found ${JSON.stringify(durability)} instead`,
  });
}

/** How safe a written append is. @param {Storage} storage @param {boolean} durable whether the disk was waited for */
export function acknowledgmentOf({ capabilities }, durable) {
  return !capabilities.durable ? "volatile" : durable ? "durable" : "buffered";
}
