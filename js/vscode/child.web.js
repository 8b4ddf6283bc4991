// @ts-check
/** A browser's extension host starts no programs. */

import { LeftoffError } from "../index.js";

/** @returns {Promise<never>} */
export async function askCommandLine() {
  throw new LeftoffError({ code: "missing_dependency", message: "a browser starts no programs" });
}
