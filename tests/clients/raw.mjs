// @ts-check
/**
 * A client's own file read once more, in a few lines that share nothing with leftoff: what was asked for first, which
 * files changed, which commands failed and whether they passed later, which tasks are open.
 */

/**
 * @typedef {object} Raw
 * @property {string} task
 * @property {Map<string, "created" | "modified" | "deleted">} files
 * @property {Map<string, { failures: number, hasPassed: boolean }>} failed
 * @property {string[]} open
 *
 * @typedef {{ name: string, input: any, folder?: string }} Call `folder`: where it is made
 * @typedef {{ text: string, isError: boolean }} Result
 */

const EDITORS = ["Edit", "MultiEdit", "NotebookEdit"];

/**
 * The conversation of a file of Claude Code, or that beside it of its sub-agents.
 * @param {string} file
 * @param {boolean} [isSide]
 * @returns {Raw}
 */
export function readClaude(file, isSide = false) {
  const reading = new Reading();
  /** @type {Map<string, Call>} */
  const calls = new Map();
  const seen = new Set();
  const lines = file.split("\n");
  const waiting = neverDelivered(lines);
  for (const [place, line] of lines.entries()) {
    const record = parseLine(line);
    if (waiting.has(place)) reading.addPrompt(textOf(record.content));
    if (record?.attachment?.type === "queued_command" && record.attachment.commandMode === "prompt")
      reading.addPrompt(textOf(record.attachment.prompt));
    if (
      !record?.message ||
      (record.isSidechain === true) !== isSide ||
      record.isMeta ||
      (record.uuid && seen.has(record.uuid))
    )
      continue;
    seen.add(record.uuid);
    const { content } = record.message;
    const blocks =
      typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
    for (const block of blocks) {
      if (record.type === "user" && block?.type === "text" && !record.isCompactSummary) reading.addPrompt(block.text);
      if (block?.type === "tool_use") calls.set(block.id, { ...block, folder: record.cwd });
      const call = block?.type === "tool_result" ? calls.get(block.tool_use_id) : undefined;
      // What was denied or interrupted did nothing.
      const hasRun = record.toolDenialKind === undefined && record.toolUseResult?.interrupted !== true;
      if (call && hasRun) reading.did(call, { text: textOf(block.content), isError: block.is_error === true });
    }
  }
  return reading;
}

/** The lines of prompts that were queued, and that the client did not come to. @param {string[]} lines */
function neverDelivered(lines) {
  /** @type {number[]} */
  const queue = [];
  for (const [place, line] of lines.entries()) {
    const record = parseLine(line);
    if (record?.type !== "queue-operation") continue;
    if (record.operation === "enqueue") queue.push(place);
    else queue.shift();
  }
  return new Set(queue);
}

/** A session of nanocoder. @param {string} file @returns {Raw} */
export function readNanocoder(file) {
  const reading = new Reading();
  /** @type {Map<string, Call>} */
  const calls = new Map();
  const names = new Map([
    ["execute_bash", "Bash"],
    ["write_file", "Write"],
    ["string_replace", "Edit"],
  ]);
  for (const { role, content, tool_calls = [], tool_call_id } of JSON.parse(file).messages) {
    if (role === "user") reading.addPrompt(content);
    for (const { id, function: made } of tool_calls) {
      const input = typeof made.arguments === "string" ? JSON.parse(made.arguments) : made.arguments;
      calls.set(id, {
        name: names.get(made.name) ?? made.name,
        input: { ...input, file_path: input.path ?? input.file_path },
      });
    }
    const call = calls.get(tool_call_id);
    const code = /EXIT_CODE: (\d+)/.exec(content);
    if (role === "tool" && call)
      reading.did(call, { text: content, isError: code ? code[1] !== "0" : /^(Error|⚠)/.test(content) });
  }
  return reading;
}

