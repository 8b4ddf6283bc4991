// @ts-check
/** What secrets look like that neither secretlint's rules nor gitleaks' know: data of the same form, of leftoff's own. */

/** @import { Rule } from "./gitleaks.js" */

// Objects in JSON begin so in base64, with a blank, a tab or a line's end behind the brace or without.
const OBJECT = "(?:ey[AJ]|ew0K|ewo[giJ]|ewk[iJ])";
/** What a text has for the word that it begins with. */
const OBJECTS = ["eya", "eyj", "ew0k", "ewog", "ewoi", "ewoj", "ewki", "ewkj"];
const LETTERS = "[A-Za-z0-9_-]";
const ENCRYPTED = `${LETTERS}{0,2000}\\.${LETTERS}{10,60}\\.${LETTERS}{4,}\\.${LETTERS}{16,}`;

/** A place where the secret is, and not the secret. */
const REFERENCES = [/^[a-z]{2,12}:\/\//, /^arn:/, /^\/(?:mnt|run|secrets?|vault)\//, /\/secrets?\//, /^[A-Za-z_]+\d{0,2}(?:\.[A-Za-z_]+\d{0,2})+$/];

/** @type {Rule[]} */
export const OWN_RULES = [
  rule("tailscale-key", /(?<![A-Za-z0-9])tskey-(?:[a-z]{2,12}-)?[A-Za-z0-9]{5,40}-(?=[a-z]{0,63}[A-Z0-9])[A-Za-z0-9]{16,64}/, { words: ["tskey-"], entropy: 3.3 }),
  rule("cloudflare-token", /(?<![A-Za-z0-9])cf(?:at|ut|k)_[A-Za-z0-9]{40}[a-f0-9]{8}(?![A-Za-z0-9])/, { words: ["cfat_", "cfut_", "cfk_"], entropy: 3.3 }),
  // Of Azure and of whoever else calls it so, with signs that no word has.
  rule("client-secret", /(?:client|Client|CLIENT)[_-]?(?:secret|Secret|SECRET)(?:[_-]?(?:value|Value|VALUE))?[\s"'\x60\]]{0,4}(?:=>|:=|[=:,\s])[\s"'\x60]{0,4}((?=[^\s"'\x60&,;]{0,199}\d)(?=[^\s"'\x60&,;]{0,199}[a-z])(?=[^\s"'\x60&,;]{0,199}[A-Z])[\w~.+/=@:?*!#%^[\]-]{20,200})/, {
    words: ["clientsecret", "client_secret", "client-secret"],
    entropy: 3.8,
    except: [{ patterns: REFERENCES, words: ["example", "your", "placeholder"] }],
  }),
  rule("azure-account-key", /(?:Access|Account)Key=([A-Za-z0-9+/]{43,86}={1,2})/, { words: ["accesskey=", "accountkey="], entropy: 3.8 }),
  rule("azure-shared-access-signature", /\bsig=([A-Za-z0-9%/+]{43,90}(?:%3[Dd]|=))/, { words: ["sig="], entropy: 3.8 }),
  // The number of a user in base64, a time, and what signs them: each has a digit, which the names of a program seldom have.
  rule("discord-bot-token", /(?<![\w.-])[MNO](?=[\w-]{0,26}\d)[\w-]{22,27}\.[\w-]{5,7}\.(?=[\w-]{0,39}\d)[\w-]{27,40}(?![\w-])/, { words: [], entropy: 4 }),
  rule("discord-webhook", /discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{17,20}\/([\w-]{60,80})/, { words: ["webhooks/"], entropy: 3.8 }),
  rule("telegram-token", /(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])/, { words: [":aa"], entropy: 3.8 }),
  // Signed or not, encrypted, and as GitHub gives them to an app.
  rule("json-web-token", new RegExp(`(?<![A-Za-z0-9])(?:gh[a-z]_\\d{1,20}_)?${OBJECT}${LETTERS}{8,1000}={0,2}\\.(?:${ENCRYPTED}|${OBJECT}${LETTERS}{4,}={0,2}(?:\\.${LETTERS}*={0,2})?)`), { words: OBJECTS, entropy: 3 }),
  // Looked for from its end: hexadecimal digits are everywhere.
  rule("mailchimp-key", /-us\d{1,2}(?!\w)(?<=(?<![\w-])([0-9a-f]{32})-us\d{1,2})/, { words: ["-us"], entropy: 3 }),
  rule("pypi-token", /(?<![A-Za-z0-9])pypi-AgE[\w-]{50,1000}/, { words: ["pypi-age"], entropy: 3.8 }),
  rule("square-secret", /(?<![A-Za-z0-9])sq0csp-[\w-]{43}(?![\w-])/, { words: ["sq0csp-"], entropy: 3.8 }),
  rule("openai-key", /(?<![A-Za-z0-9])sk-[\w-]{16,200}T3BlbkFJ[\w-]{16,200}/, { words: ["t3blbkfj"], entropy: 3.8 }),
];

/** @param {string} id @param {RegExp} pattern @param {Pick<Rule, "words" | "entropy"> & Partial<Pick<Rule, "except">>} more @returns {Rule} */
function rule(id, pattern, { words, entropy, except = [] }) {
  return { id, pattern, entropy, words, except };
}
