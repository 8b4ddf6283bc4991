// @ts-check
// The component's hosts in Node, Python and Rust, on stores that the command line wrote and goes on with.
// Tries: crates/component/, src/operation/host_protocol.rs
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import {
  MemoryStorage,
  compareContexts,
  countTokens,
  findStopPhrase,
  modelOf,
  pricesOf,
  openStore,
  readTranscript,
} from "../../js/index.js";
import { inNode, inPython, inRust } from "../component/talks.js";
import { PYTHON, RUST_HOST } from "../../scripts/toolchain.mjs";
import { inFolder } from "./git-tools.js";
import { turnAbout } from "./long-session.js";
import { nodePath } from "./node-path.js";
import { entry } from "./terminal.js";

/** @import { Folders, Step, Talk } from "../component/talks.js" */

const root = fileURLToPath(new URL("../..", import.meta.url));
const planes = join(root, "pkg", "o200k_base.planes");
const durable = { format: "leftoff", durable: true, revives: true };
const buffered = { ...durable, durable: false };
const doors = {
  Node: { talk: inNode, skip: false },
  Python: { talk: inPython, skip: !existsSync(PYTHON) && "wasmtime is not installed for Python" },
  Rust: {
    talk: inRust,
    skip:
      !(existsSync(PYTHON) && existsSync(RUST_HOST)) &&
      "wasmtime is not installed for Python, or the host in Rust is not compiled",
  },
};

