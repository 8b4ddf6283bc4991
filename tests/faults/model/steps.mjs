// @ts-check
/** What is done with stores, and what the model makes of it. */

import assert from "node:assert/strict";
import { join } from "node:path";

import { comparedList } from "./checks.mjs";
import { forkTitleOf } from "./model.mjs";
import { bytesOf, textOf } from "./world.mjs";

/** @import { Run, Pick } from "./run.mjs" */
/** @import { ModelSession } from "./model.mjs" */

export const LOGS = ["messages.jsonl", "events.jsonl", "tools.jsonl"];
export const WORDS = ["plain", "two words", "ünïcödé", "# heading", "-", '{"v":1}'];
const AGENT = {
  command: "agent --go",
  systemPromptHash: "abc",
  model: "gpt-5",
  tools: ["read", "write"],
  provider: "openai",
  contextWindow: 128_000,
  baseUrl: "http://localhost",
};
const ONE_MINUTE = 60_000;

/** A step: false where it cannot be taken here. @typedef {(run: Run, pick: Pick) => Promise<unknown>} Step */

/**
 * With one that is there; where none is, one is begun.
 * @param {(run: Run, pick: Pick, known: ModelSession) => Promise<unknown>} step
 * @returns {Step}
 */
const ofOne = (step) => async (run, pick) => {
  const known = run.pickSession(pick.which);
  return known ? step(run, pick, known) : STEPS.create?.(run, pick);
};

/**
 * A verb of one session: opened first, where the process has not.
 * @param {(run: Run, pick: Pick, known: ModelSession) => Promise<unknown>} step
 */
const withOpenSession = (step) =>
  ofOne((run, pick, known) => {
    run.open(pick.by, known);
    return step(run, pick, known);
  });

