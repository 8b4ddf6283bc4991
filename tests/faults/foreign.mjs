// @ts-check
/** Damaged and foreign things, as they lie in stores: each is put in the home or the workspace under a number. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";

/**
 * @param {{ sessions: string, conversations: string, home: string }} where
 * @returns {((own: string, n: number) => void)[]} `own`: a project's folder in the home
 */
export function foreignThings({ sessions, conversations, home }) {
  const made = (/** @type {string} */ path) => {
    fs.mkdirSync(path, { recursive: true });
    return path;
  };
  const put = (/** @type {string} */ folder, /** @type {Record<string, string | Uint8Array>} */ files) => {
    made(folder);
    for (const [name, content] of Object.entries(files)) fs.writeFileSync(join(folder, name), content);
  };
  const session = (/** @type {string} */ own, /** @type {number} */ n) => join(own, `session-odd-${n}`);
  const conversation = (/** @type {number} */ n) => join(conversations, `2025-01-${n}`, `odd-${n}`, ".session");
  const events = (/** @type {object} */ event) =>
    `${JSON.stringify({ v: 1, id: "e", timestamp: "2026-01-01T00:00:00Z", ...event })}\n`;
  const document = (/** @type {unknown} */ value) => JSON.stringify(value);
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const pipe = (/** @type {string} */ path) => spawnSync("mkfifo", [path]);
  const socket = (/** @type {string} */ path) =>
    spawnSync("python3", ["-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path]);
  const raw = (/** @type {string} */ folder, /** @type {number} */ n) =>
    Buffer.concat([Buffer.from(`${folder}/session-${n}`), Buffer.from([0xff, 0xfe])]);
  return [
    (own, n) => fs.symlinkSync(home, join(own, `session-link-${n}`)),
    (own, n) => fs.symlinkSync("/nowhere", join(own, `session-nowhere-${n}`)),
    (own, n) => fs.symlinkSync("session-loop", join(own, `session-loop-${n}`)),
    (_, n) => fs.symlinkSync("/etc", join(sessions, `link-${n}`)),
    (_, n) => fs.symlinkSync("/etc", join(made(join(conversations, `2025-02-${n}`)), "link")),
    (own, n) => pipe(join(made(session(own, n)), "messages.jsonl")),
    (own, n) => pipe(join(own, `session-pipe-${n}`)),
    (_, n) => pipe(join(made(conversation(n)), "messages.jsonl")),
    (own, n) => socket(join(own, `s-${n}`)),
    (own, n) => made(join(own, `no-session-${n}`)),
    (own, n) => made(session(own, n)),
    (_, n) => made(conversation(n)),
    (own, n) => fs.writeFileSync(session(own, n), "a file"),
    (_, n) => fs.writeFileSync(join(sessions, `file-${n}`), "a file"),
    (_, n) => fs.writeFileSync(join(made(conversations), `file-${n}`), "a file"),
    (_, n) => fs.writeFileSync(join(made(join(conversations, `2025-03-${n}`, "x")), ".session"), "a file"),
    (own, n) => made(join(session(own, n), "messages.jsonl")),
    (own, n) => made(join(session(own, n), "events.jsonl")),
    (own, n) => made(join(session(own, n), "metadata.json")),
    (own, n) => fs.chmodSync(made(session(own, n)), 0),
    (_, n) => fs.chmodSync(made(join(conversations, `2025-04-${n}`)), 0),
    (own, n) => put(session(own, n), { "messages.jsonl": "garbage\0\0\nmore of it" }),
    (own, n) => put(session(own, n), { "events.jsonl": new Uint8Array(3000), "messages.jsonl": new Uint8Array(3000) }),
    (own, n) =>
      put(session(own, n), {
        "messages.jsonl": '{"role":"user"}\n{"role":5,"content":{}}\n{"role":"tool","tool":5}\n',
      }),
    (own, n) => put(session(own, n), { "messages.jsonl": `{"role":"user","content":${deep}}\n` }),
    (own, n) => put(session(own, n), { "metadata.json": deep }),
    (own, n) =>
      put(session(own, n), {
        "metadata.json": document({
          version: "x",
          id: 5,
          timestamps: 5,
          display: { title: 5 },
          status: [],
          type: {},
          project: 7,
          stats: null,
          provider: [],
        }),
      }),
    (own, n) =>
      put(session(own, n), { "metadata.json": document({ version: 99, id: "newer", display: { title: ["x"] } }) }),
    (own, n) => put(session(own, n), { "metadata.json": "null" }),
    (own, n) =>
      put(session(own, n), {
        "metadata.json":
          '{"__proto__":{"title":"x","lifecycle":"no"},"constructor":5,"toString":1,"display":{"__proto__":null}}',
      }),
    (own, n) =>
      put(session(own, n), { "metadata.json": '{"timestamps":{"createdAt":"9999999-99-99","lastMessageAt":1e999}}' }),
    (own, n) =>
      put(session(own, n), { "events.jsonl": events({ type: "created", session: "\u0000\u001b[2J../../x" }) }),
    (own, n) =>
      put(session(own, n), {
        "events.jsonl": events({ type: "created", session: 5, sessionType: {}, project: "x", agent: [] }),
      }),
    (own, n) =>
      put(session(own, n), { "events.jsonl": events({ type: "title", title: "\u202e\u0007 a title".repeat(5000) }) }),
    (own, n) => put(session(own, n), { "events.jsonl": events({ type: "__proto__", __proto__: 5 }).repeat(50) }),
    (own, n) => put(join(own, `session-\u001b]0;x\u0007${n}`), { "messages.jsonl": '{"role":"user","content":"x"}\n' }),
    (own, n) =>
      put(join(own, `session-${"x".repeat(230)}${n}`), { "messages.jsonl": '{"role":"user","content":"x"}\n' }),
    (own) => put(join(own, "session-.."), { "messages.jsonl": '{"role":"user","content":"x"}\n' }),
    (own) => put(join(own, "session-"), { "messages.jsonl": '{"role":"user","content":"x"}\n' }),
    (own, n) => fs.mkdirSync(raw(own, n)),
    (_, n) => put(conversation(n), { "session.json": "<<<<<<< HEAD\n{}\n=======\n[]\n>>>>>>> other\n" }),
    (_, n) =>
      put(conversation(n), {
        "session.json": document({ conversation_id: 5, status: 7, resume_summary: [], agent_config: "x" }),
      }),
    (_, n) =>
      put(conversation(n), { "events.jsonl": events({ type: "created", session: "../../../etc", name: { a: 1 } }) }),
    (_, n) => fs.symlinkSync("/etc/passwd", join(made(join(conversation(n), "..")), "brainstorm.md")),
    () =>
      fs.appendFileSync(
        join(home, "workspaces.jsonl"),
        '{"v":1,"root":5}\n{"v":1,"root":"relative"}\n{"v":1,"root":"/etc/passwd"}\n{"v":1,"root":"/proc/1"}\nnull\n{"root":"\\u0000"}\n',
      ),
    (own) => put(join(home, "cache"), { "typed.json": "{}", "x.json": deep }),
    (own, n) => made(join(home, "cache", `${n}.open`, "folder")),
  ];
}
