// @ts-check
/** What there is to know of one session. */

import { join } from "node:path";

import { derived } from "../storage/derived.js";
import { NodeStorage } from "../index.js";
import { conversationOf, names } from "../placement/placement.js";
import { sizeText } from "./print.js";
import { chosen, using } from "./store.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../session/session.js").Session} Session */
/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {{ file: string, bytes: number, count?: number }} Size `count`: of a folder, how many files are in it */

const ROLES = /** @type {const} */ (["system", "user", "assistant", "tool"]);

/** @param {Args} args */
export async function info(args) {
  const value = await using(args, async (store) => {
    const session = await chosen(store, args);
    return gathered(store, session);
  });
  return { text: table(rows(value)), value };
}

/** @typedef {Awaited<ReturnType<typeof gathered>>} Info */

/** @param {Store} store @param {Session} session */
async function gathered(store, session) {
  return { ...described(session), ...(await counted(session)), ...(await related(store, session)), ...(await stored(session)) };
}

/** What its document says. @param {Session} session */
function described({ metadata, path, placement }) {
  const { id, name, type, display, lifecycle, archivedAt, summary, project, provider, agent, timestamps, imported, stats } = metadata;
  return {
    id,
    name: name ?? null,
    title: display.title,
    type,
    status: lifecycle,
    archivedAt: archivedAt ?? null,
    summary: summary ?? null,
    createdAt: timestamps.createdAt,
    lastActive: timestamps.lastMessageAt || timestamps.lastAccessedAt,
    project: placement === "workspace" ? conversationOf(path).workspace : project.path || null,
    placement,
    path,
    agent: { command: agent.command ?? null, model: provider.model || null, provider: provider.type || null, contextWindow: provider.contextWindow || null, tools: agent.tools ?? [] },
    source: imported ? { agent: imported.agent, id: imported.sourceId } : null,
    totalTokens: stats.totalTokens,
    toolExecutions: stats.toolExecutionCount,
  };
}

/** What is counted by reading it. @param {Session} session */
async function counted(session) {
  /** @type {Record<string, number>} */
  const roles = Object.fromEntries(ROLES.map((role) => [role, 0]));
  let [messageCount, branches] = [0, 0];
  for await (const { role = "other", branch } of session.messages({ allBranches: true })) {
    messageCount += 1;
    roles[role] = (roles[role] ?? 0) + 1;
    if (branch) branches += 1;
  }
  return { messageCount, roles, branches, pins: await session.pins() };
}

/** Where it comes from, and what comes from it: of the same project, since others are too many to look at. @param {Store} store @param {Session} session */
async function related(store, session) {
  const { forkedFrom = null, parent = null } = session.metadata;
  const storage = new NodeStorage();
  /** @type {string[]} */
  const forks = [];
  /** @type {string[]} */
  const subagents = [];
  for (const { id, path, placement } of await store.list({ type: null, archived: null })) {
    const document = await derived(storage, join(path, names()[placement].file));
    if ((document?.forkedFrom ?? document?.forked_from)?.session === session.id) forks.push(id);
    if (document?.parent?.session === session.id) subagents.push(id);
  }
  await storage.close();
  return { forkedFrom, parent, forks, subagents };
}

/** What lies on the disk, and how well. @param {Session} session */
async function stored(session) {
  const { health, problems } = await session.examine();
  const openIn = (await session.others()).map(({ program, pid, host, since }) => ({ program, pid, host, since }));
  return { files: await sizes(session.path), health, problems, openIn };
}

/** @param {string} folder @returns {Promise<Size[]>} */
async function sizes(folder) {
  const storage = new NodeStorage();
  /** @type {Size[]} */
  const files = [];
  for (const { name, kind } of (await storage.list(folder)) ?? []) {
    const path = join(folder, name);
    const within = kind === "folder" ? ((await storage.list(path)) ?? []) : undefined;
    const all = await Promise.all((within ?? [{ name: "" }]).map((one) => storage.stat(join(path, one.name))));
    const bytes = all.reduce((sum, stat) => sum + (stat?.size ?? 0), 0);
    files.push(within ? { file: `${name}/`, bytes, count: within.length } : { file: name, bytes });
  }
  await storage.close();
  return files;
}

/** Each with its name; what there is not has no row. @param {Info} info @returns {[string, string][]} */
function rows(info) {
  const { agent, source, messageCount, forkedFrom, parent } = info;
  const model = [agent.model, agent.provider && `of ${agent.provider}`, agent.contextWindow && `window ${agent.contextWindow}`].filter(Boolean).join(", ");
  const roles = Object.entries(info.roles).flatMap(([role, count]) => (count > 0 ? `${count} ${role}` : [])).join(", ");
  const where = (/** @type {import("../types/index.js").FileProblem} */ { file, start, end }) => (end > 0 ? `${file}, bytes ${start} to ${end}` : file);
  return /** @type {[string, string | null | undefined | false][]} */ ([
    ["id", info.id],
    ["title", info.title],
    ["name", info.name],
    ["type", info.type],
    ["status", info.archivedAt ? `${info.status}, archived ${info.archivedAt}` : info.status],
    ["created", info.createdAt],
    ["last active", info.lastActive],
    ["summary", info.summary],
    ["project", info.project],
    ["path", `${info.path} (${info.placement})`],
    ["command", agent.command],
    ["model", model],
    ["tools", agent.tools.join(", ")],
    ["imported", source && `from ${source.agent}, where it is ${source.id}`],
    ["messages", `${messageCount}${roles && `: ${roles}`}`],
    ["tokens", String(info.totalTokens)],
    ["tool calls", info.toolExecutions > 0 && String(info.toolExecutions)],
    ["branches", info.branches > 0 && String(info.branches)],
    ["pins", info.pins.join(", ")],
    ["forked from", forkedFrom && `${forkedFrom.session}, at message ${forkedFrom.messageId}`],
    ["forks", info.forks.join(", ")],
    ["called by", parent && `${parent.session}${parent.callId ? `, call ${parent.callId}` : ""}`],
    ["sub-agents", info.subagents.join(", ")],
    ["files", info.files.map(({ file, bytes, count }) => `${file} ${sizeText(bytes)}${count === undefined ? "" : ` in ${count}`}`).join(", ")],
    ["open in", info.openIn.map(({ program, pid, host, since }) => `${program}, process ${pid} on ${host}, since ${since}`).join("; ")],
    ["health", info.health],
    ...info.problems.map((problem) => ["", `${where(problem)}: ${problem.message} (${problem.code})`]),
  ]).filter(/** @returns {row is [string, string]} */ (row) => Boolean(row[1]));
}

/** @param {[string, string][]} all */
function table(all) {
  const wide = Math.max(...all.map(([name]) => name.length));
  return all.map(([name, value]) => `${name.padEnd(wide)}  ${value.replace(/\s+/g, " ")}\n`).join("");
}