/** @type {Record<string, Step>} */
export const STEPS = {
  async create(run, { by, n, which }) {
    const placement = n & 1 ? "workspace" : "home";
    const asked = {
      placement,
      ...(n & 2 && { title: run.words(which) }),
      ...(n & 4 && { type: "review" }),
      ...(n & 8 && { name: `named-${which % 3}` }),
      ...(n & 16 && { agent: AGENT }),
    };
    const { value, code } = await run.ask(by, "create", asked);
    const isTaken =
      placement === "workspace" &&
      run.model.sessions.some((one) => one.placement === placement && one.name === asked.name && run.isToday(one));
    if (isTaken) return assert.equal(code, "already_exists");
    noteBegun(run, { by, asked, value, code });
  },

  append: withOpenSession(async (run, { by, n, which }, known) => {
    const { drafts, said } = draftMessages(run, known, n);
    const ids = await run.does(by, "append", {
      id: known.id,
      drafts,
      options: { durability: which % 2 ? "durable" : "buffered" },
    });
    noteAppended(run, { by, known, said: said.map((message, place) => ({ ...message, id: ids[place] })) });
  }),

  appendTool: withOpenSession(async (run, { by, n, which }, known) => {
    const calls = known.messages.flatMap((message) => message.calls);
    const id = calls.length > 0 && n % 4 ? calls[which % calls.length] : run.newId();
    // Whoever says it again says the same.
    const content = known.messages.find((message) => message.answers === id)?.content ?? run.words(n);
    const execution = { call: { id, name: "read" }, result: { content, success: n % 2 === 0 } };
    const { isNew } = await run.does(by, "appendTool", { id: known.id, execution });
    assert.equal(isNew, !known.executions.includes(/** @type {string} */ (id)));
    if (!isNew) return;
    known.executions.push(/** @type {string} */ (id));
    const caller =
      known.messages.findLast((message) => message.calls.includes(/** @type {string} */ (id))) ??
      known.messages.findLast(({ role }) => role === "assistant");
    known.callers.set(/** @type {string} */ (id), caller?.id);
    // A call that no message makes is added to the assistant's newest one, so that its result is in a context.
    const place = calls.includes(/** @type {string} */ (id))
      ? -1
      : known.messages.findLastIndex(({ role }) => role === "assistant");
    const owner = known.messages[place];
    if (owner && !owner.isImported)
      known.messages[place] = { ...owner, rev: owner.rev + 1, calls: [...owner.calls, /** @type {string} */ (id)] };
    if (known.messages.some((message) => message.answers === id)) return;
    noteAppended(run, {
      by,
      known,
      said: [
        {
          ...modelMessage(await idOf(run, known, execution.result.content), "tool", execution.result.content),
          answers: id,
        },
      ],
    });
  }),

  stop: withOpenSession((run, { by, n }, known) =>
    become(run, { by, known, verb: "stop", status: "paused", summary: n % 2 ? run.words(n) : undefined }),
  ),
  pause: withOpenSession((run, { by }, known) => become(run, { by, known, verb: "pause", status: "paused" })),
  complete: withOpenSession((run, { by, n }, known) =>
    become(run, { by, known, verb: "complete", status: "completed", summary: n % 2 ? run.words(n) : undefined }),
  ),

  resume: withOpenSession(async (run, { by, n }, known) => {
    const override = n % 2 === 1;
    const warnings = await run.does(by, "resume", { id: known.id, override });
    const isRefused = known.status === "completed" && !override;
    assert.equal(warnings.includes("this conversation was marked complete"), isRefused);
    if (isRefused) return;
    // One that rested is active from now on, whoever has looked at it.
    run.model.look([known], run.now, by);
    run.model.become(known, "active", run.now);
  }),

  rename: withOpenSession(async (run, { by, n }, known) => {
    known.title = run.words(n);
    await run.does(by, "rename", { id: known.id, title: known.title });
    known.isEdited = false;
  }),

  archive: withOpenSession(async (run, { by }, known) => {
    await run.does(by, "archive", { id: known.id });
    known.isArchived = true;
  }),
  unarchive: withOpenSession(async (run, { by }, known) => {
    await run.does(by, "unarchive", { id: known.id });
    known.isArchived = false;
  }),

  pin: withOpenSession(async (run, { by, n, which }, known) => {
    const message = known.messages[which % known.messages.length];
    if (!message || n % 8 === 0)
      return run.expectRefusal(by, "pin", { id: known.id, message: "nobody" }, ["not_found"]);
    await run.does(by, "pin", { id: known.id, message: message.id });
    known.pins.add(message.id);
  }),
  unpin: withOpenSession(async (run, { by, which }, known) => {
    const message = [...known.pins][which % known.pins.size] ?? "nobody";
    await run.does(by, "unpin", { id: known.id, message });
    known.pins.delete(message);
  }),

  setAgent: withOpenSession(async (run, { by, n }, known) => {
    known.agent = n % 2 ? AGENT : { model: run.words(n) };
    await run.does(by, "setAgent", { id: known.id, agent: known.agent });
  }),
  flush: withOpenSession((run, { by }, known) => run.does(by, "flush", { id: known.id })),

  fork: withOpenSession(async (run, { by, n, which }, known) => {
    const count = n % 2 ? known.messages.length : Math.min(known.messages.length, 1 + (which % 4));
    const last = known.messages[count - 1];
    if (!last || n % 8 === 0) return run.expectRefusal(by, "fork", { id: known.id, at: "nobody" }, ["not_found"]);
    const seen = run.model.ofProject(run.project);
    run.model.mayLook(seen, run.now, by);
    const title = forkTitleOf(known, run.model.listSessions(seen, { type: null, archived: null }));
    const value = await run.does(by, "fork", { id: known.id, at: n % 2 ? undefined : last.id });
    const asked = { type: known.type, title, agent: known.agent };
    const messages = known.messages.slice(0, count);
    const lastMs = Math.max(...messages.map(({ ms = 0 }) => ms));
    const fork = noteBegun(run, { by, asked, value, isCurrent: false });
    const has = (/** @type {string | undefined} */ caller) =>
      caller === undefined || messages.some((message) => message.id === caller);
    const executions = known.executions.filter(
      (call) => messages.some(({ answers }) => answers === call) && has(known.callers.get(call)),
    );
    Object.assign(fork, {
      forkedFrom: { session: known.id, messageId: last.id },
      messages,
      executions,
      callers: new Map(known.callers),
      lastMs,
    });
    run.model.processes[by]?.held.add(fork.id);
  }),

  delete: withOpenSession(async (run, { by, n }, known) => {
    const purge = n % 4 === 0;
    if (run.model.isHeldBeside(by, known))
      return run.expectRefusal(by, "delete", { id: known.id, purge }, ["open_elsewhere"]);
    const { trash } = await run.does(by, "delete", { id: known.id, purge });
    await run.removeSession(known);
    if (purge) assert.equal(trash, null);
    else run.model.trash.push({ path: trash, known });
  }),

  async relocate(run, { by, n }) {
    const [from, to] = n % 2 ? run.world.places.projects : [...run.world.places.projects].reverse();
    const moved = run.model.sessions.filter((known) => known.placement === "home" && known.project === from);
    // Those before one that is refused would be moved, in an order that nobody promised.
    if (moved.some((known) => run.model.isHeldBeside(by, known))) return false;
    const { count } = await run.does(by, "relocate", { from, to });
    assert.equal(count, moved.length);
    for (const known of moved) run.model.opens(by, known, run.now);
    for (const known of moved) await run.relocateSession(by, known, String(to));
  },

  async import(run, { by, n, which }) {
    const source = `transcript-${which % 2}`;
    const count = 2 + (n % 6);
    const { path, messages, lastMs } = await writeTranscript(run, source, count);
    const [one] = await run.does(by, "import", { path });
    await noteImported(run, { by, source, messages, lastMs, one });
  },

  edit: ofOne(editDocument),

  async deleteDerived(run, { n }) {
    const { home, projects } = run.world.places;
    const { files } = run.world;
    if (n & 1) await files.remove(join(home, "sessions", "index.jsonl"));
    if (n & 2)
      for (const name of await files.list(join(home, "cache")))
        if (name.endsWith(".json")) await files.remove(join(home, "cache", name));
    if (n & 4) {
      await files.remove(join(projects[0] ?? "", ".leftoff", "current-session.json"));
      run.model.pointer = undefined;
    }
    if (!(n & 8)) return;
    for (const known of run.model.sessions) {
      if (known.isEdited) continue;
      await files.remove(documentOf(known));
      known.unknown = {};
    }
  },

  async close(run, { by }) {
    await run.does(by, "close", {});
    run.model.processes[by] = { open: new Set(), held: new Set() };
  },

  async crash(run, { by, n, which }) {
    await run.world.crash(by);
    const { held } = run.model.processes[by] ?? { held: new Set() };
    run.model.processes[by] = { open: new Set(), held: new Set() };
    const known = run.model.sessions.find(({ id }) => held.has(id)) ?? run.pickSession(which);
    const log = known && join(known.path, n & 1 ? "messages.jsonl" : "events.jsonl");
    if (!log || n % 4 === 0 || !(await run.world.files.read(log))) return;
    await run.world.files.append(log, bytesOf('{"v":1,"id":"torn","role":"user","content":"ha'.slice(0, 1 + n)));
  },

  async jump(run, { n }) {
    run.now += [ONE_MINUTE, 6 * ONE_MINUTE, 24 * 60 * ONE_MINUTE, 40 * 24 * 60 * ONE_MINUTE][n % 4] ?? 0;
  },

  async list(run, { by, n }) {
    const wanted = [
      { all: true, type: null, archived: null },
      { all: true },
      {},
      { status: "paused", all: true },
      { status: "archived" },
      { type: "review" },
      { archived: null, status: "completed" },
      { type: null, archived: null },
    ][n % 8];
    await comparedList(run, by, wanted);
  },

  find: ofOne(async (run, { by, n, which }, known) => {
    const day = known.path.split("/").at(-3);
    const word =
      [known.id, known.id.slice(0, 8 + (which % 24)), known.name ?? "nobody", `${day}/${known.name}`][n % 4] ?? "";
    run.model.mayLook(run.model.processes[by]?.open.has(word) ? [] : run.model.sessions, run.now, by);
    const found = run.model.findByWord(word);
    const [only] = found;
    if (!only || found.length > 1)
      return run.expectRefusal(by, "find", { id: word }, [only ? "ambiguous" : "not_found"]);
    assert.equal((await run.does(by, "find", { id: word })).path, only.path);
    run.model.opens(by, only, run.now);
  }),

  async continue(run, { by }) {
    const seen = run.model.ofProject(run.project);
    run.model.mayLook(seen, run.now, by);
    const goesOn = run.model
      .listSessions(seen, {})
      .filter(({ status, type }) => status !== "completed" && type !== "subagent");
    const value = await run.does(by, "continue", {});
    const expected = run.pointedSessions(goesOn);
    if (expected.length === 0) return noteBegun(run, { by, asked: { placement: "workspace" }, value });
    const known = expected.find(({ path }) => path === value.path);
    assert.ok(known, `expected to go on with ${expected.map(({ path }) => path)}, but found ${value.path} instead`);
    run.model.opens(by, known, run.now);
    run.model.pointer = { id: known.id, path: known.path };
  },

  async current(run, { by }) {
    const seen = run.model.ofProject(run.project);
    run.model.mayLook(seen, run.now, by);
    const value = await run.does(by, "current", {});
    // The one that is pointed to, whatever it is; else one that lists have.
    const { pointer } = run.model;
    const pointed = run.model
      .listSessions(seen, { type: null, archived: null })
      .filter(({ id, path }) => id === pointer?.id && path === pointer.path);
    const expected = pointed.length > 0 ? pointed : run.pointedSessions(run.model.listSessions(seen, {}));
    const known = expected.find(({ path }) => path === value?.path);
    assert.equal(known?.path, expected.length > 0 ? (known?.path ?? "one of those") : undefined);
    if (known) run.model.opens(by, known, run.now);
  },

  together: ofOne(runTogether),
};

