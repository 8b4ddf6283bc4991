// @ts-check
/** Whether a context, as a model gets it, names what a conversation came to. */

/** @import { Raw } from "./raw.mjs" */

const SUMMARY = "[EARLIER CONVERSATION]";

/**
 * What of it a context does not name, in words; empty where all of it is there. Where the context has a summary, only that
 * counts: what stands in the newest messages by chance is no merit.
 * @param {any[]} messages in leftoff's own shape
 * @param {Raw} known
 * @param {string} project
 * @returns {string[]}
 */
export function missing(messages, known, project) {
  const summary = messages.find(({ content }) => content.startsWith(SUMMARY))?.content;
  return summary === undefined ? notInMessages(messages, known) : notInSummary(summary, known, project);
}

/** @param {string} summary @param {Raw} known @param {string} project */
function notInSummary(summary, known, project) {
  const files = filesOf(summary);
  const lines = new Set(summary.split("\n"));
  const path = (/** @type {string} */ full) => (project && full.startsWith(`${project}/`) ? full.slice(project.length + 1) : full);
  const since = (/** @type {boolean} */ hasPassed) => (hasPassed ? "passed when it was run again" : "has not passed since");
  const saysOf = (/** @type {string} */ command, /** @type {boolean} */ hasPassed) => [...lines].some((line) => line.startsWith("- `") && line.endsWith(since(hasPassed)) && bare(line).startsWith(bare(command).slice(0, 200)));
  return [
    ...(bare(summary).includes(bare(known.task).slice(0, 250)) ? [] : [`the task: ${known.task}`]),
    ...known.open.filter((task) => !lines.has(`- ${task}`) && !bare(summary).includes(bare(task))).map((task) => `open: ${task}`),
    ...[...known.files].filter(([full, kind]) => files.get(path(full)) !== kind).map(([full, kind]) => `${kind}: ${full}, but ${files.get(path(full))}`),
    ...[...known.failed].filter(([command, { hasPassed }]) => !saysOf(command, hasPassed)).map(([command, { hasPassed }]) => `${since(hasPassed)}: ${command}`),
  ];
}

// The messages themselves: a call says what it does, its result how that went.
/** @param {any[]} messages @param {Raw} known */
function notInMessages(messages, known) {
  const calls = messages.flatMap(({ assistant }) => assistant?.toolCalls ?? []);
  const said = messages.map(({ content }) => bare(content)).join("\n");
  const asked = calls.map((call) => bare(JSON.stringify(JSON.parse(call.arguments)).replace(/\\[nt]/g, " "))).join("\n");
  const endOf = (/** @type {string} */ command) => {
    const last = calls.findLast((call) => bare(String(JSON.parse(call.arguments).command)) === bare(command));
    return messages.find(({ tool }) => last && tool?.callId === last.id);
  };
  return [
    ...(said.includes(bare(known.task)) ? [] : [`the task: ${known.task}`]),
    ...known.open.filter((task) => !asked.includes(bare(task))).map((task) => `open: ${task}`),
    ...[...known.files.keys()].filter((path) => !asked.includes(bare(path))).map((path) => `file: ${path}`),
    ...[...known.failed].filter(([command, { hasPassed }]) => endOf(command) === undefined || hasPassed === (endOf(command).tool.isError === true)).map(([command]) => `command: ${command}`),
  ];
}

/** The files that a summary names, and what became of each. @param {string} summary @returns {Map<string, string>} */
function filesOf(summary) {
  const [, section = ""] = /\nFILES MODIFIED THIS SESSION:\n((?:- .*\n)*)/.exec(summary) ?? [];
  const files = new Map();
  for (const line of section.split("\n")) {
    const [, named = "", kind = ""] = /^- (.*) \((\w+)\)$/.exec(line) ?? [];
    const [, folder = "", names = named] = /^(.*[/\\]): (.*)$/.exec(named) ?? [];
    for (const name of names.split(", ")) files.set(folder + name, kind);
  }
  return files;
}

/** Letters and digits alone: brackets and blanks are written otherwise in a summary. @param {string} text */
function bare(text) {
  return text.replace(/[^\p{L}\p{N}]+/gu, "");
}
