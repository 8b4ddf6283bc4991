// @ts-check
/** What the API says is what the model knows. */

import assert from "node:assert/strict";
import { join } from "node:path";

import { lastActive, titleOf } from "./model.mjs";
import { LOGS, documentOf } from "./steps.mjs";
import { textOf } from "./world.mjs";

/** @import { Run } from "./run.mjs" */
/** @import { ModelSession } from "./model.mjs" */

const NARROW = 160;
const ALL = { all: true, type: null, archived: null };

/** A list has what it should, last active first. @param {Run} run @param {number} by @param {any} wanted */
export async function comparedList(run, by, wanted) {
  const seen = wanted.all ? run.model.sessions : run.model.ofProject(run.project);
  run.model.look(seen, run.now, by);
  sameList(await run.does(by, "list", wanted), run.model.listSessions(seen, wanted));
}

/** @param {any[]} listed @param {ModelSession[]} expected */
function sameList(listed, expected) {
  const times = listed.map(({ lastActive }) => lastActive);
  assert.deepEqual(times, [...times].sort().reverse(), "last active first");
  const byPath = (/** @type {any} */ a, /** @type {any} */ b) => (a.path < b.path ? -1 : 1);
  const said = listed.map(
    ({ id, path, title, type, status, lastActive, summary, messageCount, placement, name, archivedAt, project }) => ({
      id,
      path,
      title,
      type,
      status,
      lastActive,
      summary: givenSummary(summary) ?? null,
      messageCount,
      placement,
      name,
      isArchived: archivedAt !== undefined,
      project,
    }),
  );
  const known = expected.map((one) => ({
    id: one.id,
    path: one.path,
    title: titleOf(one),
    type: one.type,
    status: one.status,
    lastActive: new Date(lastActive(one)).toISOString(),
    summary: one.summary ?? null,
    messageCount: one.messages.length,
    placement: one.placement,
    name: one.name,
    isArchived: one.isArchived,
    // What lies in a workspace belongs to the folder that the workspace is.
    project: one.placement === "workspace" ? one.path.split("/conversations/")[0] : one.project,
  }));
  assert.deepEqual(said.sort(byPath), known.sort(byPath));
}

/** A process that has seen nothing finds everything. @param {Run} run */
export async function comparedAll(run) {
  const { model, world } = run;
  const fresh = await world.fresh();
  const does = async (/** @type {string} */ verb, /** @type {any} */ asked) => {
    const { value, code, message } = await fresh.does(verb, asked, run.now);
    assert.equal(code, undefined, `${verb} ${JSON.stringify(asked)}: ${message}`);
    return value;
  };
  model.look(model.sessions, run.now);
  sameList(await does("list", ALL), model.listSessions(model.sessions, ALL));
  for (const known of model.sessions) {
    const told = await does("told", { id: known.id, window: NARROW });
    sameMetadata(told.metadata, known);
    sameMessages(told, known);
    await keptUnknown(run, known);
  }
  await does("close", {});
  for (const { path, known } of model.trash) await keptWhole(run, path, known);
}

/** @param {any} metadata @param {ModelSession} known */
function sameMetadata(metadata, known) {
  const { id, type, display, lifecycle, status, stats, summary, agent, provider, forkedFrom, project, timestamps } =
    metadata;
  const { command, systemPromptHash, tools, model = "", provider: by = "", contextWindow = 0, baseUrl } = known.agent;
  const said = {
    id,
    type,
    title: display.title,
    lifecycle,
    status,
    count: stats.messageCount,
    summary: givenSummary(summary),
    forkedFrom,
    project: project.path || undefined,
    lastMessageAt: timestamps.lastMessageAt,
    createdAt: timestamps.createdAt,
    agent,
    provider,
  };
  const expected = {
    id: known.id,
    type: known.type,
    title: titleOf(known),
    lifecycle: known.status,
    status: known.isArchived ? "archived" : "active",
    count: known.messages.length,
    summary: known.summary,
    forkedFrom: known.forkedFrom,
    project: known.project,
    lastMessageAt: new Date(lastActive(known)).toISOString(),
    createdAt: new Date(known.createdMs).toISOString(),
    agent: withoutAbsent({ command, systemPromptHash, tools }),
    provider: withoutAbsent({ type: by, model, contextWindow, baseUrl }),
  };
  assert.deepEqual(withoutAbsent(said), withoutAbsent(expected));
}

/** What is said, and what of it a model gets. @param {any} told @param {ModelSession} known */
function sameMessages({ messages, context, narrow, executions }, known) {
  const said = messages.map((/** @type {any} */ { id, role, content, rev = 0, partial = false }) => ({
    id,
    role,
    content,
    rev,
    isPartial: partial,
  }));
  assert.deepEqual(
    said,
    known.messages.map(({ id, role, content, rev, isPartial }) => ({ id, role, content, rev, isPartial })),
  );
  assert.deepEqual(executions, known.executions);
  const has = (/** @type {string[]} */ texts, /** @type {string} */ content) =>
    texts.some((text) => text.includes(content));
  for (const { role, content } of known.messages)
    if (role !== "tool") assert.ok(has(context, content), `"${content}" is not in the context`);
  // Pinned messages survive every strategy.
  if (!narrow) return;
  for (const { id, role, content } of known.messages)
    if (known.pins.has(id) && role !== "tool")
      assert.ok(has(narrow, content), `"${content}" is pinned and not in the narrow context`);
}

/** Fields of a document that leftoff does not know are there still. @param {Run} run @param {ModelSession} known */
async function keptUnknown(run, known) {
  if (Object.keys(known.unknown).length === 0) return;
  const bytes = await run.world.files.read(documentOf(known));
  const document = bytes ? JSON.parse(textOf(bytes)) : {};
  const nested = known.placement === "home" ? document.stats : document.agent_config;
  assert.deepEqual(withoutAbsent({ x_top: document.x_top, x_deep: nested?.x_deep }), known.unknown);
}

/** What was written stays: the old bytes of each log begin the new ones. @param {Run} run */
export async function keptLogs(run) {
  for (const known of run.model.sessions) {
    for (const name of LOGS) {
      const bytes = (await run.world.files.read(join(known.path, name))) ?? new Uint8Array();
      const before = known.logs.get(name);
      if (before) beginsWith(bytes, before, join(known.path, name));
      known.logs.set(name, bytes);
    }
  }
}

/** @param {Run} run @param {string} path @param {ModelSession} known */
async function keptWhole(run, path, known) {
  for (const [name, before] of known.logs)
    beginsWith((await run.world.files.read(join(path, name))) ?? new Uint8Array(), before, join(path, name));
  await keptUnknown(run, { ...known, path });
}

/** @param {Uint8Array} bytes @param {Uint8Array} before @param {string} path */
function beginsWith(bytes, before, path) {
  const isSame = Buffer.compare(bytes.subarray(0, before.length), before) === 0;
  assert.ok(isSame, `the old bytes of ${path} are not the beginning of the new ones`);
}

/** Without what is absent. @param {Record<string, any>} fields */
function withoutAbsent(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * What somebody said of it, without what it came to since: that has tests of its own.
 * @param {string | null | undefined} summary
 */
function givenSummary(summary) {
  const [words] = summary?.split("; since then: ") ?? [];
  return /^(Changed |Decided: |Open: |At the end: |Asked, and not answered yet: )/.test(words ?? "")
    ? undefined
    : words;
}