/** Two processes at once on the same files. @param {Run} run @param {Pick} pick @param {ModelSession} known */
async function runTogether(run, { n }, known) {
  if (n % 3 === 0) {
    const asked = { placement: "workspace", title: "at once" };
    const both = await Promise.all([0, 1].map((by) => run.does(by, "create", asked)));
    for (const [by, value] of both.entries()) noteBegun(run, { by, asked, value });
    // Who pointed last, nobody can say.
    run.model.pointer = undefined;
    await run.world.files.remove(join(run.project, ".leftoff", "current-session.json"));
    return;
  }
  if (n % 3 === 1) {
    const { path, messages, lastMs } = await writeTranscript(run, "transcript-0", 2 + (n % 6));
    const [[one]] = await Promise.all([0, 1].map((by) => run.does(by, "import", { path })));
    await noteImported(run, { by: 0, source: "transcript-0", messages, lastMs, one: { ...one, added: undefined } });
    return;
  }
  for (const by of [0, 1]) {
    run.open(by, known);
    await run.does(by, "find", { id: known.id });
  }
  const mine = [0, 1].map(() => [1, 2].map(() => ({ role: "user", content: run.words(n) })));
  const ids = await Promise.all(mine.map((drafts, by) => run.does(by, "append", { id: known.id, drafts })));
  const text = textOf(/** @type {Uint8Array} */ (await run.world.files.read(join(known.path, "messages.jsonl"))));
  const isFirst = text.indexOf(ids[0][0]) < text.indexOf(ids[1][0]);
  for (const by of isFirst ? [0, 1] : [1, 0])
    noteAppended(run, {
      by,
      known,
      said: (mine[by] ?? []).map(({ role, content }, place) => modelMessage(ids[by][place], role, content)),
    });
}

