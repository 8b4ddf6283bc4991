// @ts-check
/**
 * The script of one session, and beside it the truth: what it asks for first, what becomes of which file, which
 * commands fail and whether they pass when they are run again, which tasks are open at the end. The model does again
 * what the repository's own commits did, by the client's tools; the truth is known because each step knows the tree it
 * works on.
 */

import { join } from "node:path";
import { git } from "./history.mjs";

/** @import { chance } from "../faults/tools.mjs" */
/** @import { Change, Commit } from "./history.mjs" */
/** @import { Step } from "./model/script.mjs" */

/**
 * @typedef {object} Truth
 * @property {string} task
 * @property {Map<string, "created" | "modified" | "deleted">} files by their path within the project
 * @property {Map<string, { failures: number, hasPassed: boolean }>} failed by the command, as it was run
 * @property {string[]} open
 *
 * @typedef {{ prompt: string, steps: Step[] }} Turn
 */

// What a token of code comes to; the session's own tokens are counted when it is there.
const CHARACTERS_A_TOKEN = 4;
const RESULT_TOKENS = 250;

export class Work {
  #project;
  #random;
  #hasTodoWrite;
  /** The tree as it is, and as it was at first; texts by path. @type {Map<string, string | null>} */
  #texts = new Map();
  /** @type {Map<string, string | null>} */
  #first = new Map();
  /** @type {Map<string, { failures: number, hasPassed: boolean }>} */
  #failed = new Map();
  /** @type {{ content: string, status: string, activeForm: string }[]} */
  #tasks = [];
  /** @type {Turn[]} */
  #turns = [];
  /** What a command changed has to be read again before it is edited. @type {Set<string>} */
  #stale = new Set();
  /** Files worth reading. @type {{ path: string, lines: number }[]} */
  #library;
  tokens = 0;

  /**
   * @param {{ project: string, random: ReturnType<typeof chance>, hasTodoWrite: boolean }} options the project as a
   *   clone
   */
  constructor({ project, random, hasTodoWrite }) {
    this.#project = project;
    this.#random = random;
    this.#hasTodoWrite = hasTodoWrite;
    const listed = git(project, ["grep", "-I", "-c", "", "HEAD", "--", "src", "js", "tests", "docs", "*.md", "*.lock"])
      .toString()
      .trim()
      .split("\n");
    const counted = listed.map((line) => /^HEAD:(.*):(\d+)$/.exec(line)).filter((match) => match !== null);
    this.#library = counted
      .map(([, path = "", lines]) => ({ path, lines: Number(lines) }))
      .filter(({ path, lines }) => lines > 80 && /\.(rs|js|mjs|md|lock|toml)$/.test(path));
  }

  get turns() {
    return this.#turns;
  }

  /** @returns {Truth} */
  get truth() {
    const touched = [...this.#first.keys()].filter(
      (path) => this.#texts.get(path) !== this.#first.get(path) || this.#texts.get(path) === null,
    );
    const kind = (/** @type {string} */ path) =>
      this.#texts.get(path) === null ? "deleted" : this.#first.get(path) === null ? "created" : "modified";
    return {
      task: this.#turns[0]?.prompt ?? "",
      files: new Map(touched.map((path) => [path, kind(path)])),
      failed: this.#failed,
      open: this.#tasks.filter(({ status }) => status !== "completed").map(({ content }) => content),
    };
  }

  /** A new prompt. @param {string} prompt */
  turn(prompt) {
    this.#turns.push({ prompt, steps: [] });
    this.tokens += prompt.length / CHARACTERS_A_TOKEN;
  }

  /** The turn's last answer. @param {string} text */
  endTurn(text) {
    this.#step({ text: `${text} (${this.#turns.length} of the turns.)` });
  }

