// @ts-check
/** `leftoff info`: all there is to know of one session. */

import { formatSize } from "./print.js";
import { findSession, withStore } from "./store.js";

/** @typedef {import("../types/index.js").SessionInfo} Info */

/** @param {Record<string, any>} args */
export async function info(args) {
  const value = await withStore(
    args,
    async (store) => store.info(await findSession(store, args)),
    "reading the session",
  );
  return { text: table(rows(value)), value };
}

/** The named rows; absent facts have none. @param {Info} info @returns {[string, string][]} */
function rows(info) {
  const { agent, source, messageCount, forkedFrom, parent } = info;
  const model = [
    agent.model,
    agent.provider && `of ${agent.provider}`,
    agent.contextWindow && `window ${agent.contextWindow}`,
  ]
    .filter(Boolean)
    .join(", ");
  const roles = Object.entries(info.roles)
    .flatMap(([role, count]) => (count > 0 ? `${count} ${role}` : []))
    .join(", ");
  const where = (/** @type {import("../types/index.js").FileProblem} */ { file, start, end }) =>
    end > 0 ? `${file}, bytes ${start} to ${end}` : file;
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
    [
      "files",
      info.files
        .map(({ file, bytes, count }) => `${file} ${formatSize(bytes)}${count === undefined ? "" : ` in ${count}`}`)
        .join(", "),
    ],
    [
      "open in",
      info.openIn
        .map(({ program, pid, host, since }) => `${program}, process ${pid} on ${host}, since ${since}`)
        .join("; "),
    ],
    ["health", info.health],
    ...info.problems.map((problem) => ["", `${where(problem)}: ${problem.message} (${problem.code})`]),
  ]).filter(/** @returns {row is [string, string]} */ (row) => Boolean(row[1]));
}

/** @param {[string, string][]} all */
function table(all) {
  const wide = Math.max(...all.map(([name]) => name.length));
  return all.map(([name, value]) => `${name.padEnd(wide)}  ${value.replace(/\s+/g, " ")}\n`).join("");
}