/**
 * @param {Run} run
 * @param {{ by: number, asked: any, value?: any, code?: string, isCurrent?: boolean }} made
 * @returns {ModelSession}
 */
function noteBegun(run, { by, asked, value, code, isCurrent = true }) {
  assert.ok(value, `expected a new session, but found ${code} instead`);
  const { id, path, placement } = value;
  assert.ok(!run.model.sessions.some((one) => one.path === path || one.id === id), `a second session in ${path}`);
  const { title, type = "chat", agent = {} } = asked;
  const name = placement === "workspace" ? path.split("/").at(-2) : asked.name;
  const project = placement === "home" ? run.project : undefined;
  const known = run.model.begin({ id, path, placement, project, type, name, title, agent }, run.now);
  run.model.processes[by]?.open.add(id);
  if (isCurrent) run.model.pointer = { id, path };
  return known;
}

/**
 * What of a transcript is there.
 * @param {Run} run
 * @param {{ by: number, source: string, messages: any[], lastMs: number, one: any }} what
 */
async function noteImported(run, { by, source, messages, lastMs, one }) {
  const there = run.model.sessions.find((known) => known.imported === source);
  const isOpen = there && run.model.processes[by]?.open.has(there.id);
  if (there) run.model.opens(by, there, run.now);
  const project = run.world.places.projects[1] ?? "";
  const known =
    there ??
    run.model.begin(
      {
        id: one.id,
        path: run.homeOf(one.id, project),
        placement: "home",
        project,
        imported: source,
        status: "paused",
        agent: { model: "claude-test" },
        createdMs: Math.min(...messages.map(({ ms }) => ms)),
      },
      run.now,
    );
  assert.equal(one.id, known.id);
  const contents = new Set(known.messages.map(({ content }) => content));
  const fresh = messages.filter(({ content }) => !contents.has(content));
  if (one.added !== undefined) assert.equal(one.added, fresh.length);
  const added = [];
  for (const { role, content, ms } of fresh)
    added.push({ ...modelMessage(await idOf(run, known, content), role, content), ms, isImported: true });
  if (added.length > 0) run.model.append(known, added, lastMs, { revives: false });
  // Who had it open has it open still.
  if (!isOpen) run.model.processes[by]?.open.delete(known.id);
}

