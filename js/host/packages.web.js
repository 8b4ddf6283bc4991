// @ts-check
/** The same in a page, a worker or a bundle, where no package can be looked for: they are brought along. */

export const loadSecretRules = () => import("@secretlint/secretlint-rule-preset-recommend");
export const loadZstd = () => import("fzstd");
