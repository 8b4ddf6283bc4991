// @ts-check
/** Packages that may be missing, in Node, Deno and Bun. No bundler must fail without them: no expression has their names. */

const SECRET_RULES = "@secretlint/secretlint-rule-preset-recommend";
const ZSTD = "fzstd";

/** @returns {Promise<typeof import("@secretlint/secretlint-rule-preset-recommend")>} */
export const loadSecretRules = () => import(/* webpackIgnore: true */ /* @vite-ignore */ SECRET_RULES);

/** @returns {Promise<typeof import("fzstd")>} */
export const loadZstd = () => import(/* webpackIgnore: true */ /* @vite-ignore */ ZSTD);
