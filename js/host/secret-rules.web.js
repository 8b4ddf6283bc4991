// @ts-check
/** secretlint's rules in a page, a worker or a bundle, where no package can be looked for: brought along. */

/** @returns {Promise<import("./secret-rules.node.js").SecretRules>} */
export const loadSecretRules = () => import("@secretlint/secretlint-rule-preset-recommend");
