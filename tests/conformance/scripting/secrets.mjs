// @ts-check
/** What a host of its own says of secrets: by the rules that the JavaScript package has. */

import { findSecrets, secretScan } from "../../../js/privacy/secrets.js";

/** Of each text where secrets stand in its bytes; nothing at all where none has any. @param {string[]} texts */
export async function secretsIn(texts) {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  return findSecrets(await secretScan(), lengths, Buffer.from(texts.join("\n\0\n")));
}
