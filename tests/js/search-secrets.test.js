// @ts-check
// Where secrets are replaced, no search tells more of one than that it is there: of two stores that differ in it alone,
// each question gets the same answer.
// Tries: src/operation/outgoing/index_redaction.rs, src/operation/store/recall/
import assert from "node:assert/strict";
import { test } from "node:test";

import { MemoryStorage, openStore } from "../../js/index.js";

/** @typedef {import("../../js/store/store.js").Store} Store */

const ONE = "ghp_k7Qm2Xv9Lb4Tz8Wc1Yn6Rd3Hs5Jf0Pa2GuEo";
const OTHER = "ghp_b3Vr5Nk8Sj1Dx0Mf7Cy2Hp6Zu4Ql9Tg1Wa8E";

/** @param {string} secret @param {number} others how many messages say something else */
async function storeWith(secret, others) {
  const store = await openStore({
    home: "/home",
    project: "/project",
    storage: new MemoryStorage(),
    redact: "replace",
  });
  const session = await store.create();
  const call = (/** @type {string} */ id, /** @type {string} */ name, /** @type {object} */ input) => ({
    id,
    name,
    arguments: JSON.stringify(input),
  });
  await session.append([
    { role: "user", content: `${secret} is the key, and walnut` },
    {
      role: "assistant",
      content: "I look.",
      assistant: {
        toolCalls: [
          call("c1", "Bash", { command: `curl -H ${secret} example.org` }),
          call("c2", "Write", { file_path: `/p/${secret}/a.txt`, content: secret }),
        ],
      },
    },
    {
      role: "tool",
      content: `error: bad credentials ${secret} refused`,
      tool: { callId: "c1", name: "Bash", isError: true, exitCode: 1 },
    },
    { role: "tool", content: "written", tool: { callId: "c2", name: "Write" } },
    { role: "assistant", content: "It is refused.", assistant: { reasoning: [{ text: `They have ${secret}.` }] } },
    { role: "user", content: `Is the pecan called ${secret}?` },
    { role: "assistant", content: "It is the pecan." },
    // Cut, where texts are: a part of one is left.
    {
      role: "tool",
      content: `${"pecan ".repeat(337)}${secret} ${"pecan ".repeat(800)}`,
      tool: { callId: "c3", name: "Bash" },
    },
    ...Array.from({ length: others }, (_, nth) => ({
      role: /** @type {const} */ ("user"),
      content: `walnut number ${nth} ${"and so on ".repeat(200)}`,
    })),
  ]);
  await session.stop();
  const named = await store.create({ title: `About ${secret}` });
  await named.append({ role: "user", content: "Hello." });
  await store.create({ title: "The nutcracker" });
  return { store, session };
}

/** What is asked with a part of one, so that what stands in its place answers. */
const ASKED = ["PART", "walnut PART", "PART redacted", "pecan PART github"];
const PATTERNS = ["PART", "PART|redacted", "key|PART.", "[^P]PART|github"];
const ERRORS = ["PART", "error: bad credentials PART refused", "error: bad credentials redacted PART"];

/** Its parts, as somebody would guess at them. @param {string} secret */
function parts(secret) {
  const bare = secret.slice(4);
  const all = [
    secret,
    bare,
    secret.slice(0, 8),
    secret.slice(0, 20),
    bare.slice(0, 5),
    bare.slice(3, 9),
    bare.slice(-4),
    ...(bare.match(/[A-Z][a-z]|\d[A-Z]/g) ?? []).slice(0, 4),
  ];
  return all.flatMap((part) => [part, part.toLowerCase()]);
}

/** @typedef {Awaited<ReturnType<typeof storeWith>>} Place */
/**
 * Each with the part in its place.
 * @param {string[]} all
 * @param {(asked: string, at: Place) => AsyncIterable<unknown>} ask
 * @returns {Record<string, (part: string, at: Place) => AsyncIterable<unknown>>}
 */
function asking(all, ask) {
  return Object.fromEntries(
    all.map((asked) => [`${ask} ${asked}`, (part, at) => ask(asked.replace("PART", part), at)]),
  );
}

/** Everything that answers, in order, without what differs by chance. @param {AsyncIterable<unknown>} found */
async function describeHits(found) {
  const all = [];
  for await (const one of found) all.push(one);
  const placeholders = /redacted:[\w-]+:[0-9a-f]{8}/g;
  const encoded = /eyJ0b2tlbiI6I\w+/g; // One, too, where a secret in Base64 was.
  return JSON.stringify(all)
    .replace(placeholders, "redacted")
    .replace(encoded, "redacted")
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id")
    .replace(/"(totalTokens|tokens)":\d+/g, "")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time");
}

