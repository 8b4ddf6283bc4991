// @ts-check
/** Whether a context, as a model gets it, names what a conversation came to. */

/** @import { Raw } from "./raw.mjs" */

// What a command is known by has no more bytes.
const LONGEST_COMMAND = 300;
const SUMMARY = "[EARLIER CONVERSATION]";

/**
 * What of it a context does not name, in words; empty where all of it is there. Where the context has a summary, only
 * that counts: what stands in the newest messages by chance is no merit.
 * @param {any[]} messages in leftoff's own shape
 * @param {Raw} known
 * @param {string} project
 * @returns {string[]}
 */
export function missing(messages, known, project) {
  const summary = messages.find(({ content }) => content.startsWith(SUMMARY))?.content;
  return summary === undefined ? notInMessages(messages, known, project) : notInSummary(summary, known, project);
}

/** @param {string} summary @param {Raw} known @param {string} project */
function notInSummary(summary, known, project) {
  const files = filesOf(summary);
  const since = (/** @type {boolean} */ hasPassed) =>
    hasPassed ? "passed when it was run again" : "has not passed since";
  const lines = summary.split("\n");
  // Each command is named for itself: it whole, or how it begins and ends.
  const shown = lines.flatMap(commandsOf);
  const places = [...known.failed].map(([command, { hasPassed }]) => {
    const place = shown.findIndex((one) => one && says(one, command, since(hasPassed)));
    delete shown[place];
    return place;
  });
  return [
    ...(bare(summary).includes(bare(known.task).slice(0, 250)) ? [] : [`the task: ${known.task}`]),
    ...known.open
      .filter((task) => !lines.includes(`- ${task}`) && !bare(summary).includes(bare(task)))
      .map((task) => `open: ${task}`),
    ...[...known.files]
      .filter(([full, kind]) => files.get(pathInProject(full, project)) !== kind)
      .map(([full, kind]) => `${kind}: ${full}, but ${files.get(pathInProject(full, project))}`),
    ...[...known.failed]
      .filter((_, place) => places[place] === -1)
      .map(([command, { hasPassed }]) => `${since(hasPassed)}: ${command}`),
  ];
}

/** The commands that a line of a summary names, and how each ended. @param {string} line */
function commandsOf(line) {
  const [, named, since] = /^- `(.*)`(?: each)? failed(?: \d+ times)?, (.*)$/.exec(line) ?? [];
  return named === undefined ? [] : named.split("`, `").map((text) => ({ text, since }));
}

/**
 * Whether that is a command which ended so.
 * @param {{ text: string, since: string | undefined }} shown
 * @param {string} command
 * @param {string} since
 */
function says(shown, command, since) {
  const [head = "", tail] = shown.text.split(/ \.\.\. (?=[^]{0,150}$)/).map(bare);
  const whole = bare(command.slice(0, LONGEST_COMMAND));
  return (
    head !== "" &&
    shown.since === since &&
    (tail === undefined ? whole === head : whole.startsWith(head) && whole.endsWith(tail))
  );
}

// The messages themselves: a call says what it does, its result how that went.
/** @param {any[]} messages @param {Raw} known @param {string} project */
function notInMessages(messages, known, project) {
  const calls = messages.flatMap(({ assistant }) => assistant?.toolCalls ?? []);
  const said = messages.map(({ content }) => bare(content)).join("\n");
  const asked = calls
    .map((call) => bare(JSON.stringify(JSON.parse(call.arguments)).replace(/\\[nt]/g, " ")))
    .join("\n");
  const endOf = (/** @type {string} */ command) => {
    const last = calls.findLast((call) => bare(String(JSON.parse(call.arguments).command)) === bare(command));
    return messages.find(({ tool }) => last && tool?.callId === last.id);
  };
  // A command may go to the folder first.
  const isNamed = (/** @type {string} */ path) =>
    path.split(/\/(?=[^/]*$)/).every((part) => asked.includes(bare(part)));
  return [
    ...(said.includes(bare(known.task)) ? [] : [`the task: ${known.task}`]),
    ...known.open.filter((task) => !asked.includes(bare(task))).map((task) => `open: ${task}`),
    ...[...known.files.keys()].filter((path) => !isNamed(pathInProject(path, project))).map((path) => `file: ${path}`),
    ...[...known.failed]
      .filter(
        ([command, { hasPassed }]) =>
          endOf(command) === undefined || hasPassed === (endOf(command).tool.isError === true),
      )
      .map(([command]) => `command: ${command}`),
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

/** A path as seen from the project. @param {string} path @param {string} project */
export function pathInProject(path, project) {
  return project && path.startsWith(`${project}/`) ? path.slice(project.length + 1) : path;
}

/** Letters and digits alone: brackets and blanks are written otherwise in a summary. @param {string} text */
function bare(text) {
  return text.replace(/[^\p{L}\p{N}]+/gu, "");
}
