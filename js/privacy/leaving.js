// @ts-check
/** Lists on their way out: a title is cut from a longer text, so that each is looked at beside the text that it was made of. */

/** @import { Place } from "../placement/placement.js" */
/** @import { Redaction } from "./redaction.js" */

/** No title or summary that is shorter was cut. */
const CUT = 40;

/**
 * @template {{ title: string, summary: string | null }} T
 * @param {T[]} listed @param {Redaction} redaction @param {(one: T) => Place} placeOf @returns {Promise<T[]>}
 */
export async function leaving(listed, redaction, placeOf) {
  if (!redaction.isOn) return listed;
  /** @type {T[]} */
  const all = [];
  for (const one of listed) {
    const isCut = one.title.length >= CUT || (one.summary?.length ?? 0) >= CUT;
    const { storage, path: folder } = placeOf(one);
    const door = isCut ? redaction.of({ storage, folder }) : redaction.own;
    if (isCut) await door.ready();
    all.push((await door.out(one, { isWhole: false })).value);
    if (isCut) door.free();
  }
  return all;
}
