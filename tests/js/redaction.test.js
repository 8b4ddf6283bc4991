// @ts-check
// What leaves a store goes through one door: with "replace" no planted secret gets out, with "report" no byte is
// another.
// Tries: js/privacy/, src/operation/outgoing/, src/privacy/
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { rules } from "@secretlint/secretlint-rule-preset-recommend";

import { MemoryStorage, countTokens, openStore } from "../../js/index.js";
import { Redaction } from "../../js/privacy/redaction.js";
import { nodePath } from "./node-path.js";
import { ALL, PLANTED, leakedSecrets, lines } from "./planted-secrets.js";

/** @typedef {import("../../js/store/store.js").Store} Store */
/** @typedef {import("../../js/session/session.js").Session} Session */

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));
const FORMATS = /** @type {const} */ ([
  "leftoff",
  "openai-chat",
  "openai-responses",
  "anthropic",
  "gemini",
  "ai-sdk",
  "ai-sdk-ui",
]);
const AGENTS = ["claude-code", "codex", "opencode", "gemini", "qwen", "copilot", "pi"];
const WINDOW = 400_000;
const door = new Redaction("replace", { storage: new MemoryStorage(), folder: "/home" });

/** @param {(places: { home: string, opened: (redact?: any) => Promise<Store> }) => Promise<void>} work */
async function inFolder(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-redaction-"));
  /** @type {Store[]} */
  const open = [];
  const opened = async (/** @type {any} */ redact) => {
    const store = await openStore({ home: join(home, ".leftoff"), project: home, redact });
    open.push(store);
    return store;
  };
  try {
    await work({ home, opened });
  } finally {
    for (const store of open) await store.close();
    rmSync(home, { recursive: true });
  }
}

/** Each secret in each place that a session has for words. @param {Store} store */
async function plantSecrets(store) {
  const [first] = ALL;
  const session = await store.create({ title: `About ${first?.text}`, agent: { command: `run ${first?.text}` } });
  for (const [place, { text }] of ALL.entries()) {
    const id = `call-${place}`;
    const input = JSON.stringify({
      said: text,
      env: { AWS_SECRET_ACCESS_KEY: PLANTED.aws?.[0]?.secret },
      [text]: 1,
      signature: text,
    });
    await session.append([
      {
        role: "user",
        content: `is ${text} right?`,
        attachments: [{ name: text, mime: "text/plain", path: `/${place}` }],
      },
      {
        role: "assistant",
        content: `I see ${text}`,
        assistant: {
          reasoning: [{ text: `hm, ${text}`, signature: `c2ln${place}` }],
          toolCalls: [{ id, name: "bash", arguments: input }],
        },
      },
      { role: "tool", content: `{\n  "found": ${JSON.stringify(text)}\n}`, tool: { callId: id, name: "bash" } },
    ]);
  }
  await session.append({ role: "user", content: "go on" });
  await session.stop({ summary: `stopped at ${first?.text}` });
  return session;
}

/**
 * What leaves by each exit of the library.
 * @param {Store} store
 * @param {Session} session
 * @param {string} home
 * @returns {Promise<Record<string, any>>}
 */
async function exits(store, session, home) {
  const out = /** @type {Record<string, any>} */ ({});
  for (const format of FORMATS) out[format] = await session.context({ window: WINDOW, format });
  out.narrow = await session.context({ window: 8000, cold: true });
  out.brief = await session.brief();
  const messages = [];
  for await (const { id } of session.messages()) messages.push(id);
  out.summaryOf = await session.summaryOf({
    startMessageId: messages[0] ?? "",
    endMessageId: messages.at(-2) ?? "",
    maxTokens: 4000,
  });
  /** @type {unknown[]} */
  const told = [];
  out.summarized = await session.context({
    window: 9000,
    cold: true,
    summarize: (request) => (told.push(request), "they talked"),
  });
  out.told = told;
  out.json = await session.export("json");
  out.markdown = await session.export("markdown");
  for (const agent of AGENTS) {
    const { id, path, command, takes, ...handed } = await store.writeForAgent(session, {
      agent,
      window: WINDOW,
      env: { HOME: join(home, agent) },
    });
    out[agent] = { file: readFileSync(path, "utf8"), handed };
  }
  out.resumed = await session.resume({ window: WINDOW });
  out.listed = (await store.redacted(await store.list())).value;
  return out;
}

test("a secret of each kind that the rules know is planted, and found whole", async () => {
  const kinds = rules
    .map(({ meta }) => meta.id.replace("@secretlint/secretlint-rule-", ""))
    .filter((name) => name !== "filter-comments");
  assert.deepEqual(Object.keys(PLANTED).sort(), kinds.sort());
  for (const { text, secret } of ALL) {
    const { value, secrets } = await door.redact(`see ${text}\nthere`);
    assert.deepEqual(
      secrets.map(({ count }) => count),
      [1],
      text,
    );
    assert.ok(
      value.startsWith("see ") && value.endsWith("\nthere") && lines(secret).every((line) => !value.includes(line)),
      value,
    );
  }
});

