// @ts-check
/**
 * A secret of each rule's kind: of the right shape, and of no account. Put together here, so that no scanner takes this
 * file for a leak.
 */

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS = "0123456789";

let state = 1;
/** @param {number} length @param {string} [alphabet] */
function chance(length, alphabet = LETTERS + DIGITS) {
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return alphabet[state % alphabet.length];
  }).join("");
}

/** @param {string[]} parts */
const joinParts = (...parts) => parts.join("");
const pem = () =>
  [
    "-----BEGIN RSA",
    " PRIVATE KEY-----\n",
    `MI${chance(62)}\n${chance(64)}\n${chance(64)}\n`,
    "-----END RSA",
    " PRIVATE KEY-----",
  ].join("");

/**
 * By the rule that finds it: how it stands in a text, and what of that must not leave.
 * @type {Record<string, { text: string, secret: string }[]>}
 */
export const PLANTED = Object.fromEntries(
  Object.entries({
    aws: [[(/** @type {string} */ key) => `AWS_SECRET_ACCESS_KEY="${key}"`, chance(40)]],
    gcp: [[(/** @type {string} */ key) => JSON.stringify({ private_key_id: "1", private_key: key }), pem()]],
    privatekey: [pem()],
    npm: [
      joinParts("np", "m_", chance(36)),
      [(/** @type {string} */ token) => `//example.com/:_authToken=${token}`, chance(36)],
    ],
    basicauth: [joinParts("https://", "someone:", chance(12), "@example.com")],
    slack: [joinParts("xo", "xb-", chance(12, DIGITS), "-", chance(24))],
    sendgrid: [joinParts("S", "G.", chance(22), ".", chance(43))],
    shopify: [joinParts("shp", "at_", chance(32))],
    github: [joinParts("gh", "p_", chance(36))],
    gitlab: [joinParts("gl", "pat-", chance(20))],
    grafana: [joinParts("gl", "sa_", chance(32), "_", chance(8, "0123456789abcdef"))],
    openai: [joinParts("s", "k-", chance(20), "T3Blb", "kFJ", chance(20))],
    anthropic: [joinParts("sk-", "ant-api03-", chance(93), "AA")],
    groq: [joinParts("gs", "k_", chance(52))],
    huggingface: [joinParts("h", "f_", chance(34, LETTERS))],
    linear: [joinParts("lin_", "api_", chance(40))],
    notion: [joinParts("nt", "n_", chance(11, DIGITS), chance(35))],
    "1password": [joinParts("ops", "_", Buffer.from(JSON.stringify({ a: chance(119) })).toString("base64"))],
    "database-connection-string": [joinParts("postgres", "://someone:", chance(12), "@db.example.com:5432/main")],
    "hashicorp-vault": [joinParts("hv", "s.", chance(95))],
    vercel: [joinParts("vc", "p_", chance(24))],
    databricks: [joinParts("da", "pi", chance(32, "0123456789abcdef"))],
    docker: [joinParts("dckr", "_pat_", chance(27))],
    figma: [joinParts("fi", "gd_", chance(40))],
  }).map(([rule, all]) => [
    rule,
    all.map((one) => {
      const [stands, secret] = /** @type {[(secret: string) => string, string]} */ (
        Array.isArray(one) ? one : [(/** @type {string} */ text) => text, one]
      );
      return { text: stands(secret), secret };
    }),
  ]),
);

/** All of them, each once. */
export const ALL = Object.values(PLANTED).flat();

/** The secrets that are in a text, as they are or as JSON says them. @param {string} text */
export function leakedSecrets(text) {
  return ALL.filter(({ secret }) => lines(secret).some((line) => text.includes(line))).map(({ secret }) => secret);
}

// Of a key in several lines each line is one.
/** @param {string} secret */
export function lines(secret) {
  return secret.split("\n").filter((line) => !line.startsWith("-----"));
}