/** A home and a project, and leftoff's command line there. */
class Fixture {
  /** @param {string} folder */
  constructor(folder) {
    this.folders = { home: join(folder, "store"), project: join(folder, "project") };
    this.env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: this.folders.home };
    mkdirSync(this.folders.project);
  }

  /** @param {string[]} args @param {string} [input] */
  runCli(args, input = "") {
    return execFileSync(nodePath, [entry, ...args], {
      cwd: this.folders.project,
      env: this.env,
      input,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
  }

  /**
   * What the JavaScript package says of a session.
   * @template T
   * @param {string} id
   * @param {(session: any) => Promise<T>} work
   */
  async inJavaScript(id, work) {
    const store = await openStore(this.folders);
    try {
      return await work(await store.session(id));
    } finally {
      await store.close();
    }
  }

  /** The folder of the session of an id. @param {string} id */
  path(id) {
    return this.inJavaScript(id, async (session) => session.path);
  }
}

/**
 * @param {string} law
 * @param {(given: { fixture: Fixture, open: (more?: Partial<Folders>) => Promise<Talk> }) => Promise<void>} body
 */
function check(law, body) {
  for (const [name, { talk, skip }] of Object.entries(doors)) {
    test(`${name}: ${law}`, { skip }, () =>
      inFolder(async (folder) => {
        const fixture = new Fixture(folder);
        /** @type {Talk[]} */
        const talks = [];
        const open = async (more = {}) => {
          const made = await talk({ ...fixture.folders, ...more });
          talks.push(made);
          return made;
        };
        try {
          await body({ fixture, open });
        } finally {
          for (const one of talks) await one.end();
        }
      }),
    );
  }
}

/** @param {any} value */
const lines = (value) => value.map((/** @type {unknown} */ one) => JSON.stringify(one)).join("\n");
/** @param {Talk} talk @param {Step} [step] @returns {Promise<any[]>} */
const read = async (talk, step) =>
  (await talk.ask({ op: "messages", args: ["{}"], ...step })).flatMap((/** @type {string} */ page) => JSON.parse(page));

check("what the command line wrote is read, and a context is the same", async ({ fixture, open }) => {
  const { id } = JSON.parse(fixture.runCli(["new", "--json"]));
  const turns = Array.from({ length: 30 }, (_, turn) => turnAbout(`größe ${turn}`)).flat();
  fixture.runCli(["append", id], lines(turns));
  const path = await fixture.path(id);
  const request = { window: 4000, encoding: "estimate-1", format: "openai-chat" };
  const theirs = await fixture.inJavaScript(id, (session) => session.context(request));
  const talk = await open();
  assert.equal(await talk.ask({ op: "session-at", args: [path, "home"], session: null }), path);
  const ours = JSON.parse(await talk.ask({ op: "context", args: [JSON.stringify({ request, summarizes: false })] }));
  assert.deepEqual(ours.messages, theirs.messages);
  assert.ok(ours.messages.length > 3 && ours.messages.length < turns.length);
  assert.deepEqual(
    (await read(talk)).map(({ content }) => content),
    turns.map(({ content }) => content),
  );
});

check("by its vocabulary o200k_base is counted exactly", async ({ fixture, open }) => {
  const { id } = JSON.parse(fixture.runCli(["new", "--json"]));
  fixture.runCli(["append", id], lines(turnAbout("the parser's entry point")));
  const request = { window: 4000, encoding: "o200k_base" };
  const theirs = await fixture.inJavaScript(id, (session) => session.context(request));
  const talk = await open({ planes });
  await talk.ask({ op: "session-at", args: [await fixture.path(id), "home"], session: null });
  const { report } = JSON.parse(
    await talk.ask({ op: "context", args: [JSON.stringify({ request, summarizes: false })] }),
  );
  assert.equal(report.tokensUsed, theirs.report.tokensUsed);
  assert.equal(report.encoding, "o200k_base");
});

check(
  "a session that it begins is the command line's, too; of two writers nothing is lost",
  async ({ fixture, open }) => {
    const [one, other] = [await open(), await open()];
    const path = await one.ask({ op: "create", args: ['{"title":"Two writers"}'], session: null });
    const id = path.slice(path.lastIndexOf("session-") + "session-".length);
    await other.ask({ op: "session-at", args: [path, "home"], session: null });
    const expected = [];
    for (let turn = 0; turn < 12; turn += 1) {
      const content = `turn ${turn}`;
      expected.push(content);
      const message = JSON.stringify({ role: "user", content });
      if (turn % 3 === 2) fixture.runCli(["append", id], message);
      else await [one, other][turn % 3].ask({ op: "append", args: [message, turn % 2 ? durable : buffered] });
    }
    for (const talk of [one, other])
      assert.deepEqual(
        (await read(talk)).map(({ content }) => content),
        expected,
      );
    for (const talk of [one, other]) await talk.ask({ op: "close" });
    assert.deepEqual(
      JSON.parse(fixture.runCli(["show", id, "--json"])).map((/** @type {any} */ { content }) => content),
      expected,
    );
    const [found] = JSON.parse(await one.ask({ op: "list", args: ["{}"], session: null }));
    const [listed] = JSON.parse(fixture.runCli(["list", "--json"]));
    for (const { id: its, title, messageCount } of [listed, found])
      assert.deepEqual([its, title, messageCount], [id, "Two writers", expected.length]);
  },
);

check(
  "an append that is made again counts once, and one that was built on another message is refused",
  async ({ open }) => {
    const talk = await open();
    await talk.ask({ op: "create", args: ["{}"], session: null });
    const once = ['{"role":"user","content":"Go on."}', durable, '{"operation":"step-7","expected":null}'];
    const first = await talk.ask({ op: "append-once", args: once });
    assert.equal(await talk.ask({ op: "append-once", args: once }), first);
    await assert.rejects(
      talk.ask({ op: "append-once", args: ['{"role":"user","content":"Stop."}', ...once.slice(1)] }),
      { code: "operation_reused" },
    );
    await assert.rejects(talk.ask({ op: "append-once", args: [once[0], durable, '{"expected":null}'] }), {
      code: "conflict",
    });
    assert.deepEqual(
      (await read(talk)).map(({ content }) => content),
      ["Go on."],
    );
  },
);

check("bytes that are no text are kept and told, and do not stop what is around them", async ({ fixture, open }) => {
  const talk = await open();
  const path = await talk.ask({ op: "create", args: ["{}"], session: null });
  const image = randomBytes(100_000).toString("base64");
  const content = [
    { type: "text", text: "Look." },
    { type: "image_url", image_url: { url: `data:image/png;base64,${image}` } },
  ];
  await talk.ask({
    op: "append",
    args: [JSON.stringify({ role: "user", content }), { ...durable, format: "openai-chat" }],
  });
  appendFileSync(join(path, "messages.jsonl"), Buffer.from([0x7b, 0xff, 0xc3, 0x0a]));
  await talk.ask({ op: "append", args: ['{"role":"assistant","content":"Ärger."}', durable] });
  const [blob] = readdirSync(join(path, "blobs"));
  assert.ok(blob);
  const asked = { request: { window: 4000, encoding: "estimate-1", format: "openai-chat" }, summarizes: false };
  const { messages } = JSON.parse(await talk.ask({ op: "context", args: [JSON.stringify(asked)] }));
  assert.deepEqual(
    messages.map((/** @type {any} */ message) => message.content),
    [content, "Ärger."],
  );
  const { problems } = JSON.parse(await talk.ask({ op: "examine" }));
  assert.deepEqual(
    problems.map((/** @type {any} */ { code }) => code),
    ["invalid_utf8"],
  );
});

check("no error holds a text of the conversation", async ({ open }) => {
  const talk = await open();
  const secret = "Der Schlüssel liegt unter der Matte";
  await talk.ask({ op: "create", args: [JSON.stringify({ title: secret })], session: null });
  await talk.ask({ op: "append", args: [lines([{ role: "user", content: secret }]), durable] });
  const asked = (/** @type {object} */ request) => JSON.stringify({ request, summarizes: false });
  /** @type {Step[]} */
  const refused = [
    { op: "append", args: [`{"role":"user","content":"${secret}`, durable] },
    {
      op: "append",
      args: [JSON.stringify({ role: "user", content: 7, [secret]: secret }), { ...durable, format: "no" }],
    },
    { op: "append", args: [JSON.stringify({ role: "nobody", content: secret }), durable] },
    { op: "append-tool", args: [JSON.stringify({ call: { id: "c" }, result: { content: secret } })] },
    { op: "context", args: [asked({ window: 3, encoding: "estimate-1" })] },
    { op: "context", args: [asked({ window: 4000, encoding: "mine", count: true })] },
    { op: "compact", args: ["{}"] },
    { op: "summarize", args: [JSON.stringify({ startMessageId: "a", endMessageId: "b", maxTokens: 10 })] },
    { op: "say", args: [JSON.stringify([{ type: "status", status: "gone" }])] },
    { op: "messages", args: ["["] },
  ];
  for (const step of refused) {
    const error = await talk.ask(step).then(
      () => assert.fail(`expected ${JSON.stringify(step)} to be refused`),
      (/** @type {any} */ error) => error,
    );
    assert.match(error.code, /^[a-z_]+$/);
    assert.notEqual(error.code, "internal", error.message);
    assert.ok(!error.message.includes("Matte"), error.message);
  }
});

check("a session is found by a beginning of its id, and handed to the next run", async ({ fixture, open }) => {
  const { id } = JSON.parse(fixture.runCli(["new", "--title", "The größte parser", "--json"]));
  fixture.runCli(["append", id], lines(turnAbout("the parser")));
  const talk = await open();
  assert.equal(await talk.ask({ op: "session", args: [id.slice(0, -4)], session: null }), await fixture.path(id));
  const request = { window: 8000, encoding: "estimate-1", format: "leftoff" };
  const theirs = await fixture.inJavaScript(id, (session) => session.resume(request));
  const ours = JSON.parse(
    await talk.ask({
      op: "resume",
      args: [JSON.stringify({ request, summarizes: false, leaves: false, offsetMinutes: 0 })],
    }),
  );
  assert.deepEqual(ours.context.messages, theirs.history);
  assert.equal(ours.block.split("\n")[1], theirs.block.split("\n")[1]);
  assert.match(ours.block, /The größte parser/);
  await assert.rejects(talk.ask({ op: "session", args: ["ffffffff"], session: null }), { code: "not_found" });
});

check(
  "a session is carried to the workspace and back with all that was said, and deleted and brought back",
  async ({ fixture, open }) => {
    const talk = await open();
    const path = await talk.ask({ op: "create", args: ["{}"], session: null });
    const id = path.slice(path.lastIndexOf("session-") + "session-".length);
    const image = randomBytes(100_000).toString("base64");
    const said = {
      role: "user",
      content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${image}` } }],
    };
    await talk.ask({ op: "append", args: [JSON.stringify(said), { ...durable, format: "openai-chat" }] });
    const before = await read(talk);
    for (const to of ["workspace", "home"]) {
      await talk.ask({ op: "close" });
      const moved = await talk.ask({
        op: "move",
        args: [JSON.stringify({ to, title: "A plan" })],
        session: null,
        given: "s",
      });
      assert.equal(moved.startsWith(join(fixture.folders[to === "home" ? "home" : "project"], "")), true, moved);
      assert.deepEqual(await read(talk), before);
      assert.equal(readdirSync(join(moved, "blobs")).length, 1);
    }
    await talk.ask({ op: "close" });
    const trash = JSON.parse(await talk.ask({ op: "delete", args: [false], session: null, given: "s" }));
    assert.equal(existsSync(trash), true);
    assert.equal(JSON.parse(await talk.ask({ op: "restore", args: [id], session: null })).id, id);
    assert.deepEqual(
      JSON.parse(fixture.runCli(["show", id, "--json"])).map((/** @type {any} */ { role }) => role),
      ["user"],
    );
  },
);

check("an agent's file is imported as the command line imports it, and once", async ({ fixture, open }) => {
  const talk = await open();
  const path = join(
    root,
    "tests",
    "fixtures",
    "claude-code",
    "real",
    "2.1.329",
    "a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl",
  );
  const asked = { path, size: statSync(path).size, tells: false };
  const { imported } = JSON.parse(await talk.ask({ op: "import-file", args: [JSON.stringify(asked)], session: null }));
  const transcript = await readTranscript(path);
  assert.deepEqual(
    imported.map((/** @type {any} */ { added }) => added),
    [transcript.length],
  );
  const again = JSON.parse(fixture.runCli(["import", path, "--json"]));
  assert.deepEqual(
    again.map((/** @type {any} */ one) => ({ ...one, path })),
    [{ ...imported[0], added: 0 }],
  );
  const shown = JSON.parse(fixture.runCli(["show", imported[0].id, "--json"]));
  assert.deepEqual(
    shown.map((/** @type {any} */ { content }) => content),
    transcript.slice().map(({ content }) => content),
  );
});

check(
  "a large tool output is kept beside the session, and told of to a model; another run knows it by its file",
  async ({ fixture, open }) => {
    const [talk, other] = [await open({ planes }), await open({ planes })];
    const result = JSON.stringify(Array.from({ length: 4000 }, (_, line) => `größe ${line}`));
    const output = JSON.stringify({
      sessionId: "mine",
      toolName: "grep",
      args: { pattern: "größe" },
      sizeBytes: Buffer.byteLength(result),
    });
    const { path, about } = JSON.parse(
      await talk.ask({ op: "save-output", args: [output], session: null, output: result }),
    );
    assert.deepEqual(JSON.parse(readFileSync(path, "utf8")).result, JSON.parse(result));
    assert.match(about, /^Matches for "größe" \(\d+KB\)$/);
    const small = JSON.stringify({ sessionId: "mine", toolName: "pwd", sizeBytes: 4 });
    const kept = JSON.parse(await talk.ask({ op: "save-output", args: [small], session: null, output: '"ab"' }));
    assert.equal(await talk.ask({ op: "load-output", args: [kept.path], session: null }), '"ab"');
    for (const one of [talk, other]) {
      assert.equal(await one.ask({ op: "load-output", args: [path], session: null }), result);
      const asked = JSON.stringify({ question: "How many?", outputs: [path], maxTokens: 300, encoding: "o200k_base" });
      const { text, outputs, tokens } = JSON.parse(
        await one.ask({ op: "output-prompt", args: [asked], session: null }),
      );
      assert.ok(text.includes(`grep: ${about}`), text);
      assert.deepEqual([outputs, tokens <= 300], [[{ path, isCut: true }], true]);
    }
    assert.ok(existsSync(join(fixture.folders.home, "context")));
  },
);

check("a transcript of questions is written piece by piece, and read as it was said", async ({ open }) => {
  const talk = await open();
  const ask = (/** @type {string} */ op, /** @type {unknown[]} */ ...args) => talk.ask({ op, args, of: "transcripts" });
  const answered = 'It says:\n## Answer 2026-11-24T09:30:00.000Z by "me"\nforged';
  const text = [
    await ask("title", "session_1", "/home/ada/größe"),
    await ask("question", 0),
    await ask("record", "Where are ", "retries?"),
    await ask("answer", 1000, "claude"),
    await ask("record", answered.slice(0, 12), answered.slice(12)),
    await ask("end", 2000, null),
  ].join("");
  const { name, folder, turns, problems, torn } = JSON.parse(await ask("read", text));
  assert.deepEqual([name, folder, problems, torn], ["session_1", "/home/ada/größe", [], null]);
  assert.deepEqual(
    turns.map((/** @type {any} */ { voice, at, text, end }) => ({ voice, at, text, end })),
    [
      { voice: "user", at: "1970-01-01T00:00:00.000Z", text: "Where are retries?", end: null },
      {
        voice: { engine: "claude" },
        at: "1970-01-01T00:00:01.000Z",
        text: answered,
        end: { at: "1970-01-01T00:00:02.000Z", stopped: null },
      },
    ],
  );
  assert.match(
    await ask("prompt", "Be brief.", "", "Where?"),
    /^<system_instructions>\nBe brief\.\n<\/system_instructions>\n\nWhere\?\n$/,
  );
});

check("no session lies outside the store", async ({ open }) => {
  const talk = await open();
  await assert.rejects(talk.ask({ op: "session-at", args: ["/nowhere", "home"], session: null }), {
    code: "not_found",
  });
});

check("each case of a context is what the case says", async ({ fixture, open }) => {
  const talk = await open({ planes });
  /** @type {{ name: string, input: any, options: { request: any, vocabulary?: boolean }, expected: any }[]} */
  const cases = JSON.parse(readFileSync(join(root, "tests", "conformance", "context.json"), "utf8"));
  for (const [place, { name, input, options, expected }] of cases.entries()) {
    const path = join(fixture.folders.home, "sessions", "projects", "0", `session-${place}`);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "messages.jsonl"), logOf(input));
    await talk.ask({ op: "session-at", args: [path, "home"], session: null });
    const given = typeof options.request === "string" ? options.request : JSON.stringify(options.request);
    // Those contexts stand for themselves.
    const request = given.replace(/^\{(\}?)/, (_, end) => (end ? '{"frame":false}' : '{"frame":false,'));
    const asked = `{"request":${request},"summarizes":false}`;
    const found = await talk.ask({ op: "context", args: [asked] }).then(JSON.parse, ({ code }) => ({ error: code }));
    // Here there is a host who is asked to count, and says that it cannot.
    const wanted =
      found.error === "no_counter"
        ? { error: "no_counter" }
        : typeof expected === "string"
          ? JSON.parse(expected)
          : expected;
    assert.deepEqual(found, wanted, name);
  }
});

/** The log of a case of tests/conformance. @param {any} input */
function logOf(input) {
  if (typeof input === "string") return input;
  if (Array.isArray(input)) return input.map((line) => `${JSON.stringify(line)}\n`).join("");
  if (input.base64 !== undefined) return Buffer.from(input.base64, "base64");
  return readFileSync(join(root, "tests", "fixtures", "format", input.file));
}

test("each transcript that the project ships makes the same context as in JavaScript", () =>
  inFolder(async (folder) => {
    const { folders } = new Fixture(folder);
    const store = await openStore(folders);
    const talk = await inNode(folders);
    const fixtures = join(root, "tests", "fixtures", "claude-code");
    let compared = 0;
    for (const name of readdirSync(fixtures, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".jsonl"),
    )) {
      const transcript = await readTranscript(join(fixtures, name)).catch(() => null);
      if (!transcript?.length) continue;
      const session = await store.create();
      await session.append(transcript.slice());
      await session.flush();
      await talk.ask({ op: "session-at", args: [session.path, "home"], session: null });
      for (const window of [4_000, 32_000]) {
        const request = /** @type {const} */ ({ window, encoding: "estimate-1", format: "ai-sdk" });
        const ours = talk.ask({ op: "context", args: [JSON.stringify({ request, summarizes: false })] });
        const [found, expected] = await Promise.all([
          ours.then(JSON.parse, refusal),
          session.context(request).catch(refusal),
        ]);
        assert.deepEqual(found.messages ?? found, expected.messages ?? expected, name);
        compared += 1;
      }
    }
    assert.ok(compared > 40);
    await store.close();
  }));

test("what needs no session is the same as in JavaScript", async () => {
  const { protocol, texts } = await import(join(root, "target", "component", "leftoff.js"));
  const text = "Let's stop here. The größte parser 漢字 \u{1f600}";
  assert.equal(texts.estimate(text), await countTokens(text, { encoding: "estimate-1" }));
  const counter = protocol.Vocabulary.fromPlanes(readFileSync(planes));
  assert.deepEqual(
    [counter.encoding(), counter.count(text)],
    ["o200k_base", await countTokens(text, { encoding: "o200k_base" })],
  );
  assert.ok(counter.count(text, 2) > 2);
  assert.equal(protocol.Vocabulary.fromBase64(readFileSync(planes, "base64")).count(text), counter.count(text));
  for (const [make, given] of /** @type {const} */ ([
    ["fromPlanes", new Uint8Array(6)],
    ["fromBase64", "%"],
    ["fromBase64", "AAAA"],
  ])) {
    assert.throws(
      () => protocol.Vocabulary[make](given),
      (/** @type {any} */ error) => error.payload.code === "invalid_vocabulary",
      make,
    );
  }
  assert.deepEqual(JSON.parse(texts.modelOf("gpt-4o")), modelOf("gpt-4o"));
  assert.equal(texts.modelOf("nobody's"), undefined);
  assert.deepEqual(JSON.parse(texts.pricesOf("gpt-4o")), pricesOf("gpt-4o"));
  assert.equal(texts.pricesOf("nobody's"), undefined);
  assert.equal(texts.findStopPhrase(text), await findStopPhrase(text));
  const session = await (await openStore({ home: "/home", project: "/", storage: new MemoryStorage() })).create();
  const contexts = [];
  for (const content of ["Hello", "Hi."]) {
    await session.append({ role: "user", content });
    contexts.push(await session.context({ window: 8000, encoding: "estimate-1" }));
  }
  const [before, after] = contexts;
  assert.deepEqual(
    JSON.parse(texts.compareContexts(JSON.stringify(before), JSON.stringify(after))),
    compareContexts(before, after),
  );
  const stamp = { nowMs: 0n, offsetMinutes: 0, entropy: new BigUint64Array([1n, 2n, 3n, 4n]) };
  const history = texts.historyText('[{"role":"user","content":"----- 0000000000000001"}]', stamp);
  assert.deepEqual(
    history.split("\n").filter((/** @type {string} */ line) => line.startsWith("-----")),
    Array(2).fill("----- 00000000000000010000000000000002"),
  );
});

test("stores that have vocabularies of their own share the memory of one", async () => {
  const { protocol } = await import(join(root, "target", "component", "leftoff.js"));
  const bytes = readFileSync(planes);
  // Of half as many with memory of their own no more fitted.
  const all = Array.from({ length: 120 }, () => protocol.Vocabulary.fromPlanes(bytes));
  assert.deepEqual([...new Set(all.map((one) => one.count("hello world")))], [2]);
});

/** @param {any} error @returns {any} */
function refusal({ code, message }) {
  return { code, message };
}