test("who wrote a conversation cannot switch the rules off", async () => {
  for (const { text } of ALL)
    assert.equal((await door.redact(`// secretlint-disable\n${text}\n// secretlint-disable-line`)).secrets.length, 1);
});

test("with replace no secret leaves by any exit, and the same one has the same placeholder everywhere", () =>
  inFolder(async ({ home, opened }) => {
    const { id } = await plantSecrets(await opened());
    const open = await opened();
    const plain = await exits(open, await open.session(id), join(home, "plain"));
    for (const [exit, value] of Object.entries(plain))
      assert.notEqual(leakedSecrets(JSON.stringify(value)).length, 0, `${exit} has nothing to hide`);
    const store = await opened("replace");
    const clean = await exits(store, await store.session(id), join(home, "clean"));
    for (const [exit, value] of Object.entries(clean))
      assert.deepEqual(leakedSecrets(typeof value === "string" ? value : JSON.stringify(value)), [], exit);
    const names = (/** @type {unknown} */ value) => new Set(JSON.stringify(value).match(/\[redacted:[^\]]*\]/g));
    assert.equal(names(clean.json).size, names(clean).size);
    assert.equal(names(clean.json).size, new Set(store.secrets.map(({ placeholder }) => placeholder)).size);
    for (const { strategy, tokensUsed, tokenBudget } of [clean.narrow, clean.leftoff])
      assert.ok(tokensUsed <= tokenBudget, strategy);
    const calls = clean.leftoff.messages.flatMap((/** @type {any} */ { assistant }) => assistant?.toolCalls ?? []);
    for (const { arguments: text } of calls) assert.equal(typeof JSON.parse(text), "object");
    const signatures = (/** @type {any} */ { messages }) =>
      messages.flatMap((/** @type {any} */ { assistant }) =>
        (assistant?.reasoning ?? []).map(({ signature = "" }) => signature),
      );
    assert.deepEqual(signatures(clean.leftoff), signatures(plain.leftoff));
  }));

test("with report no byte is another, and each secret is told", () =>
  inFolder(async ({ home, opened }) => {
    const { id } = await plantSecrets(await opened());
    const from = async (/** @type {any} */ redact) => {
      const store = await opened(redact);
      const value = await exits(store, await store.session(id), join(home, redact));
      return { value, told: store.secrets };
    };
    // The first builds summaries, which the others find.
    const [, off, report] = [await from("off"), await from("off"), await from("report")];
    const bare = (/** @type {any} */ value) =>
      JSON.parse(
        JSON.stringify(value, (key, one) => (["secrets", "bytesRead", "cache"].includes(key) ? undefined : one)),
      );
    for (const exit of Object.keys(off.value)) {
      if (!AGENTS.includes(exit)) assert.deepEqual(bare(report.value[exit]), bare(off.value[exit]), exit);
      else
        assert.equal(leakedSecrets(report.value[exit].file).length, leakedSecrets(off.value[exit].file).length, exit);
    }
    assert.deepEqual(off.told, []);
    assert.deepEqual(
      new Set(report.told.map(({ rule }) => rule)),
      new Set(Object.keys(PLANTED).filter((rule) => rule !== "gcp")),
    );
  }));

test("a placeholder that is longer than its secret is paid from the budget", () =>
  inFolder(async ({ opened }) => {
    const store = await opened("replace");
    const session = await store.create();
    // About the shortest secret that a rule knows.
    for (let place = 0; place < 300; place += 1)
      await session.append({ role: place % 2 ? "assistant" : "user", content: `ftp://user${place}:pass1@a.io` });
    for (const window of [1000, 2000, 4000]) {
      const { messages, tokensUsed, tokenBudget, secrets = [] } = await session.context({ window });
      assert.ok(tokensUsed <= tokenBudget && secrets.length > 0);
      assert.ok(!JSON.stringify(messages).includes("pass1"));
    }
  }));

