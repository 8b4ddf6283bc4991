// @ts-check
// What OpenCode's plugin leaves of the messages that are about to be sent, where its option `context` asks for it.
// Tries: js/opencode/context.js, js/opencode/plugin.js

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { openPlugin } from "../../js/opencode/plugin.js";

/** @import { OpenCodeContextRequest, OpenCodeHooks, OpenCodeMessage, OpenCodePart } from "../../js/types/opencode.js" */

const ID = "ses_1";
const MODEL = { providerID: "script", modelID: "script" };
/** Reached after a few turns of two outputs each. */
const WINDOW = { window: 16_000, reserve: 2000 };

/** One instance of OpenCode with one session. */
class OpenCode {
  /** @type {OpenCodeMessage[]} */
  messages = [];
  /** @type {string[]} */
  errors = [];
  limit = { context: 16_000, output: 1000 };
  #count = 1000;
  client = {
    session: {
      get: async () => ({ data: { id: ID } }),
      messages: async () => ({ data: structuredClone(this.messages) }),
    },
    config: {
      providers: async () => ({ data: { providers: [{ id: "script", models: { script: { limit: this.limit } } }] } }),
    },
    app: {
      log: async (/** @type {{ body: { message: string } }} */ { body }) => void this.errors.push(body.message),
    },
  };

  /** @param {OpenCodeHooks} hooks */
  constructor(hooks) {
    this.hooks = hooks;
  }

  /** @param {string} kind */
  #makeId(kind) {
    return `${kind}_${(this.#count += 1)}`;
  }

  /** @param {string} role @param {object[]} parts */
  async #add(role, parts) {
    const id = this.#makeId("msg");
    const time = { created: 1_790_000_000_000 + this.#count * 1000, ...(role === "assistant" && { completed: 1 }) };
    const info = { id, sessionID: ID, role, time, ...(role === "user" ? { model: MODEL } : MODEL) };
    const whole = parts.map((part) => ({ id: this.#makeId("prt"), sessionID: ID, messageID: id, ...part }));
    this.messages.push({ info, parts: /** @type {OpenCodePart[]} */ (whole) });
    await this.hooks.event({ event: { type: "message.updated", properties: { info } } });
    for (const part of whole) await this.hooks.event({ event: { type: "message.part.updated", properties: { part } } });
  }

  /** @param {string} text */
  ask(text) {
    return this.#add("user", [{ type: "text", text }]);
  }

  /** @param {string} text */
  answer(text) {
    return this.#add("assistant", [{ type: "text", text }]);
  }

  /** @param {string} name @param {object} [state] */
  call(name, state = { status: "completed", output: `${name} says a line of words.\n`.repeat(200) }) {
    const whole = { input: { name }, title: name, metadata: {}, time: { start: 1, end: 2 }, ...state };
    return this.#add("assistant", [
      { type: "step-start" },
      { type: "text", text: `I look at ${name}.` },
      { type: "tool", callID: `call-${name}`, tool: "read", state: whole },
    ]);
  }

  compact() {
    return this.#add("user", [{ type: "compaction", auto: false }]);
  }

  /** A prompt of which the session has nothing. */
  nameAgent() {
    return this.#add("user", [{ type: "agent", name: "general" }]);
  }

  /** @param {number} number */
  async holdTurn(number) {
    await this.ask(`Prompt ${number}: look at two things.`);
    await this.call(`file-${number}-one`);
    await this.call(`file-${number}-two`);
    await this.answer(`Answer ${number}.`);
  }

  /** What is sent next. @param {OpenCodeMessage[]} [given] */
  async send(given = structuredClone(this.messages)) {
    await this.hooks["experimental.chat.messages.transform"]?.({}, { messages: given });
    return given;
  }
}

/** @param {boolean | OpenCodeContextRequest | undefined} context @param {(opencode: OpenCode) => Promise<void>} work */
async function withPlugin(context, work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-context-"));
  const opencode = new OpenCode(/** @type {any} */ (undefined));
  const at = { client: opencode.client, directory: home };
  opencode.hooks = await openPlugin(at, { home: join(home, ".leftoff"), ...(context !== undefined && { context }) });
  try {
    await work(opencode);
  } finally {
    await opencode.hooks.dispose();
    rmSync(home, { recursive: true });
  }
}

