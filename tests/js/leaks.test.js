// @ts-check
// What leaves has no part of a secret that the whole text has: whatever is cut, folded, summed up or kept, by every
// exit.
// Tries: js/privacy/redaction.js, src/operation/outgoing/
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { exportHtml } from "../../js/html/index.js";
import { Session, Store, openStore } from "../../js/index.js";
import { handleOf } from "../../js/session/session.js";
import { ALL } from "./planted-secrets.js";

const LEAST = 8;
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
const WINDOWS = [700, 1000, 1500, 2500, 4000, 7000, 12_000, 30_000, 400_000];

const pem = (/** @type {any} */ how) =>
  String(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "pem", ...how }));
const KEYS = [
  pem({ type: "pkcs1" }),
  pem({ type: "pkcs8" }),
  pem({ type: "pkcs8", cipher: "aes-256-cbc", passphrase: "x" }),
];
const SECRETS = [...ALL, ...KEYS.map((text) => ({ text, secret: text }))];

/**
 * What of a secret nobody else has: no line that names the kind of a key, of an address the name and the password.
 * @param {string} secret
 */
function ownParts(secret) {
  const [, user] = /^[\w+]+:\/\/([^@]*)@/.exec(secret) ?? [];
  const lines = (user ?? secret).split(/\n|\\n/).filter((line) => !/-----|^[\w-]+: /.test(line));
  return lines.flatMap((line) =>
    Array.from({ length: Math.max(0, line.length - LEAST + 1) }, (_, at) => line.slice(at, at + LEAST)),
  );
}

const PARTS = new Set(SECRETS.flatMap(({ secret }) => ownParts(secret)));

/** The parts of secrets in a value, also in what it has in base64. @param {unknown} value */
function findLeaks(value) {
  const json = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const text = json + json.replace(/[A-Za-z0-9+/]{24,}=*/g, (run) => Buffer.from(run, "base64").toString("latin1"));
  const found = [];
  for (let at = 0; at + LEAST <= text.length; at += 1) {
    const part = text.slice(at, at + LEAST);
    if (PARTS.has(part)) found.push(`${part} in ${text.slice(Math.max(0, at - 60), at + 40)}`);
  }
  return found.slice(0, 3);
}

let state = 7;
const chance = (/** @type {number} */ below) => {
  state = (state * 48_271) % 2_147_483_647;
  return state % below;
};
const WORDS = [
  "the file",
  "was read",
  "and changed",
  "by the build",
  "We decided to keep it.",
  "TODO: try again",
  "in src/main.rs",
  "it failed",
  "because of the port",
];
const words = (/** @type {number} */ size) => {
  let text = "";
  while (text.length < size) text += `${WORDS[chance(WORDS.length)]} `;
  return text.slice(0, size);
};

/** A long text, so full of secrets that each cut goes through one. @param {number} size @param {string} [between] */
function full(size, between = "\n") {
  let text = words(chance(60));
  while (text.length < size) text += `${between}${SECRETS[chance(SECRETS.length)]?.text}${between}${words(chance(50))}`;
  return text;
}