test("the command line lets no secret out, nor into a file, and says what it kept", () =>
  inFolder(async ({ home, opened }) => {
    const { id } = await plantSecrets(await opened());
    const typed = (/** @type {string[]} */ ...args) => {
      const env = { PATH: process.env.PATH, HOME: home, LEFTOFF_HOME: join(home, ".leftoff") };
      return spawnSync(nodePath, [entry, ...args, "--workspace", home], { env, encoding: "utf8" });
    };
    const file = join(home, "out.md");
    const commands = [
      ["list"],
      ["show", id],
      ["context", id, "--window", "400000"],
      ["export", id, "--to", "markdown"],
      ["export", id, "--to", "json"],
      ["resume", id, "--print"],
      ["resume", id, "--with", "codex", "--print"],
    ];
    for (const command of commands) {
      assert.notEqual(
        leakedSecrets(typed(...command).stdout).length + Number(command.includes("codex")),
        0,
        `${command} has nothing to hide`,
      );
      for (const json of [[], ["--json"]]) {
        const { status, stdout, stderr } = typed(...command, ...json, "--redact", "replace");
        assert.deepEqual([status, leakedSecrets(stdout), leakedSecrets(stderr)], [0, [], []], command.join(" "));
        assert.match(stderr, /a secret \([\w-]+\) is in this/);
      }
    }
    assert.equal(typed("settings", "redact", "replace").status, 0);
    assert.equal(typed("export", id, "--to", "markdown", "--output", file).status, 0);
    assert.deepEqual(leakedSecrets(readFileSync(file, "utf8")), []);
    assert.deepEqual(leakedSecrets(typed("resume", "--with", "nobody", id).stderr), []);
    assert.equal(typed("list", "--redact", "hide").status, 2);
  }));

test("doctor --secrets finds each in the files, tells none, and writes nothing", () =>
  inFolder(async ({ home, opened }) => {
    const { id, path } = await plantSecrets(await opened());
    const [report] = await (await opened()).doctor({ id, secrets: true });
    const found = (report?.problems ?? []).filter(({ code }) => code === "secret");
    const log = readFileSync(join(path, "messages.jsonl"));
    const lines = found
      .filter(({ file }) => file === "messages.jsonl")
      .map(({ start, end }) => log.subarray(start, end).toString());
    // Each is in a prompt, an answer and a result.
    assert.equal(lines.length, 3 * ALL.length);
    for (const line of lines) assert.equal(typeof JSON.parse(line), "object");
    assert.ok(found.some(({ file }) => file === "events.jsonl") && found.some(({ file }) => file === "metadata.json"));
    assert.deepEqual(leakedSecrets(JSON.stringify(found)), []);
    assert.ok(!existsSync(join(home, ".leftoff", "redaction.key")));
    assert.deepEqual(
      (await (await opened()).doctor({ id })).flatMap(({ problems }) => problems),
      [],
    );
  }));

test("what cannot be meant is refused, and no project opens what its user has shut", () =>
  inFolder(async ({ home, opened }) => {
    await assert.rejects(opened("hide"), {
      code: "invalid_request",
      message: 'expected off, report, replace for "redact", but found "hide" instead',
    });
    const project = join(home, "project");
    mkdirSync(project);
    const store = await openStore({ home: join(home, ".leftoff"), project });
    await assert.rejects(store.writeSetting("redact", "hide"), { code: "invalid_setting" });
    await store.writeSetting("redact", "replace");
    await store.writeSetting("redact", "off", { project: true });
    await store.close();
    const other = await openStore({ home: join(home, ".leftoff"), project });
    assert.equal(other.settings.redact, "replace");
    assert.match(
      other.problems.map(({ message }) => message).join(),
      /"redact" in .* must be "replace", as in the home's settings, or stricter/,
    );
    await other.close();
  }));

test("what stands for a secret costs no brief and no summary more than it may have", () =>
  inFolder(async ({ opened }) => {
    const store = await opened("replace");
    const session = await store.create();
    for (let n = 0; n < 12; n += 1) {
      const id = `call-${n}`;
      await session.append([
        { role: "user", content: `Run deploy ${n} with ${PLANTED.aws?.[0]?.text}` },
        {
          role: "assistant",
          content: "",
          assistant: {
            toolCalls: [
              {
                id,
                name: "bash",
                arguments: JSON.stringify({ command: `deploy --step ${n} ${PLANTED.aws?.[0]?.text}` }),
              },
            ],
          },
        },
        { role: "tool", content: "failed", tool: { callId: id, name: "bash", isError: true, exitCode: 1 } },
      ]);
    }
    const ids = [];
    for await (const { id } of session.messages()) ids.push(id);
    const range = { startMessageId: String(ids[0]), endMessageId: String(ids.at(-1)) };
    for (const maxTokens of [20, 60, 100, 150, 200, 300, 500, 900]) {
      for (const text of [await session.brief({ maxTokens }), await session.summaryOf({ ...range, maxTokens })]) {
        assert.ok((await countTokens(text)) <= maxTokens, `${maxTokens}: ${text}`);
        assert.equal(leakedSecrets(text).length, 0, text);
        if (maxTokens >= 500) assert.match(text, /deploy/);
      }
    }
  }));
