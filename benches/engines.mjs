// @ts-check
/** Who counts tokens, each by the way in that its own users have. What is a special token elsewhere is text here. */

export const RIVALS = ["gpt-tokenizer", "ai-tokenizer"];

/** @typedef {(text: string) => number | Promise<number>} Count */

/** @type {Record<string, (encoding: string) => Promise<Count>>} */
const engines = {
  leftoff: async (encoding) => {
    const { countTokens } = await import("../js/index.js");
    return (text) => countTokens(text, { encoding });
  },
  "gpt-tokenizer": async (encoding) => {
    const { countTokens } = await import(`gpt-tokenizer/encoding/${encoding}`);
    const disallowedSpecial = new Set();
    return (text) => countTokens(text, { disallowedSpecial });
  },
  "ai-tokenizer": async (encoding) => {
    const [{ Tokenizer }, vocabulary] = await Promise.all([
      import("ai-tokenizer"),
      import(`ai-tokenizer/encoding/${encoding}`),
    ]);
    const tokenizer = new Tokenizer(vocabulary);
    // Its `count` refuses special tokens, and looks for them first: this is the faster way.
    return (text) => tokenizer.encode(text, "all").length;
  },
  /** Node itself, for what starting it takes. */
  nobody: async () => () => 0,
};

/** @param {string} name @param {string} encoding */
export function engine(name, encoding) {
  const load = engines[name];
  if (!load) throw new Error(`expected ${Object.keys(engines).join(", ")}, but found ${name} instead`);
  return load(encoding);
}
