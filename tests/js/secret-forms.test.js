// @ts-check
// Secrets in whatever form they come: encoded, in arguments of every shape, private keys as tools show them.
// Tries: scripts/secret-rules.mjs, src/privacy/encodings.rs, src/privacy/walk.rs, src/privacy/secrets/gitleaks.rs,
// src/privacy/secrets/keys.rs
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { MemoryStorage, openStore } from "../../js/index.js";
import { Redaction } from "../../js/privacy/redaction.js";
import { target, renderModule } from "../../scripts/secret-rules.mjs";
import { ALL } from "./planted-secrets.js";

const door = new Redaction("replace", { storage: new MemoryStorage(), folder: "/home" });
/** @param {any} value */
const redactValue = async (value) => (await door.redact(value)).value;
const TOKEN = ALL.find(({ text }) => text.startsWith("gh"))?.secret ?? assert.fail();
/** @param {string} text */
const base64 = (text) => Buffer.from(text).toString("base64");

test("the rules are as gitleaks has them", () => {
  assert.equal(readFileSync(target, "utf8"), renderModule());
});

for (const [what, text] of /** @type {[string, string][]} */ ([
  ["a file", base64(`# notes\nthe token is ${TOKEN}\nand more of it\n`)],
  ["a file without padding", base64(`a token: ${TOKEN}!`).replace(/=+$/, "")],
  [
    "a file in the alphabet of URLs",
    Buffer.from(`\u00fb\u00ff? the token is ${TOKEN} \u00fb\u00ff?`).toString("base64url"),
  ],
  ["a data URL", `data:text/plain;base64,${base64(`the token is ${TOKEN}`)}`],
  ["a piece in a text", `echo ${base64(`the token is ${TOKEN}`)} | base64 -d`],
  ["a text in base64 twice", base64(`see ${base64(`the token is ${TOKEN}`)} there`)],
  ["in lines of 76", base64(`${"long ".repeat(40)}${TOKEN} ${"long ".repeat(40)}`).replace(/(.{76})/g, "$1\n")],
  ["of another coding", Buffer.from(`\ufeffthe token is ${TOKEN}`, "utf16le").toString("base64")],
  [
    "with letters that are none of UTF-8",
    Buffer.concat([Buffer.from([0xe9, 0xfc]), Buffer.from(` token ${TOKEN} `), Buffer.from([0xff])]).toString("base64"),
  ],
  ["large", base64(`${"some words of a long file\n".repeat(20_000)}${TOKEN}\n`)],
  ["large, with zeros in it", base64(`${"\0\0some words\0\n".repeat(2000)}${TOKEN}\n`)],
])) {
  test(`what is in base64 is looked at as what it is, and stays base64: ${what}`, async () => {
    const clean = await redactValue(text);
    assert.notEqual(clean, text);
    let plain = clean;
    // As often as it was encoded.
    for (let depth = 0; depth < 3; depth += 1) {
      assert.ok(!plain.includes(TOKEN));
      plain = plain.replace(/(?:[\w+/-]{60,}\n)*[\w+/-]{20,}={0,2}/g, (/** @type {string} */ run) =>
        Buffer.from(run, "base64").toString(what.includes("coding") ? "utf16le" : "latin1"),
      );
      if (/redacted/.test(plain)) break;
    }
    assert.match(plain, /\[redacted:github/);
    assert.ok(!plain.includes(TOKEN));
  });
}

test("what is in base64 and holds no secret stays as it is, byte by byte", async () => {
  for (const text of [
    base64("nothing to see here, really nothing"),
    Buffer.from(Array.from({ length: 9000 }, (_, at) => (at * 7919) % 256)).toString("base64"),
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  ]) {
    assert.equal(await redactValue(text), text);
  }
});

test("arguments keep each key and value as they are but the secrets: keys that come again, deep ones, escapes, and what is no JSON", async () => {
  const escaped = `\\u0067${TOKEN.slice(1)}`;
  const deep = (/** @type {number} */ depth) => `${'{"a":['.repeat(depth)}"${TOKEN}"${"]}".repeat(depth)}`;
  for (const text of [
    `{"token":"${TOKEN}","token":"second"}`,
    `{"token":"first","token":"${TOKEN}"}`,
    `{"a":{"token":"${TOKEN}","token":1},"a":2}`,
    `{"say":"${escaped}"}`,
    `{"nested":${JSON.stringify(JSON.stringify({ token: TOKEN, again: JSON.stringify([TOKEN]) }))}}`,
    `{"file":"${base64(`the token is ${TOKEN}`)}"}`,
    `{"torn":"${TOKEN}`,
    `{"${TOKEN}":1, "b" : 1.0e2}`,
    deep(3000),
    `{"a":`.repeat(3000) + `"${TOKEN}`,
  ]) {
    const { arguments: clean } = await redactValue({ arguments: text });
    const plain = clean.replaceAll(/[\w+/]{40,}=*/g, (/** @type {string} */ run) =>
      Buffer.from(run, "base64").toString("latin1"),
    );
    assert.match(plain, /\[redacted:/, text.slice(0, 80));
    assert.ok(!plain.includes(TOKEN) && !plain.includes(escaped), text.slice(0, 80));
    if (!text.includes("torn") && !text.endsWith(TOKEN)) JSON.parse(clean);
  }
  const { arguments: kept } = await redactValue({ arguments: `{ "b" : 1.0e2, "token":"${TOKEN}", "b":[ 2 ] }` });
  assert.match(kept, /^\{ "b" : 1\.0e2, "token":"\[redacted:github:[0-9a-f]{8}\]", "b":\[ 2 \] \}$/);
});

test("a value that is nested deeper than anything is not shown, and costs nothing beside it", async () => {
  let deep = /** @type {any} */ (TOKEN);
  for (let depth = 0; depth < 100_000; depth += 1) deep = depth % 2 ? [deep] : { deep };
  const clean = await redactValue([{ input: deep, beside: "kept" }, "kept"]);
  assert.deepEqual([clean[0].beside, clean[1]], ["kept", "kept"]);
  let [found, depth] = [clean[0].input, 0];
  for (; typeof found === "object"; depth += 1) [found] = Object.values(found);
  assert.match(found, /^\[not shown: nested deeper than 500\]$/);
});

/** @param {string} key */
const linesOf = (key) => key.trim().split("\n");
/** @param {(line: string, at: number) => string} shown @param {string} [between] */
const eachLine =
  (shown, between = "\n") =>
  (/** @type {string} */ key) =>
    linesOf(key).map(shown).join(between);
/** @type {Record<string, (key: string) => string>} */
const FORMS = {
  "as it is": (key) => key,
  "with a carriage return in each line": eachLine((line) => line, "\r\n"),
  "numbered by a Read tool": eachLine((line, at) => `${String(at + 9).padStart(6)}\u2192${line}`),
  "numbered, with an arrow": eachLine((line, at) => `${String(at + 9).padStart(6)}->${line}`),
  "numbered, with a tab": eachLine((line, at) => `${at + 1}\t${line}`),
  "numbered, with a colon": eachLine((line, at) => `${at + 98}:${line}`),
  "numbered, with a bar": eachLine((line, at) => ` ${at + 1} | ${line}`),
  "taken out in a diff": eachLine((line) => `-${line}`),
  "put in in a diff": eachLine((line) => `+${line}`),
  quoted: eachLine((line) => `> ${line}`),
  "quoted twice": eachLine((line) => `> > ${line}`),
  "in a comment": eachLine((line) => `// ${line}`),
  "in a comment of a shell": eachLine((line) => `# ${line}`),
  indented: eachLine((line) => `        ${line}`),
  "in strings put together": eachLine((line) => `  "${line}\\n" +`),
  "in a string": (key) => JSON.stringify(key),
  "in a string of a string": (key) => JSON.stringify(JSON.stringify(key)),
  "on one line": eachLine((line) => line, " "),
  "on one line without blanks": eachLine((line) => line, ""),
  "in a variable": eachLine((line) => line, "\\n"),
  "with empty lines": eachLine((line) => line, "\n\n"),
  "found by grep": eachLine((line, at) => `src/key.pem:${at + 98}:${line}`),
  "without its end": (key) => linesOf(key).slice(0, -1).join("\n"),
  "without its beginning": (key) => linesOf(key).slice(1).join("\n"),
  "numbered, without its end": (key) =>
    linesOf(key)
      .slice(0, -1)
      .map((line, at) => `${at + 1}\u2192${line}`)
      .join("\n"),
  "in a diff, without its end": (key) =>
    linesOf(key)
      .slice(0, -1)
      .map((line) => `+${line}`)
      .join("\n"),
  "cut in the middle": (key) => key.slice(0, Math.floor(key.length * 0.6)),
};

/** @returns {Record<string, string>} */
function keys() {
  /** @param {any} pair @param {object} how */
  const pem = ({ privateKey }, how) => String(privateKey.export({ format: "pem", ...how }));
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const curve = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const hidden = { cipher: "aes-256-cbc", passphrase: "x" };
  const body = Buffer.from(pem(rsa, { type: "pkcs8" }))
    .toString("base64")
    .replace(/(.{70})/g, "$1\n");
  const named = (/** @type {string} */ name, /** @type {string} */ head = "") =>
    `-----BEGIN ${name}-----\n${head}${body}\n-----END ${name}-----\n`;
  return {
    "RSA, PKCS1": pem(rsa, { type: "pkcs1" }),
    "RSA, PKCS8": pem(rsa, { type: "pkcs8" }),
    "RSA, PKCS1, encrypted": pem(rsa, { type: "pkcs1", ...hidden }),
    "RSA, PKCS8, encrypted": pem(rsa, { type: "pkcs8", ...hidden }),
    SEC1: pem(curve, { type: "sec1" }),
    "SEC1, encrypted": pem(curve, { type: "sec1", ...hidden }),
    ed25519: pem(generateKeyPairSync("ed25519"), { type: "pkcs8" }),
    x25519: pem(generateKeyPairSync("x25519"), { type: "pkcs8" }),
    OpenSSH: named(["OPENSSH", "PRIVATE KEY"].join(" ")),
    DSA: named(["DSA", "PRIVATE KEY"].join(" ")),
    PGP: named(["PGP", "PRIVATE KEY BLOCK"].join(" "), "Version: GnuPG v2\n\n"),
  };
}

for (const [kind, key] of Object.entries(keys())) {
  test(`a private key leaves in no form: ${kind}`, async () => {
    const body = linesOf(key).filter((line) => !/-----|:|^$/.test(line));
    for (const [form, shown] of Object.entries(FORMS)) {
      const text = `the first word\n${shown(key)}\nthe last words`;
      const clean = await redactValue(text);
      assert.match(clean, /^the first word\s/, form);
      assert.match(clean, /the last words$/, form);
      const plain = `${clean}${clean.replace(/\s|\\n/g, "")}`;
      for (const line of body)
        for (let at = 0; at + 8 <= line.length; at += 1)
          assert.ok(!plain.includes(line.slice(at, at + 8)), `${form}: ${clean}`);
    }
  });
}

test("what only speaks of private keys stays as it is", async () => {
  for (const text of [
    "a file begins with -----BEGIN RSA PRIVATE KEY----- and goes on",
    "`-----BEGIN PRIVATE KEY-----`",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaaaaaaaaaaaaaaaa\n-----END PUBLIC KEY-----",
    "grep -r -e '-----END RSA PRIVATE KEY-----' .",
  ]) {
    assert.equal(await redactValue(text), text);
  }
});

test("a text attachment is no way out by any agent's own file", async () => {
  const home = mkdtempSync(join(tmpdir(), "leftoff-forms-"));
  const store = await openStore({ home: join(home, ".leftoff"), project: home, redact: "replace" });
  try {
    const session = await store.create();
    const file = `first line\ntoken = "${TOKEN}"\nlast line\n`;
    await session.append([
      {
        role: "user",
        content: "see the file",
        attachments: [
          { name: "a.txt", mime: "text/plain", data: base64(file) },
          { name: "large.txt", mime: "text/plain", data: base64(`${"words ".repeat(20_000)}${file}`) },
        ],
      },
      {
        role: "assistant",
        content: "I see",
        assistant: { toolCalls: [{ id: "1", name: "write", arguments: JSON.stringify({ file: base64(file) }) }] },
      },
      {
        role: "tool",
        content: "done",
        tool: { callId: "1", name: "write" },
        attachments: [{ name: "b.md", mime: "text/markdown", data: base64(file) }],
      },
      { role: "user", content: "go on" },
    ]);
    const decodedToo = (/** @type {string} */ text) =>
      text + text.replace(/[A-Za-z0-9+/]{24,}=*/g, (run) => Buffer.from(run, "base64").toString("latin1"));
    for (const agent of ["claude-code", "codex", "opencode", "gemini", "qwen", "copilot", "pi"]) {
      const { path } = await store.writeForAgent(session, { agent, window: 400_000, env: { HOME: join(home, agent) } });
      assert.ok(!decodedToo(readFileSync(path, "utf8")).includes(TOKEN), agent);
    }
    for (const format of /** @type {const} */ ([
      "leftoff",
      "openai-chat",
      "openai-responses",
      "anthropic",
      "gemini",
      "ai-sdk",
      "ai-sdk-ui",
    ])) {
      assert.ok(
        !decodedToo(JSON.stringify(await session.context({ window: 400_000, format }))).includes(TOKEN),
        format,
      );
    }
    assert.ok(!decodedToo(await session.export("json")).includes(TOKEN));
  } finally {
    await store.close();
    rmSync(home, { recursive: true });
  }
});

test("secrets that are told are those that stand there", async () => {
  const { secrets } = await door.redact({
    a: `x ${TOKEN} y`,
    arguments: `{"a":"${TOKEN}"}`,
    data: base64(`the token is ${TOKEN} there`),
  });
  assert.deepEqual(
    secrets.map(({ rule, count }) => [rule, count]),
    [["github", 3]],
  );
});