/** @param {Run} run @param {{ by: number, known: ModelSession, said: any[] }} what */
function noteAppended(run, { by, known, said }) {
  run.model.append(known, said, run.now);
  run.model.processes[by]?.held.add(known.id);
}

/** What a message is named in the log. @param {Run} run @param {ModelSession} known @param {string} content */
async function idOf(run, known, content) {
  const lines = textOf((await run.world.files.read(join(known.path, "messages.jsonl"))) ?? new Uint8Array()).split(
    "\n",
  );
  const line = lines.find((one) => one.includes(`"content":${JSON.stringify(content)}`));
  assert.ok(line, `expected "${content}" in ${known.path}, but found none`);
  return JSON.parse(line.slice(line.lastIndexOf('{"v":1'))).id;
}

/** @param {string} id @param {string} role @param {string} content */
function modelMessage(id, role, content) {
  return { id, role, content, rev: 0, isPartial: false, calls: /** @type {string[]} */ ([]) };
}

/**
 * What is appended: drafts, and what the model knows of them.
 * @param {Run} run
 * @param {ModelSession} known
 * @param {number} n
 */
function draftMessages(run, known, n) {
  const [first, second] = [run.words(n), run.words(n + 1)];
  const partial = known.messages.find(({ isPartial }) => isPartial);
  const call = run.newId();
  const asks = {
    role: "assistant",
    content: first,
    assistant: { toolCalls: [{ id: call, name: "read", arguments: "{}" }] },
  };
  const plain = (/** @type {string} */ role, /** @type {string} */ content) => ({
    drafts: [{ role, content }],
    said: [modelMessage("", role, content)],
  });
  const several = (/** @type {any[]} */ ...all) => ({
    drafts: all.flatMap(({ drafts }) => drafts),
    said: all.flatMap((one) => one.said),
  });
  const call1 = { drafts: [asks], said: [{ ...modelMessage("", "assistant", first), calls: [call] }] };
  const answer = {
    drafts: [{ role: "tool", content: second, tool: { callId: call, name: "read" } }],
    said: [{ ...modelMessage("", "tool", second), answers: call }],
  };
  const open = {
    drafts: [{ role: "assistant", content: first, partial: true }],
    said: [{ ...modelMessage("", "assistant", first), isPartial: true }],
  };
  const rev = (partial?.rev ?? 0) + 1;
  const closed = partial && {
    drafts: [{ id: partial.id, role: "assistant", content: first, rev }],
    said: [{ ...modelMessage(partial.id, "assistant", first), rev }],
  };
  return (
    [
      plain("user", first),
      several(plain("user", first), plain("assistant", second)),
      call1,
      several(call1, answer),
      open,
      closed ?? plain("user", first),
    ][n % 6] ?? plain("user", first)
  );
}