for (const others of [0, 40])
  test(`whatever part of a secret is asked for, the answer does not hang on what the secret is; among ${others} other messages`, async () => {
    const [one, other] = await Promise.all([storeWith(ONE, others), storeWith(OTHER, others)]);
    /** @type {Record<string, (part: string, at: Place) => AsyncIterable<unknown>>} */
    const ways = {
      ...asking(ASKED, (asked, { store }) => store.search(asked, { all: true })),
      ...asking(PATTERNS, (regex, { store }) => store.search(regex, { all: true, regex: true })),
      ...asking(ERRORS, (error, { store }) => store.search("", { all: true, error })),
      quoted: (part, { store }) => store.search(`"${part}"`, { all: true }),
      "the best": (part, { store }) => store.search(`pecan ${part}`, { all: true, limit: 1 }),
      command: (part, { store }) => store.search("", { all: true, command: part }),
      file: (part, { store }) => store.search("", { all: true, file: part }),
      "end of a file": (part, { store }) => store.search("", { all: true, file: `${part}/a.txt` }),
      "in a session": (part, { session }) => session.search(part),
      recalled: (part, { store }) =>
        (async function* () {
          yield await store.recall(`Is the pecan called ${part}?`, { maxTokens: 500 });
        })(),
    };
    for (const [way, asked] of Object.entries(ways))
      for (const part of parts(ONE)) {
        const [right, wrong] = [await describeHits(asked(part, one)), await describeHits(asked(part, other))];
        assert.equal(right, wrong, `${way}: ${part}`);
        const [found, beside] = [one, other].map(({ store }) =>
          store.secrets.map(({ rule, count }) => ({ rule, count })),
        );
        assert.deepEqual(found, beside, `${way}: ${part}: what was told to be found`);
      }
    await Promise.all([one.store.close(), other.store.close()]);
  });

test("what stands beside a secret is found all the same", async () => {
  const { store } = await storeWith(ONE, 0);
  for (const [question, options] of /** @type {const} */ ([
    ["walnut", {}],
    ["", { command: "curl" }],
    ["", { file: "a.txt" }],
    ["", { error: "error: bad credentials refused" }],
    ["nutcracker", {}],
  ])) {
    const answer = await describeHits(store.search(question, { all: true, ...options }));
    assert.match(answer, /isHit/, question || JSON.stringify(options));
    assert.doesNotMatch(answer, /ghp_/);
  }
  assert.doesNotMatch(await describeHits(store.search("pecan", { all: true })), /ghp_|k7Qm2Xv9Lb4/);
  assert.doesNotMatch((await store.recall("Which pecan is it?", { maxTokens: 1000 })).text, /ghp_|k7Qm2Xv9Lb4/);
  await store.close();
});

/**
 * Forms in which nobody sees a secret as it is, and what of it somebody who guesses at it would ask for.
 * @type {Record<string, { said: (secret: string) => string[], asked: (secret: string) => string[] }>}
 */
const FORMS = {
  "in Base64": {
    said: (secret) => [`walnut ${btoa(JSON.stringify({ token: secret }))} here`],
    asked: (secret) => [
      btoa(JSON.stringify({ token: secret })),
      ...(btoa(JSON.stringify({ token: secret })).match(/[A-Z]?[a-z]{3,}/g) ?? []),
    ],
  },
  "a password with blanks": {
    said: (secret) => [`walnut <add key="Password" value="${words(secret).join(" ")}" />`],
    asked: words,
  },
  "across the cut of a long text": {
    // A line keeps 4,096 bytes of it.
    said: (secret) => [`walnut ${"so ".repeat(1356)}${secret} ${"so ".repeat(100_000)}`],
    asked: parts,
  },
  "told by a later message": {
    said: (secret) => [`walnut ${secret.slice(4)}`, `It was ${secret}.`],
    asked: parts,
  },
};

/** Short ones, which differ where secrets do. @param {string} secret */
function words(secret) {
  return (secret.slice(4).match(/.{4}/g) ?? []).map((part) => part.toLowerCase().replace(/\d/g, "x"));
}

for (const [form, { said, asked }] of Object.entries(FORMS))
  test(`which of several answers comes first does not hang on a secret either: ${form}`, async () => {
    const [one, other] = await Promise.all(
      [ONE, OTHER].map(async (secret) => {
        const store = await openStore({
          home: "/home",
          project: "/project",
          storage: new MemoryStorage(),
          redact: "replace",
        });
        for (const own of [[], [], said(secret), [], []]) {
          const session = await store.create();
          for (const content of ["walnut", ...own, "and"]) {
            // Long enough for a file of the index.
            await session.append({ role: "user", content: `${content} ${"so ".repeat(24_000)} on` });
            await describeHits(store.search("walnut"));
          }
        }
        return store;
      }),
    );
    assert.ok(one && other);
    for (const part of asked(ONE))
      for (const question of [part, `walnut ${part}`, `${part} and so`])
        assert.equal(await describeHits(one.search(question)), await describeHits(other.search(question)), question);
    await Promise.all([one.close(), other.close()]);
  });

