// @ts-check
/** A page or a worker as a process, and whether another one of the origin still lives: its lock ends with it. */

import { randomId } from "../wasm/clock.js";

/** @import { ProcessName } from "./process.js" */

/** @type {ProcessName | undefined} */
let page;

/** @returns {ProcessName} */
export function thisProcess() {
  if (page) return page;
  page = { pid: 0, host: "page", boot: "", start: randomId(), program: "page" };
  // Refused where the page has no origin; there nobody keeps files either.
  locks()
    ?.request(lockOf(page), () => new Promise(() => {}))
    .catch(() => {});
  return page;
}

/** Whether a page or a worker of this origin is certainly gone. @param {ProcessName} other */
export async function isGone(other) {
  if (other.host !== "page") return false;
  const known = await locks()
    ?.query()
    .catch(() => undefined);
  return known !== undefined && ![known.held, known.pending].flat().some((lock) => lock?.name === lockOf(other));
}

/** @param {ProcessName} process */
const lockOf = ({ start }) => `leftoff-process-${start}`;

/** The origin's locks; workerd has none. @returns {LockManager | undefined} */
const locks = () => /** @type {any} */ (globalThis).navigator?.locks;
