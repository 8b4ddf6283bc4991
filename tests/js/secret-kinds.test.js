// @ts-check
// Of each kind of secrets every sample is found whole: no more of it is left than the prefix that its service
// documents.
// Tries: src/privacy/secrets/, src/privacy/secrets/tokens.rs
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { MemoryStorage } from "../../js/index.js";
import { Redaction } from "../../js/privacy/redaction.js";
import { countFound, drawSamples, isFound, SAMPLES } from "./secret-kinds/draw.js";
import { KNOWN } from "./secret-kinds/known.js";
import { NEWER } from "./secret-kinds/newer.js";
import { spansOf } from "./secret-samples.js";

for (const [name, kinds, least] of /** @type {const} */ ([
  ["known", KNOWN, 73],
  ["newer", NEWER, 145],
])) {
  test(`every kind of ${name} secrets is found whole in each sample`, async (context) => {
    assert.equal(kinds.length, least);
    const counts = await countFound(kinds, spansOf);
    const missed = [...counts].filter(([, found]) => found < SAMPLES);
    context.diagnostic(`${kinds.length - missed.length} of ${kinds.length} kinds`);
    assert.deepEqual(missed, []);
  });
}

/** Around a token: what stands before it and behind. @type {Record<string, [before: string, behind: string]>} */
const PLACES = {
  "a setting": ["TOKEN=", "\n"],
  "a query": ["https://api.example.org/v1/all?page=2&access=", "&limit=10"],
  "an escaped query": ["https%3A%2F%2Fapi.example.org%2Fv1%3Faccess%3D", "%26limit%3D10"],
  "a string in a string": ['{\\"it\\":\\"', '\\"}'],
  "the end of a sentence": ["it is ", ". Then"],
  Markdown: ["use `", "` there"],
};

test("a token with a prefix of its own is found wherever it stands", async () => {
  const own = [...KNOWN, ...NEWER].filter(
    ([, template]) => /^«[^«]*\^[^«]*»$/.test(template) && !template.includes("\n"),
  );
  assert.ok(own.length > 90, `${own.length}`);
  for (const [kind, samples] of drawSamples(own)) {
    for (const [place, [before, behind]] of Object.entries(PLACES)) {
      for (const { text, secret } of samples) {
        const sample = {
          text: before + text + behind,
          secret: { start: before.length + secret.start, end: before.length + secret.end },
        };
        assert.ok(isFound(sample, await spansOf(sample.text)), `${kind} in ${place}`);
      }
    }
  }
});

test("a token is found where it is glued to a word", async () => {
  const glued = [
    "Anthropic",
    "GitHub's personal token",
    "GitHub's fine-grained token",
    "GitLab's personal token",
    "Slack's bot",
    "Shopify",
    "Stripe",
    "npm",
    "OpenRouter",
    "Groq",
    "Notion",
    "Linear",
    "Supabase's secret key",
    "Stripe's webhooks",
    "Vault",
  ];
  const kinds = [...KNOWN, ...NEWER].filter(([kind]) => glued.includes(kind));
  assert.equal(kinds.length, glued.length);
  for (const [kind, samples] of drawSamples(kinds)) {
    for (const { text, secret } of samples) {
      const sample = { text: `x${text}`, secret: { start: secret.start + 1, end: secret.end + 1 } };
      assert.ok(isFound(sample, await spansOf(sample.text)), kind);
    }
  }
});

test("what refers to a secret, stands for one, or only has the name of one stays as it is", async () => {
  for (const text of [
    'password: str = Field(min_length=8)\npassword = input("Password: ")',
    "password=$DB_PASSWORD token=${TOKEN} key={{ secrets.KEY2 }}",
    "DB_PASSWORD=changeme\nAPI_KEY=your-api-key-2\nSECRET_KEY=<a key of 32 letters>",
    "password: process.env.DB_PASSWORD_2,\napiKey: config.openai.apiKey2,",
    "token = self.tokenizer.eos_token_id1\ntoken = next_token2(stream)",
    "const password = await hashPassword(user.password1);",
    "const { password, apiKey } = options;",
    "--- PASS: TestValidateUUID/valid_UUID_v4 (0.00s)",
    "max_tokens: 4096, total_tokens=128000, primary_key=user_id_2, cache_key=v2/sessions",
    "redis://localhost:6379/0 amqp://guest:guest@localhost",
    "https://user:password@example.com and https://github.com/someone/repo@v1.2.3 and git@github.com:a/b.git",
    "mailto://someone@example.org, http://localhost:3000/@vite/client, npm:@scope/name@1.2.3",
    'curl -u "$USER:$PASS" https://x.y and curl -u user:password https://x.y',
    "Authorization: Bearer <token>\nAuthorization: Bearer $TOKEN\nCookie: theme=dark; lang=en-US",
    "mysql -p main; cp -p a b; docker login -u someone --password-stdin",
    "the password is asked for twice; the token expires in 3600 seconds",
    '{"type":"string","description":"password of at least 8 characters","session":"019c8671-a240-782b-8686-3aefaf8050e9"}',
    "sk-learn-contrib and task-list-2024-items and disk-image-of-the-machine",
    'Kind::Password => "password",',
    '["user", "password",\n  "postgres", "readonly"]',
    'const LABELS = { password: "Password", newPassword: "repeat_it" };',
  ]) {
    assert.deepEqual(await spansOf(text), [], text);
  }
});

test("nothing is taken for a secret in the source of a program", async () => {
  const root = join(import.meta.dirname, "..", "..");
  const tracked = ["src", "crates", "js", "docs", "examples", "benches"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  // The rules themselves, and the secrets of their tests.
  const files = tracked.filter(
    (name) => /\.(?:rs|js|mjs|ts|md|json)$/.test(name) && !name.startsWith(join("src", "privacy")),
  );
  assert.ok(files.length > 500, `${files.length} files`);
  const door = new Redaction("replace", { storage: new MemoryStorage(), folder: "/home" });
  for (const name of files)
    assert.deepEqual((await door.redact(readFileSync(join(root, name), "utf8"))).secrets, [], name);
});
