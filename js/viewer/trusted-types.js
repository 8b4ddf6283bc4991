// @ts-check
/**
 * The page's policy for Trusted Types, by the sanitizer's name, whose own would pass the address of any script: this one
 * passes what the sanitizer made, and one script's address.
 */

/** @typedef {import("dompurify").Config["TRUSTED_TYPES_POLICY"]} Policy */

/** @type {Policy | undefined} */
let policy;

/** Absent in a browser without Trusted Types, and in a page that took none: there the sanitizer has its own. */
export const pagePolicy = () => policy;

/**
 * Takes the policy, before anything is sanitized.
 * @param {string} script the address that may be run
 */
export function createPolicy(script) {
  policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("dompurify", {
    createHTML: (/** @type {string} */ html) => html,
    createScriptURL: (/** @type {string} */ address) => {
      if (address !== script) throw new TypeError(`expected the address ${script}, but found ${address} instead`);
      return address;
    },
  });
}
