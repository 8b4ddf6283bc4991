// @ts-check
/**
 * The files of `pkg/` in a page or a worker, which has no disk: `index.web.js` brings them along, or `loadWasm` is
 * given them.
 */

/** @type {(name: string) => Promise<Uint8Array<ArrayBuffer>>} */
export let load = async (name) => {
  throw new Error(`leftoff/slim brings no ${name}: give it to loadWasm before`);
};

/** Sets where files are loaded from. @param {typeof load} from */
export function setLoader(from) {
  load = from;
}

export const isHere = () => false;

/** @returns {undefined} */
export const loadNow = () => undefined;

export { fetchBytes as readUrl } from "./fetch-bytes.js";