/** What a model is told, as OpenCode tells it. @param {OpenCodeMessage[]} messages */
function tell(messages) {
  return messages.flatMap(({ info, parts }) =>
    parts.flatMap((part) => {
      if (part.type === "text") return [JSON.stringify([info.role, part.text])];
      if (part.type === "compaction") return [JSON.stringify([info.role, "What did we do so far?"])];
      if (!part.state) return [];
      const { output, error, time } = part.state;
      return [JSON.stringify(["tool", Reflect.get(part, "callID"), time?.compacted ? "cleared" : (output ?? error)])];
    }),
  );
}

/** How many messages at the front are the same bytes. @param {string[]} one @param {string[]} other */
function countSame(one, other) {
  const end = one.findIndex((text, place) => text !== other[place]);
  return end < 0 ? one.length : end;
}

test("unless it is asked for, there is no hook that changes what is sent", async () => {
  for (const context of [undefined, false])
    await withPlugin(context, async ({ hooks }) => assert.ok(!("experimental.chat.messages.transform" in hooks)));
});

test("while all of a session fits, OpenCode's own messages are sent", async () => {
  await withPlugin(true, async (opencode) => {
    opencode.limit = { context: 200_000, output: 32_000 };
    await opencode.nameAgent();
    await opencode.holdTurn(1);
    await opencode.ask("And now?");
    const given = structuredClone(opencode.messages);
    const sent = await opencode.send([...given]);
    assert.equal(sent.length, given.length);
    for (const [place, message] of sent.entries()) assert.equal(message, given[place]);
    assert.deepEqual(opencode.errors, []);
  });
});

