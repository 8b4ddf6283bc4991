// @ts-check
// The share of others' samples of secrets that is found does not fall: in each collection, and of each kind in it.
// Tries: src/privacy/secrets/
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { CORPORA, samplesOf, shares, spansOf, sum } from "./secret-samples.js";

/**
 * How many samples are not found, by their kind: what repeats one letter stands for a secret, ids are none, and of some
 * kinds the shape is that of much else. Of the other kinds each sample is found.
 * @type {Record<typeof CORPORA[number], Record<string, number>>}
 */
const MISSED = {
  secretlint: {
    aws: 1, // the number of an account
    azure: 2, // the ids of a tenant and of a client
    gcp: 1, // all of a file is marked: the private key in it is found
    "secp256k1-privatekey": 1, // 64 hexadecimal digits, as each hash has them
    stripe: 1, // AAAA, BBBB
    tailscale: 7, // AAAA, BBBB
  },
  gitleaks: {
    "gcp-service-account": 1, // the name of a kind, without a key
  },
  "detect-secrets": {
    artifactory: 19, // xxxx
    "aws-key": 5, // ZZZZ
    "basic-auth": 1, // username:password
    discord: 1, // no number of a user begins so
    "gitlab-token": 2, // shorter or of other letters than GitLab's are
    twilio: 2, // xxxx
  },
};

/** @type {Record<typeof CORPORA[number], number>} */
const FLOORS = { secretlint: 37, gitleaks: 242, "detect-secrets": 40 };

for (const corpus of CORPORA) {
  test(`as many of ${corpus}'s samples are found as ever`, async () => {
    const kinds = await shares(corpus);
    for (const [kind, { samples, leftoff }] of kinds)
      assert.ok(samples - leftoff <= (MISSED[corpus][kind] ?? 0), `${kind}: ${leftoff} of ${samples}`);
    const { leftoff, secretlint } = sum(kinds.values());
    assert.ok(leftoff >= FLOORS[corpus], `${leftoff}`);
    assert.ok(leftoff > secretlint);
  });
}

test("the samples are stored so that no scanner takes them for leaks, and come with their sources and licenses", async () => {
  const folder = new URL("../fixtures/secrets/", import.meta.url);
  assert.deepEqual(
    readdirSync(folder).sort(),
    [...CORPORA.flatMap((name) => [`LICENSE.${name}`, `${name}.jsonl`]), "SOURCES.txt"].sort(),
  );
  for (const corpus of CORPORA) {
    const stored = readFileSync(new URL(`${corpus}.jsonl`, folder), "utf8");
    assert.deepEqual(await spansOf(stored), []);
    for (const { text, secrets = [] } of samplesOf(corpus))
      for (const secret of secrets) assert.ok(text.includes(secret), secret);
  }
});