/**
 * @param {Run} run
 * @param {{ by: number, known: ModelSession, verb: string, status: "paused" | "completed", summary?: string }} what
 */
async function become(run, { by, known, verb, status, summary }) {
  const asked = { id: known.id, summary };
  if (!run.model.may(known, status)) return run.expectRefusal(by, verb, asked, ["invalid_transition"]);
  await run.does(by, verb, asked);
  run.model.become(known, status, run.now);
  if (summary !== undefined) known.summary = summary;
}

/** @param {ModelSession} known */
export function documentOf({ path, placement }) {
  return join(path, placement === "home" ? "metadata.json" : "session.json");
}

/** Somebody edits the document of a session. @param {Run} run @param {Pick} pick @param {ModelSession} known */
async function editDocument(run, { n }, known) {
  const file = documentOf(known);
  const bytes = await run.world.files.read(file);
  if (!bytes) return false;
  const document = JSON.parse(textOf(bytes));
  const isHome = known.placement === "home";
  const text = run.words(n);
  const isOpen = run.model.processes.some(({ open }) => open.has(known.id));
  const edits = [
    () => (known.title = isHome ? (document.display.title = text) : (document.title = text)),
    () => (known.summary = document[isHome ? "summary" : "context_summary"] = text),
    () => (known.unknown.x_top = document.x_top = { deep: [text, 1e300] }),
    () => (known.unknown.x_deep = document[isHome ? "stats" : "agent_config"].x_deep = text),
    () => {
      known.isArchived = !known.isArchived;
      if (isHome) document.status = known.isArchived ? "archived" : "active";
      else if (known.isArchived) document.archived_at = new Date(run.now).toISOString();
      else delete document.archived_at;
    },
    () => {
      // A process that has it open may have gone on with it, and not seen the edit.
      if (isOpen) return;
      known.status = /** @type {const} */ (["active", "paused", "completed"])[n % 3] ?? "active";
      document[isHome ? "lifecycle" : "status"] = known.status;
    },
  ];
  edits[n % edits.length]?.();
  known.isEdited = true;
  await run.world.files.write(file, bytesOf(`${JSON.stringify(document, null, 2)}\n`));
}

/** A transcript of that many messages. @param {Run} run @param {string} source @param {number} count */
async function writeTranscript(run, source, count) {
  const startMs = run.startMs - 3_600_000;
  const cwd = run.world.places.projects[1];
  const messages = Array.from({ length: count }, (_, place) => ({
    role: place % 2 ? "assistant" : "user",
    content: `${source} says ${place}`,
    ms: startMs + place * 1000,
  }));
  const lines = messages.map(({ role, content, ms }, place) => ({
    type: role,
    uuid: `${source}-${place}`,
    parentUuid: place > 0 ? `${source}-${place - 1}` : null,
    sessionId: source,
    timestamp: new Date(ms).toISOString(),
    cwd,
    version: "2.1.0",
    message:
      role === "user"
        ? { role, content }
        : { id: `m-${place}`, type: "message", role, model: "claude-test", content: [{ type: "text", text: content }] },
  }));
  const path = join(run.world.places.home, "..", `${source}.jsonl`);
  await run.world.files.write(path, bytesOf(`${lines.map((line) => JSON.stringify(line)).join("\n")}\n`));
  return { path, messages, lastMs: messages.at(-1)?.ms ?? 0 };
}