test("a long session stays in the window, its newest message as it is, and most calls extend what was sent", async () => {
  await withPlugin(WINDOW, async (opencode) => {
    let before = tell([]);
    let count = 0;
    let extended = 0;
    const send = async () => {
      const given = structuredClone(opencode.messages);
      const sent = await opencode.send([...given]);
      const told = tell(sent);
      const { length } = JSON.stringify(told);
      assert.ok(length < WINDOW.window * 5, `call ${count}: ${length} characters`);
      assert.equal(sent.at(-1), given.at(-1));
      checkResults(given, sent);
      count += 1;
      if (countSame(before, told) === before.length) extended += 1;
      before = told;
    };
    for (let number = 0; number < 16; number += 1) {
      await opencode.ask(`Prompt ${number}: look at two things.`);
      await send();
      await opencode.call(`file-${number}-one`);
      await send();
      await opencode.call(`file-${number}-two`);
      await send();
      await opencode.answer(`Answer ${number}.`);
    }
    assert.ok(extended / count > 0.8, `${extended} of ${count} calls extend the one before`);
    assert.match(before[0] ?? "", /^\["user","\[EARLIER CONVERSATION\]/);
    assert.ok(JSON.stringify(before).length < JSON.stringify(tell(opencode.messages)).length / 2);
    assert.deepEqual(opencode.errors, []);
  });
});

/**
 * Each call that is sent is one that was made, with its result, whole or much shorter.
 * @param {OpenCodeMessage[]} given @param {OpenCodeMessage[]} sent
 */
function checkResults(given, sent) {
  const wholes = new Map(given.flatMap(({ parts }) => parts.map((part) => [part.id, part.state?.output ?? ""])));
  for (const { type, id, state } of sent.flatMap(({ parts }) => parts)) {
    if (type !== "tool") continue;
    const whole = wholes.get(id) ?? "";
    const { output = "" } = state ?? {};
    assert.ok(output !== "" && (output === whole || output.length < whole.length / 2), id);
  }
}

test("in one turn the next context extends the last one byte for byte", async () => {
  await withPlugin(WINDOW, async (opencode) => {
    for (let number = 0; number < 10; number += 1) await opencode.holdTurn(number);
    await opencode.ask("Look once more.");
    const first = tell(await opencode.send());
    await opencode.call("last");
    const second = tell(await opencode.send());
    assert.match(first[0] ?? "", /EARLIER CONVERSATION/);
    assert.deepEqual(second.slice(0, first.length), first);
    assert.equal(second.length, first.length + 2);
  });
});

test("a turn of many calls is cut, too, and its prompt stays", async () => {
  await withPlugin(WINDOW, async (opencode) => {
    await opencode.holdTurn(1);
    await opencode.ask("Look at everything.");
    const prompt = opencode.messages.at(-1);
    for (let number = 0; number < 80; number += 1) await opencode.call(`file-${number}`);
    const sent = await opencode.send();
    assert.ok(sent.length < 60, String(sent.length));
    assert.equal(sent.filter(({ info }) => info.id === prompt?.info.id).length, 1);
    const roles = sent.map(({ info }) => info.role);
    assert.deepEqual([...new Set(roles.slice(roles.indexOf("assistant")))], ["assistant"]);
    // No result is shortened before the model has read it, and what was sent stays as it was.
    assert.deepEqual(sent.at(-1), opencode.messages.at(-1));
    await opencode.call("one-more");
    const told = tell(sent);
    assert.deepEqual(tell(await opencode.send()).slice(0, told.length), told);
    assert.deepEqual(opencode.errors, []);
  });
});

test("a prompt that the session says nothing of stays, too", async () => {
  await withPlugin(WINDOW, async (opencode) => {
    await opencode.nameAgent();
    const { messages } = opencode;
    for (let number = 0; number < 80; number += 1) await opencode.call(`file-${number}`);
    const sent = await opencode.send();
    assert.ok(sent.length < 60, String(sent.length));
    assert.ok(sent.some(({ info }) => info.id === messages[0]?.info.id));
  });
});

test("what is sent again, or was fitted before, is the same", async () => {
  await withPlugin(WINDOW, async (opencode) => {
    await opencode.ask("The plan is called tidewater, and its port on Jupiter is 8123.");
    for (let number = 0; number < 12; number += 1) await opencode.holdTurn(number);
    await opencode.send();
    await opencode.ask("Which port does tidewater have on Jupiter?");
    const first = await opencode.send();
    // A summary in front, and a quote before the prompt.
    assert.match(tell(first)[0] ?? "", /^\["user","\[EARLIER CONVERSATION\]/);
    assert.match(tell(first).at(-2) ?? "", /^\["user","\[RECALLED\].*8123/);
    assert.deepEqual(await opencode.send(), first);
    assert.deepEqual(await opencode.send(structuredClone(first)), first);
    await opencode.call("port");
    assert.deepEqual(tell(await opencode.send()).slice(0, tell(first).length), tell(first));
  });
});

test("no message of OpenCode's is changed in place, and one that is not stored yet stays", async () => {
  await withPlugin(WINDOW, async (opencode) => {
    for (let number = 0; number < 12; number += 1) await opencode.holdTurn(number);
    const unknown = structuredClone(/** @type {OpenCodeMessage} */ (opencode.messages.at(-1)));
    unknown.info.id = "msg_unknown";
    unknown.parts = unknown.parts.map((part) => ({ ...part, id: "prt_unknown", messageID: "msg_unknown" }));
    const given = [...structuredClone(opencode.messages), unknown];
    const copy = structuredClone(given);
    const sent = await opencode.send([...given]);
    assert.deepEqual(given, copy);
    assert.ok(sent.length < given.length);
    assert.equal(sent.at(-1), unknown);
  });
});

test("results that OpenCode has cleared meanwhile are sent as before", async () => {
  await withPlugin({ window: 100_000, reserve: 2000 }, async (opencode) => {
    await opencode.holdTurn(1);
    await opencode.ask("And now?");
    const before = tell(await opencode.send());
    for (const { parts } of opencode.messages)
      for (const { state } of parts) if (state?.time) state.time.compacted = 1_790_000_000_000;
    assert.deepEqual(tell(await opencode.send()), before);
  });
});

test("errors of tools are shortened as outputs are", async () => {
  await withPlugin(WINDOW, async (opencode) => {
    await opencode.ask("Look.");
    await opencode.call("broken", { status: "error", error: "It failed, with many words.\n".repeat(400) });
    for (let number = 0; number < 4; number += 1) await opencode.holdTurn(number);
    await opencode.ask("And now?");
    const [state] = (await opencode.send()).flatMap(({ parts }) => parts.flatMap(({ state }) => state ?? []));
    assert.equal(state?.status, "error");
    assert.match(state?.error ?? "", /^\[Tool output/);
    assert.equal(state?.output, undefined);
  });
});

test("what OpenCode compacts is sent whole, and so is its summary afterwards", async () => {
  await withPlugin(WINDOW, async (opencode) => {
    for (let number = 0; number < 12; number += 1) await opencode.holdTurn(number);
    const given = structuredClone(opencode.messages);
    await opencode.compact();
    await opencode.hooks["experimental.session.compacting"]({ sessionID: ID }, { context: [] });
    assert.deepEqual(await opencode.send(structuredClone(given)), given);
    // A second try after the first one failed.
    assert.deepEqual(await opencode.send(structuredClone(given)), given);
    await opencode.answer("We looked at 24 files.");
    await opencode.hooks.event({ event: { type: "session.compacted", properties: { sessionID: ID } } });
    await opencode.ask("And now?");
    // From here on OpenCode has but its summary, with the message that asks for it.
    const rest = opencode.messages.slice(-3);
    const told = tell(await opencode.send(structuredClone(rest)));
    assert.deepEqual(told.slice(-3), tell(rest));
    assert.equal(told.length, 4);
    for (const text of told.slice(0, -3)) assert.match(text, /^\["user","\[EARLIER CONVERSATION\]/);
    assert.deepEqual(opencode.errors, []);
  });
});

test("where a context fails, OpenCode's own messages are sent, and the reason is told once", async () => {
  await withPlugin({ window: 100, reserve: 10 }, async (opencode) => {
    await opencode.ask("Many words. ".repeat(300));
    for (let time = 0; time < 2; time += 1) {
      const given = structuredClone(opencode.messages);
      const sent = await opencode.send([...given]);
      assert.deepEqual(sent, given);
    }
    assert.equal(opencode.errors.length, 1, opencode.errors.join("\n"));
    assert.match(opencode.errors[0] ?? "", /^sent without a context: /);
  });
  await withPlugin(/** @type {any} */ ({ windows: 8000 }), async (opencode) => {
    await opencode.holdTurn(1);
    const given = structuredClone(opencode.messages);
    assert.deepEqual(await opencode.send(structuredClone(given)), given);
    assert.match(opencode.errors.join("\n"), /^sent without a context: .*windows.*$/);
  });
});

test("a session that is not recorded is left alone", async () => {
  await withPlugin(WINDOW, async (opencode) => {
    process.env.LEFTOFF_RECORD = "off";
    try {
      for (let number = 0; number < 12; number += 1) await opencode.holdTurn(number);
      const given = structuredClone(opencode.messages);
      assert.deepEqual(await opencode.send(structuredClone(given)), given);
    } finally {
      delete process.env.LEFTOFF_RECORD;
    }
  });
});

test("the window is OpenCode's own limit of the model, less what is not for messages", async () => {
  await withPlugin(true, async (opencode) => {
    opencode.limit = { context: 40_000, output: 4000 };
    for (let number = 0; number < 20; number += 1) await opencode.holdTurn(number);
    await opencode.ask("And now?");
    // 16,000 of the 40,000 are left for messages.
    const { length } = JSON.stringify(tell(await opencode.send()));
    assert.ok(length > 12_000 && length < 80_000, String(length));
    assert.ok(length < JSON.stringify(tell(opencode.messages)).length);
    opencode.limit = { context: 1, output: 1 };
    assert.equal(JSON.stringify(tell(await opencode.send())).length, length, "it is asked for once");
    assert.deepEqual(opencode.errors, []);
  });
});

test("a window of the user's has its own reserve", async () => {
  await withPlugin({ window: 16_000 }, async (opencode) => {
    opencode.limit = { context: 200_000, output: 32_000 };
    for (let number = 0; number < 12; number += 1) await opencode.holdTurn(number);
    await opencode.ask("And now?");
    assert.ok(JSON.stringify(tell(await opencode.send())).length < 80_000);
    assert.deepEqual(opencode.errors, []);
  });
});