  /** Does what a commit did. @param {Commit} commit */
  replay({ id, subject, changes }) {
    const random = this.#random;
    const some = changes.filter(({ path }) => /^[\w./-]+$/.test(path)).slice(0, 4 + random.below(6));
    const toRead = some.filter(({ path }) => this.#textOf(path) !== null).slice(0, 3);
    const reads = toRead.map(({ path }) => this.#read(path));
    this.#step({
      reasoning: `The commit touches ${changes.length} files; the older ones first.`,
      text: `Next is "${subject}".`,
      calls: [...reads, this.#bash(`git show --stat ${id.slice(0, 10)}`)],
    });
    const checked = some
      .filter(() => random.real() < 0.35)
      .slice(0, 3)
      .map((change) => this.#check(id, change));
    for (const check of checked) this.#run(check);
    // Now and then something is left as it is, and what was checked of it goes on failing.
    const left = random.real() < 0.25 ? some.at(-1) : undefined;
    for (const change of some) if (change !== left) this.#make(change);
    if (left && random.real() < 0.5) this.#misses(left.path);
    for (const check of checked) if (random.real() < 0.8) this.#run(check);
  }

  /** Reads around until the session has so many tokens. @param {number} tokens */
  wander(tokens) {
    const random = this.#random;
    while (this.tokens < tokens) {
      const calls = Array.from({ length: 1 + random.below(3) }, () => {
        const { path, lines } = this.#library[random.below(this.#library.length)] ?? { path: "README.md", lines: 1 };
        if (random.real() < 0.2)
          return this.#bash(`grep -n "${["fn ", "use ", "const ", "return"][random.below(4)]}" ${path} | head -40`);
        const offset = 1 + random.below(Math.max(1, lines - 60));
        return this.#read(path, { offset, limit: 60 + random.below(400) });
      });
      const say =
        random.real() < 0.4
          ? {
              text: `How ${calls.length > 1 ? "these hang" : "this hangs"} together shows in the code (${Math.round(this.tokens)}).`,
            }
          : {};
      this.#step({ ...say, calls });
      if (random.real() < 0.04)
        this.#run({
          command:
            ["node --check js/nowhere.js", "ls src/nowhere", "git rev-parse --verify --quiet v99.0.0"][
              random.below(3)
            ] ?? "",
          passes: () => false,
        });
      if (random.real() < 0.04)
        this.#run({
          command: `node -e 'console.log("one suite ran, exit code ${1 + random.below(3)} was what it should be")'`,
          passes: () => true,
        });
    }
  }

  /** Opens tasks. @param {string[]} contents */
  plan(contents) {
    const tasks = contents.map((content) => ({ content, status: "pending", activeForm: `Doing: ${content}` }));
    this.#tasks.push(...tasks);
    if (this.#hasTodoWrite) this.#writeTodos();
    else
      this.#step({
        calls: tasks.map(({ content, activeForm }) => ({
          name: "TaskCreate",
          input: { subject: content, description: content, activeForm },
        })),
      });
  }

  /** Takes a task up, and finishes it. @param {string} content @param {"in_progress" | "completed"} status */
  mark(content, status) {
    const at = this.#tasks.findIndex((task) => task.content === content);
    const task = this.#tasks[at];
    if (!task) return;
    task.status = status;
    if (this.#hasTodoWrite) this.#writeTodos();
    else this.#step({ calls: [{ name: "TaskUpdate", input: { taskId: String(at + 1), status } }] });
  }

  #writeTodos() {
    this.#step({ calls: [{ name: "TodoWrite", input: { todos: this.#tasks.map((task) => ({ ...task })) } }] });
  }

  /** Makes a file what the commit made of it. @param {Change} change */
  #make({ path, after }) {
    const now = this.#textOf(path);
    if (now === after) return;
    if (after === null) return this.#remove(path);
    this.#set(path, after);
    const edit = now === null ? null : oneEdit(now, after);
    const call =
      edit === null
        ? { name: "Write", input: { file_path: this.#pathOf(path), content: after } }
        : { name: "Edit", input: { file_path: this.#pathOf(path), ...edit } };
    // What exists has to be read before it is written whole.
    if (now !== null && (edit === null || this.#stale.delete(path))) this.#step({ calls: [this.#read(path)] });
    this.#step({ text: this.#random.real() < 0.3 ? `Now ${path}.` : "", calls: [call] });
  }

  /** Changes files by commands alone. @param {string} name of a new one */
  byCommand(name) {
    const random = this.#random;
    const note = `notes/${name}.md`;
    const text = `# ${name}\n\nWhat is to be looked at again, and > why.\n`;
    this.#shell([`mkdir -p notes && cat > ${note} <<'EOF'\n${text}EOF`], [[note, text]]);
    if (random.real() < 0.5) this.#shell([`echo "- [ ] ${name}" >> ${note}`], [[note, `${text}- [ ] ${name}\n`]]);
    if (random.real() < 0.5)
      this.#shell(
        [`mv ${note} notes/${name}-old.md`],
        [
          [note, null],
          [`notes/${name}-old.md`, this.#textOf(note)],
        ],
      );
    else if (random.real() < 0.5) this.#shell([`rm -f ${note}`], [[note, null]]);
    const tracked = this.#library.filter(({ path }) => /\/\w+\.(rs|js)$/.test(path) && this.#textOf(path) !== null);
    const mended = (/** @type {string} */ path) => (this.#textOf(path) ?? "").replace("\n", " // mended\n");
    const [one, other] = [0, 0].map(() => tracked[random.below(tracked.length)]?.path ?? "README.md");
    this.#shell(
      [`sed -i '1s|$| // mended|' ${one}`],
      [[/** @type {string} */ (one), mended(/** @type {string} */ (one))]],
    );
    if (!other || other === one) return;
    const [folder, file] = [other.slice(0, other.lastIndexOf("/")), other.slice(other.lastIndexOf("/") + 1)];
    this.#shell([`cd ${folder}`, `sed -i '1s|$| // mended|' ${file}`, `cd ${this.#project}`], [[other, mended(other)]]);
  }

  /**
   * Commands, at once or one after the other, and what they make of which file.
   * @param {string[]} commands
   * @param {[string, string | null][]} made
   */
  #shell(commands, made) {
    const together = this.#random.real() < 0.5 ? [commands.join(" && ")] : commands;
    for (const command of together) this.#step({ calls: [this.#bash(command)] });
    for (const [path, text] of made) {
      this.#set(path, text);
      this.#stale.add(path);
    }
  }

  /** @param {string} path */
  #remove(path) {
    this.#set(path, null);
    this.#step({ calls: [this.#bash(`${this.#random.real() < 0.5 ? "git rm -q" : "rm"} ${path}`)] });
  }

  /** An edit that finds nothing to change. @param {string} path */
  #misses(path) {
    this.#step({
      calls: [
        {
          name: "Edit",
          input: { file_path: this.#pathOf(path), old_string: "nobody ever wrote this here", new_string: "nor this" },
        },
      ],
    });
  }

  /** A command that passes once a file is what the commit made of it. @param {string} id @param {Change} change */
  #check(id, { path, after }) {
    const now = () => this.#textOf(path);
    if (after === null) return { command: `sh -c 'test ! -e ${path}'`, passes: () => now() === null };
    const lines = after.split("\n").length;
    const count = (/** @type {string | null} */ text) => text?.split("\n").length;
    const script = `const lines = require("node:fs").readFileSync("${path}", "utf8").split("\\n").length;\nif (lines !== ${lines}) throw new Error(\`expected ${lines} lines, but found \${lines} instead\`);`;
    const forms = [
      { command: `git show ${id.slice(0, 10)}:${path} | cmp - ${path}`, passes: () => now() === after },
      {
        command: `sh -c 'git show ${id.slice(0, 10)}:${path} > .git/wanted && cmp .git/wanted ${path}'`,
        passes: () => now() === after,
      },
      { command: `node -e '\n${script}\n'`, passes: () => count(now()) === lines },
    ];
    return forms[this.#random.below(forms.length)] ?? { command: "true", passes: () => true };
  }

  /** @param {{ command: string, passes: () => boolean }} check */
  #run({ command, passes }) {
    const before = this.#failed.get(command);
    const hasPassed = passes();
    if (before || !hasPassed)
      this.#failed.set(command, { failures: (before?.failures ?? 0) + (hasPassed ? 0 : 1), hasPassed });
    this.#step({ calls: [this.#bash(command)] });
  }

  /** @param {string} command */
  #bash(command) {
    this.tokens += RESULT_TOKENS;
    return { name: "Bash", input: { command, description: "Look, or check" } };
  }

  /** @param {string} path @param {{ offset?: number, limit?: number }} [part] */
  #read(path, part = {}) {
    const text = this.#textOf(path) ?? "";
    const lines = text.split("\n").slice((part.offset ?? 1) - 1, (part.offset ?? 1) - 1 + (part.limit ?? 2000));
    this.tokens += lines.reduce((sum, line) => sum + line.length + 6, 0) / CHARACTERS_A_TOKEN;
    return { name: "Read", input: { file_path: this.#pathOf(path), ...part } };
  }

  /** @param {Step} step */
  #step(step) {
    this.tokens += JSON.stringify(step).length / CHARACTERS_A_TOKEN;
    this.#turns.at(-1)?.steps.push(step);
  }

  /** @param {string} path */
  #pathOf(path) {
    return join(this.#project, path);
  }

  /** What a file holds now; `null` where there is none. @param {string} path */
  #textOf(path) {
    if (!this.#texts.has(path)) {
      const isThere = git(this.#project, ["ls-tree", "--name-only", "HEAD", "--", path]).length > 0;
      this.#texts.set(path, isThere ? git(this.#project, ["show", `HEAD:${path}`]).toString() : null);
    }
    return this.#texts.get(path) ?? null;
  }

  /** @param {string} path @param {string | null} text */
  #set(path, text) {
    if (!this.#first.has(path)) this.#first.set(path, this.#textOf(path));
    this.#texts.set(path, text);
  }
}

/**
 * The one piece of a text that changed, with as many lines around it as make it the only one; `null` where that is
 * much.
 * @param {string} before
 * @param {string} after
 */
function oneEdit(before, after) {
  const [old, made] = [before.split("\n"), after.split("\n")];
  let [start, end] = [0, 0];
  while (start < old.length && start < made.length && old[start] === made[start]) start += 1;
  while (
    end < old.length - start &&
    end < made.length - start &&
    old[old.length - 1 - end] === made[made.length - 1 - end]
  )
    end += 1;
  for (let around = 1; around < 12; around += 1) {
    const [from, behind] = [Math.max(0, start - around), Math.max(0, end - around)];
    const old_string = old.slice(from, old.length - behind).join("\n");
    const new_string = made.slice(from, made.length - behind).join("\n");
    if (old_string.split("\n").length > 150) return null;
    if (old_string !== "" && old_string !== new_string && before.split(old_string).length === 2)
      return { old_string, new_string };
  }
  return null;
}
