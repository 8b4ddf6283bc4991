// @ts-check
/** Lists on their way out: a title is cut from a longer text, so that each is looked at beside the text that it was made of. */

import { SessionSecrets } from "./session-secrets.js";

/** @import { Place } from "../placement.js" */
/** @import { Redaction } from "../redaction.js" */

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
    const known = isCut ? await new SessionSecrets({ storage, folder }, redaction).head() : undefined;
    all.push((await redaction.out(one, { known })).value);
  }
  return all;
}