class Reading {
  task = "";
  /** @type {Raw["files"]} */
  files = new Map();
  /** @type {Raw["failed"]} */
  failed = new Map();
  /** @type {Map<string, string>} by number */
  #tasks = new Map();

  get open() {
    return [...this.#tasks.values()];
  }

  /** @param {string} text */
  addPrompt(text) {
    const said = text.replace(/<(system-reminder|command-\w+|local-command-\w+|bash-\w+)>[^]*?<\/\1>/g, "").trim();
    this.task ||= said;
  }

  /** @param {Call} call @param {Result} result */
  did({ name, input, folder = "" }, { text, isError }) {
    if (name === "Bash") this.#addCommandRun(input.command, isError);
    if (isError) return;
    if (name === "Bash") for (const [path, kind] of byCommand(input.command, folder)) this.#addFileChange(path, kind);
    if (name === "Write")
      this.#addFileChange(
        input.file_path,
        text.includes("has been updated") || text.includes("verwr") ? "modified" : "created",
      );
    if (EDITORS.includes(name)) this.#addFileChange(input.file_path ?? input.notebook_path, "modified");
    if (name === "TodoWrite")
      this.#tasks = new Map(
        input.todos
          .filter((/** @type {any} */ { status }) => status !== "completed")
          .map((/** @type {any} */ { content }, /** @type {number} */ at) => [`todo ${at}`, content]),
      );
    if (name === "TaskCreate") this.#tasks.set(/#(\d+)/.exec(text)?.[1] ?? text, input.subject);
    if (name === "TaskUpdate" && ["completed", "deleted"].includes(input.status)) this.#tasks.delete(input.taskId);
  }

  /** @param {string} command @param {boolean} isError */
  #addCommandRun(command, isError) {
    const said = command.split(/\s+/).filter(Boolean).join(" ");
    const before = this.failed.get(said);
    if (before || isError)
      this.failed.set(said, { failures: (before?.failures ?? 0) + (isError ? 1 : 0), hasPassed: !isError });
  }

  /** @param {string} path @param {"created" | "modified" | "deleted"} kind */
  #addFileChange(path, kind) {
    const before = this.files.get(path);
    if (before === "created" && kind === "modified") return;
    this.files.set(path, before && before !== "created" && kind === "created" ? "modified" : kind);
  }
}

/**
 * The files that a command changes, in the few forms that the scripts use.
 * @param {string} command @param {string} folder
 * @returns {[string, "created" | "modified" | "deleted"][]}
 */
function byCommand(command, folder) {
  const files = [];
  for (const part of command.split(" && ")) {
    folder = /^cd (\/\S+)$/.exec(part)?.[1] ?? folder;
    const inner = /^cd ([\w.]\S*)$/.exec(part)?.[1];
    folder = inner ? `${folder}/${inner}` : folder;
    const [, from, to] = /^(?:git )?mv (\S+) (\S+)$/.exec(part) ?? [];
    const gone = /^(?:git )?rm (?:-[qf] )?([\w./-]+)$/.exec(part)?.[1] ?? from;
    const made = /^(?:cat|echo "[^"]*") > (\S+)/.exec(part)?.[1] ?? to;
    const other = /^sed -i '[^']*' ([\w./-]+)$/.exec(part)?.[1] ?? /^echo "[^"]*" >> (\S+)$/.exec(part)?.[1];
    for (const [path, kind] of [
      [gone, "deleted"],
      [made, "created"],
      [other, "modified"],
    ])
      if (path) files.push(/** @type {[string, "created"]} */ ([`${folder}/${path}`, kind]));
  }
  return files;
}

/** @param {string} line */
function parseLine(line) {
  try {
    return JSON.parse(line);
  } catch {
    // Samples hold lines that are damaged on purpose.
    return null;
  }
}

/** @param {any} content */
function textOf(content) {
  return typeof content === "string"
    ? content
    : (content ?? []).map((/** @type {any} */ { text = "" }) => text).join("\n");
}
