// @ts-check
/** secretlint's rules in Node, Deno and Bun: of a package that may be missing. */

/** @typedef {typeof import("@secretlint/secretlint-rule-preset-recommend")} SecretRules */

/** The module's name, kept out of the import expression: no bundler must fail without it. */
const PRESET = "@secretlint/secretlint-rule-preset-recommend";

/** @returns {Promise<SecretRules>} */
export const loadSecretRules = () => import(/* webpackIgnore: true */ /* @vite-ignore */ PRESET);