/** @param {(places: { home: string, opened: (redact?: any) => Promise<Store> }) => Promise<void>} work */
async function inFolder(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-leaks-"));
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

/** @param {Store} store @param {number} size of each text */
async function fillSession(store, size) {
  const session = await store.create();
  const first = SECRETS[chance(SECRETS.length)]?.text ?? "";
  await session.append({ role: "user", content: `${words(10 + chance(65))} ${first}\n${full(size)}` });
  for (let place = 0; place < 6; place += 1) {
    const id = `call-${place}`;
    const input = JSON.stringify({
      command: `cat ${full(size / 4, " ")}`,
      file_path: `src/${place}.rs`,
      content: full(size),
    });
    const text = full(size);
    await session.append([
      {
        role: "assistant",
        content: full(size),
        assistant: {
          reasoning: [{ text: full(size) }],
          toolCalls: [{ id, name: place % 2 ? "Bash" : "Read", arguments: input }],
        },
      },
      {
        role: "tool",
        content:
          place % 2
            ? text
            : text
                .split("\n")
                .map((line, at) => `${at + 1}\u2192${line}`)
                .join("\n"),
        tool: { callId: id, name: place % 2 ? "Bash" : "Read", isError: place === 3 },
      },
      {
        role: "user",
        content: full(size),
        attachments: [{ name: "notes.txt", mime: "text/plain", data: Buffer.from(full(size)).toString("base64") }],
      },
    ]);
  }
  await session.appendTool({
    call: { id: "ran", name: "Bash", arguments: { command: full(400, " ") } },
    result: { content: full(size), error: full(600), exitCode: 1 },
  });
  await session.append({ role: "user", content: full(size) });
  await session.flush();
  return session;
}

/**
 * What leaves, by the public name that gives it. Each public name of a store and of a session is here, or among those
 * that give nothing that was said, or among those that give it as it is, which docs/PRIVACY.md names.
 * @type {Record<string, Record<string, (session: Session, store: Store, home: string) => unknown>>}
 */
const EXITS = {
  session: {
    context: async (session) => {
      const all = [];
      for (const window of WINDOWS) all.push(await contextOf(session, { window }));
      for (const format of FORMATS) all.push(await contextOf(session, { window: 9000, format }));
      /** @type {unknown[]} */
      const told = [];
      all.push(
        await contextOf(session, {
          window: 8000,
          summarize: (/** @type {unknown} */ request) => (told.push(request), `they talked: ${full(200)}`),
        }),
      );
      return [all, told, await contextOf(session, { window: 8000 })];
    },
    lastContext: async (session) => [await session.lastContext(), await session.lastContext({ full: true })],
    state: (session) => session.state(),
    brief: async (session) =>
      Promise.all([20, 60, 150, 400, 1000, 4000].map((maxTokens) => session.brief({ maxTokens }))),
    summaryOf: async (session) => {
      /** @type {string[]} */
      const ids = [];
      for await (const { id } of session.messages()) ids.push(id);
      return Promise.all(
        [50, 300, 2000].map((maxTokens) =>
          session.summaryOf({ startMessageId: ids[0] ?? "", endMessageId: ids.at(-2) ?? "", maxTokens }),
        ),
      );
    },
    compact: (session) => session.compact({ window: 30_000 }),
    resume: async (session) => Promise.all([2500, 9000].map((window) => session.resume({ window }))),
    export: async (session) => {
      let page = "";
      for await (const piece of exportHtml(session)) page += piece;
      // Behind the session are modules, and the page's own script.
      const [said] = page.split('<script type="text/plain"');
      return [await session.export("json"), await session.export("markdown"), said];
    },
    search: async (session) => {
      const hits = [];
      for (const question of ["file", '"file" which']) for await (const hit of session.search(question)) hits.push(hit);
      return hits;
    },
    tools: (session) => session.tools(),
    metadata: (session) => session.metadata,
    examine: (session) => session.examine(),
  },
  store: {
    list: (_, store) => store.list({ all: true }),
    find: async (_, store) => store.find((await store.list({ all: true }))[0]?.title.split(" ")[0] ?? ""),
    search: async (_, store) => {
      const hits = [];
      for await (const hit of store.search("file")) hits.push(hit);
      return hits;
    },
    newestMessages: async (session, store) => {
      const all = [];
      for await (const message of store.newestMessages(session)) all.push(message);
      return all;
    },
    recall: async (_, store) =>
      Promise.all(
        ["what is in the file?", "which file has the key?", "Bash"].map((question) =>
          store.recall(question, { maxTokens: 3000 }),
        ),
      ),
    writeForAgent: async (session, store, home) => {
      const all = [];
      for (const agent of AGENTS) {
        const { path, ...handed } = await store.writeForAgent(session, {
          agent,
          window: 20_000,
          env: { HOME: join(home, `${agent} ${chance(1e9)}`) },
        });
        all.push(readFileSync(path, "utf8"), handed);
      }
      return all;
    },
    redacted: async (session, store) => {
      const all = [];
      for await (const message of session.messages()) all.push((await store.redacted(message)).value);
      return all;
    },
    outputs: async (session, store) => {
      const all = [];
      for await (const { content } of session.messages()) {
        const { path } = await store.outputs.save({
          sessionId: session.id,
          toolName: "bash",
          args: { command: content },
          result: [content],
        });
        for (const maxTokens of [300, 3000])
          all.push((await store.outputs.prompt({ question: "What?", outputs: [path], maxTokens })).text);
      }
      return [...all, (await store.outputs.menu()).text];
    },
    info: (session, store) => store.info(session),
    usage: async (session, store) => {
      await session.append({ role: "assistant", content: "", assistant: { model: "gpt-4o", usage: { input: 1 } } });
      return store.usage({ by: ["session", "agent", "model", "project", "day"], all: true });
    },
    turn: async (_, store) => {
      await store.writeSetting("recall", "prompt");
      return Promise.all(
        ["what is in the file?", "which file has the key?", "Bash"].map((prompt) => store.turn(prompt, { prompt })),
      );
    },
    doctor: (_, store) => store.doctor({ secrets: true }),
    trashed: async (session, store) => {
      await store.delete(await store.fork(session));
      return store.trashed();
    },
    restore: async (session, store) => {
      const { id } = await store.fork(session);
      await store.delete(await store.session(id));
      return store.restore(id);
    },
    secrets: (_, store) => store.secrets,
  },
};

/** Give nothing that was said: ids, paths, settings, sessions, or nothing at all. */
const SILENT = {
  session: [
    "constructor",
    "id",
    "path",
    "placement",
    "stop",
    "pause",
    "record",
    "complete",
    "rename",
    "archive",
    "unarchive",
    "pin",
    "pins",
    "unpin",
    "setAgent",
    "updateAgent",
    "notices",
    "others",
    "refresh",
    "flush",
    "fork",
    "close",
  ],
  store: [
    "constructor",
    "settings",
    "problems",
    "listSettings",
    "writeSetting",
    "unsetSetting",
    "continue",
    "create",
    "session",
    "mend",
    "import",
    "importAll",
    "listImportable",
    "record",
    "goesOn",
    "fork",
    "delete",
    "relocate",
    "move",
    "tidy",
    "commit",
    "point",
    "current",
    "notices",
    "close",
  ],
};
/** Give what was said as it is: to who writes it on, keeps it, or shows it by itself. */
const AS_IT_IS = { session: ["messages", "follow", "append", "appendTool"], store: [] };

for (const [name, kind] of /** @type {const} */ ([
  ["session", Session],
  ["store", Store],
])) {
  test(`each public name of a ${name} is known as a way out, or as none`, () => {
    const names = Object.getOwnPropertyNames(kind.prototype).sort();
    assert.deepEqual(names, [...Object.keys(EXITS[name] ?? {}), ...SILENT[name], ...AS_IT_IS[name]].sort());
  });
}

/** @param {Session} session @param {any} request */
async function contextOf(session, request) {
  try {
    return await session.context(request);
  } catch (error) {
    // Of some budgets nothing is left beside the newest message.
    if (/** @type {any} */ (error).code !== "budget_too_small") throw error;
    return /** @type {Error} */ (error).message;
  }
}

for (const size of [300, 5000, 40_000]) {
  test(`no part of a secret leaves by any exit, in texts of ${size} letters`, () =>
    inFolder(async ({ home, opened }) => {
      const { id } = await fillSession(await opened(), size);
      const store = await opened("replace");
      const session = await store.session(id);
      for (const exits of Object.values(EXITS)) {
        for (const [exit, leaves] of Object.entries(exits))
          assert.deepEqual(findLeaks(await leaves(session, store, home)), [], exit);
      }
      // What was appended just now is known as well.
      await session.append({ role: "user", content: full(size) });
      assert.deepEqual(
        findLeaks([
          session.metadata,
          await session.state(),
          await session.brief(),
          await contextOf(session, { window: 3000 }),
        ]),
        [],
      );
    }));
}

test("without the setting each of them lets something out: they are ways out", () =>
  inFolder(async ({ home, opened }) => {
    const store = await opened();
    const session = await fillSession(store, 5000);
    for (const [exit, leaves] of Object.entries({ ...EXITS.session, ...EXITS.store })) {
      if (["secrets", "doctor", "examine", "compact"].includes(exit)) continue;
      assert.notDeepEqual(findLeaks(await leaves(session, store, home)), [], exit);
    }
  }));

test("a session that is begun under the setting lets nothing out, and what is written on is what was said", () =>
  inFolder(async ({ opened }) => {
    const store = await opened("replace");
    const [one] = SECRETS;
    const session = await store.create({
      title: `About ${one?.text}`,
      agent: { command: `run ${one?.text}`, model: "gpt-5" },
    });
    await session.append({ role: "user", content: `is it ${one?.text}` });
    assert.deepEqual(findLeaks([session.metadata, await store.list()]), []);
    const fork = await store.fork(session);
    assert.deepEqual(findLeaks(fork.metadata), []);
    assert.equal(handleOf(fork).metadata.agent.command, `run ${one?.text}`);
    assert.ok(handleOf(fork).metadata.display.title.includes(String(one?.text)));
    await session.rename(`Now ${one?.text}`);
    assert.equal(handleOf(session).metadata.display.title, `Now ${one?.text}`);
  }));