test("where secrets are reported, a search tells those of what it shows, and no others", async () => {
  const storage = new MemoryStorage();
  const opened = () => openStore({ home: "/home", project: "/project", storage, redact: "report" });
  const store = await opened();
  const ran = (/** @type {string} */ id, /** @type {string} */ command) => ({
    role: /** @type {const} */ ("assistant"),
    content: "",
    assistant: { toolCalls: [{ id, name: "Bash", arguments: JSON.stringify({ command }) }] },
  });
  const session = await store.create();
  await session.append([
    { role: "user", content: `walnut ${ONE}` },
    { role: "user", content: `pecan ${OTHER}` },
    ran("c1", `curl -H ${ONE} example.org`),
    {
      role: "tool",
      content: `error: bad credentials ${ONE} refused`,
      tool: { callId: "c1", name: "Bash", isError: true, exitCode: 1 },
    },
    ran("c2", `wget --header ${OTHER} example.org`),
    {
      role: "tool",
      content: `error: no route to host ${OTHER}`,
      tool: { callId: "c2", name: "Bash", isError: true, exitCode: 1 },
    },
  ]);
  for (const [question, options] of /** @type {const} */ ([
    ["^walnut", { regex: true }],
    ['"walnut"', {}],
    ["walnut", {}],
    ["", { command: "curl" }],
    ["", { error: "error: bad credentials refused" }],
  ])) {
    const fresh = await opened();
    assert.match(await describeHits(fresh.search(question, options)), /ghp_k7Qm2Xv9/, question);
    assert.deepEqual(
      fresh.secrets.map(({ count }) => count > 0),
      [true],
      question || JSON.stringify(options),
    );
  }
});

test("a secret that has a word of the format in it changes no message but by itself", async () => {
  const call = (/** @type {string} */ command) => ({
    toolCalls: [{ id: "c1", name: "Bash", arguments: JSON.stringify({ command }) }],
  });
  for (const redact of /** @type {const} */ (["off", "report", "replace"])) {
    const store = await openStore({ home: "/home", project: "/project", storage: new MemoryStorage(), redact });
    const session = await store.create();
    await session.append([
      {
        role: "user",
        content: 'walnut <add key="Password" value="my-assistant-key-9" /> there, api_key = "arguments93kd0Qz7Lm"',
      },
      { role: "assistant", content: "the pecan is" },
      { role: "assistant", content: "a macadamia is", assistant: call("curl hickory") },
      { role: "tool", content: "so ".repeat(24_000), tool: { callId: "c1", name: "Bash" } },
    ]);
    for (const word of ["pecan", "macadamia", "hickory"])
      assert.match(
        await describeHits(store.search(word, { role: "assistant" })),
        new RegExp(word),
        `${redact}: ${word}`,
      );
    const { messages } = await session.context({ window: 100_000, encoding: "estimate-1", format: "openai-chat" });
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user", "assistant", "assistant", "tool"],
      redact,
    );
    await store.close();
  }
});

test("a line that is not whole yet costs no search, whatever secret it has, and a log that is written anew is looked through anew", async () => {
  for (const redact of /** @type {const} */ (["report", "replace"])) {
    const storage = new MemoryStorage();
    const opened = () => openStore({ home: "/home", project: "/project", storage, redact });
    const store = await opened();
    const session = await store.create();
    const fill = "so ".repeat(24_000);
    await session.append([
      { role: "user", content: "walnut one" },
      { role: "user", content: `pecan part ${ONE.slice(4, 24)} ${fill}` },
    ]);
    await describeHits(store.search("walnut"));
    const log = `${session.path}/messages.jsonl`;
    const line = (/** @type {string} */ content) => JSON.stringify({ id: content.slice(0, 3), role: "user", content });
    await storage.append(log, new TextEncoder().encode(`${line(`filbert ${ONE} ${fill}`).slice(0, -2)}`));
    for (const other of [store, await opened()])
      assert.match(await describeHits(other.search("walnut")), /"isHit":true/, redact);
    await storage.append(log, new TextEncoder().encode(`"}\n`));
    for (const other of [store, await opened()])
      assert.match(await describeHits(other.search("filbert")), /"isHit":true/, redact);
  }
});
