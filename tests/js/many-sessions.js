// @ts-check
/**
 * Many sessions without the time it takes to hold them: one that leftoff made, written again under other ids, in other
 * words and times.
 */

import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { openStore } from "../../js/index.js";

/** @import { Session } from "../../js/index.js" */

/**
 * @typedef {object} Copy
 * @property {string} path the folder
 * @property {string} id
 * @property {number} at when it was last active, milliseconds
 * @property {string} title
 * @property {[from: string, to: string][]} [words] what else is to be another
 */

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

const TABLE = new Uint32Array(256).map((_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc >>> 0;
});

/** By what a project is known, as docs/FORMAT.md has it. @param {string} path of POSIX, in its normal form */
export function projectHash(path) {
  return createHash("sha256").update(path).digest("hex").slice(0, 16);
}

/** CRC-32C, as docs/FORMAT.md has it. @param {string} text */
export function checksum(text) {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) crc = (crc >>> 8) ^ Number(TABLE[(crc ^ byte) & 255]);
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}

/** Lines with the checksums that they should have. @param {string} log */
export function withChecksums(log) {
  return log.replace(/^(.*),"crc":"[0-9a-f]{8}"\}$/gm, (_, head) => `${head},"crc":"${checksum(head)}"}`);
}

/** A uuid of a number. @param {number} n */
export function uuidOf(n) {
  return `01a00000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;
}

/**
 * The files of a session, to be written again elsewhere.
 * @param {{ path: string, id: string, metadata: any }} session closed
 */
export function template({ path, id, metadata }) {
  const names = readdirSync(path).filter((name) => statSync(join(path, name)).isFile());
  const files = names.map((name) => ({ name, text: readFileSync(join(path, name), "utf8") }));
  const last = Math.max(...files.flatMap(({ text }) => text.match(TIME) ?? []).map((time) => Date.parse(time)));
  return {
    /** @param {Copy} copy */
    write({ path: folder, id: other, at, title, words = [] }) {
      mkdirSync(folder, { recursive: true });
      if (existsSync(join(path, "blobs"))) cpSync(join(path, "blobs"), join(folder, "blobs"), { recursive: true });
      for (const { name, text } of files) {
        const named = words.reduce((text, [from, to]) => text.replaceAll(from, to), text);
        const changed = named
          .replaceAll(id, other)
          .replaceAll(metadata.display.title, title)
          .replace(TIME, (time) => new Date(Date.parse(time) + at - last).toISOString());
        writeFileSync(join(folder, name), name.endsWith(".jsonl") ? withChecksums(changed) : changed);
      }
    },
    /** Where sessions of its project lie. */
    parent: dirname(path),
  };
}

/**
 * How a conversation can be; what is done with it, once it has some messages.
 * @type {[name: string, options: any, work: (session: Session) => Promise<unknown>][]}
 */
const KINDS = [
  ["paused", {}, (session) => session.stop({ summary: "as far as it went" })],
  ["completed", { type: "debug" }, (session) => session.complete()],
  ["archived", {}, (session) => session.archive()],
  ["sub-agent", { type: "subagent" }, async () => {}],
  ["with a blob", {}, (session) => session.append({ role: "assistant", content: "long ".repeat(60_000) })],
  [
    "with a branch",
    {},
    async (session) => {
      const first = await firstOf(session);
      await session.append({ role: "user", content: "another way", parentId: first?.id, branch: true });
    },
  ],
  [
    "renamed, pinned",
    {},
    async (session) => {
      await session.rename("another one, given later");
      const first = await firstOf(session);
      await session.pin(first?.id ?? "");
    },
  ],
  ["here", { placement: "workspace" }, (session) => session.stop()],
  ["here, archived", { placement: "workspace", type: "brainstorm" }, (session) => session.archive()],
];

/**
 * A store of many sessions, of all kinds, of several projects, in both placements; and what opens it.
 * @param {string} folder
 * @param {number} count
 */
export async function manySessions(folder, count) {
  const [home, project] = [join(folder, "home"), join(folder, "project")];
  mkdirSync(project, { recursive: true });
  const options = { home, project, idleMs: Infinity };
  const made = [];
  {
    const store = await openStore(options);
    for (const [name, about, work] of KINDS) {
      const session = await store.create({ ...about, title: `the ${name} one` });
      await session.append([
        { role: "user", content: "a question" },
        { role: "assistant", content: `an answer, ${name}` },
      ]);
      await work(session);
      made.push(session);
    }
    await store.close();
  }
  const templates = made.map((session) => ({ ...template(session), session }));
  const paths = made.map(({ path }) => path);
  const [hash = ""] = made.map(({ metadata }) => metadata.project?.hash ?? "").filter(Boolean);
  const now = Date.now();
  for (let n = paths.length; n < count; n += 1) {
    const { write, session } = templates[n % templates.length] ?? templates[0];
    // Some share their time: then their paths say which is first.
    const copy = { id: uuidOf(n), at: now - 1000 * (n - (n % 3)), title: `session ${n}` };
    const other = n % 5 === 0 ? projectHash(`/elsewhere/${n % 7}`) : hash;
    const there =
      session.placement === "home"
        ? {
            path: join(home, "sessions", "projects", other, `session-${copy.id}`),
            words: [
              [hash, other],
              ["/project", "/other"],
            ],
          }
        : {
            path: join(dirname(dirname(session.path)), `${n}-copy`, ".session"),
            words: [[basenameOf(session.path), `${n}-copy`]],
          };
    write(/** @type {Copy} */ ({ ...copy, ...there }));
    paths.push(there.path);
  }
  await byHand(join(home, "sessions", "projects", hash), join(project, "conversations"));
  await waitUntilSettled(join(paths.at(-1) ?? project, "messages.jsonl"));
  return { home, project, options, paths };
}

/**
 * Where a runtime tells whole seconds alone, a list notes nothing that was changed within the last one: it might be
 * again.
 * @param {string} file
 */
async function waitUntilSettled(file) {
  const { ctimeMs } = statSync(file);
  if (ctimeMs % 1000 === 0) await new Promise((resolve) => void setTimeout(resolve, ctimeMs + 2500 - Date.now()));
}

/** Sessions that a person wrote, with an editor. @param {string} sessions @param {string} conversations */
async function byHand(sessions, conversations) {
  const lines = '{"role":"user","content":"typed by hand"}\n{"role":"assistant","content":"read all the same"}\n';
  const write = (/** @type {string} */ folder, /** @type {Record<string, string>} */ files) => {
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  };
  write(join(sessions, "session-typed"), { "messages.jsonl": lines });
  const conversation = join(conversations, "2025-11-22", "001-typed");
  write(join(conversation, ".session"), { "messages.jsonl": lines });
  write(conversation, { "chat.md": "# A heading that is its title\n" });
}

/** @param {string} path of a session in a workspace */
function basenameOf(path) {
  return dirname(path).slice(dirname(dirname(path)).length + 1);
}

/**
 * All that is listed, by a store that is opened for it.
 * @param {any} options
 * @param {import("../../js/types/index.js").ListOptions} [wanted]
 */
export async function listAll(options, wanted = { all: true, type: null, archived: null }) {
  const store = await openStore(options);
  try {
    return await store.list(wanted);
  } finally {
    await store.close();
  }
}

/** @param {Session} session */
async function firstOf(session) {
  for await (const message of session.messages()) return message;
  return undefined;
}
