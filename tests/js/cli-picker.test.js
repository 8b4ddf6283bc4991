// @ts-check
// What is asked at a terminal: which session, which agent, and whether a complete one goes on.
// Tries: js/cli/picker.js, js/cli/screen.js, js/cli/choose.js, js/cli/prompts.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import widthOf from "fast-string-width";

import { formatRecentTime } from "../../js/cli/picker.js";
import { findByMessages } from "../../js/cli/store.js";
import { openStore } from "../../js/index.js";
import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { KEYS, entry, noTerminal, onTerminal } from "./terminal.js";

/** @import { TerminalResult, Terminal } from "./terminal.js" */

/**
 * @typedef {object} Parts
 * @property {string} project
 * @property {string} home
 * @property {(args: string[], work: (terminal: Terminal) => Promise<void>, options?: { columns?: number, rows?: number, env?: Record<string, string>, stdout?: string }) => Promise<TerminalResult>} typed on a terminal
 * @property {(...args: string[]) => any} value what a command answers as JSON, without a terminal
 * @property {(...names: string[]) => void} install agents' clients, which say how they were started and what was typed
 * @property {(titles: string[]) => Promise<string[]>} held sessions with these titles, the last one active last; the
 *   first has two messages, the second four
 */

/** @param {string} law @param {(parts: Parts) => Promise<void>} body */
function check(law, body) {
  test(law, { skip: noTerminal }, () =>
    inFolder(async (folder) => {
      const [project, home, bin] = ["project", "store", "bin"].map((name) => join(folder, name));
      for (const path of [project, bin]) fs.mkdirSync(/** @type {string} */ (path));
      const env = { HOME: folder, LEFTOFF_HOME: home, PATH: bin };
      await body({
        project,
        home,
        typed: (args, work, { env: more, ...options } = {}) =>
          onTerminal(args, { cwd: project, env: { ...env, ...more }, ...options }, work),
        value: (...args) =>
          JSON.parse(spawnSync(nodePath, [entry, ...args, "--json"], { cwd: project, env, encoding: "utf8" }).stdout),
        install: (...names) =>
          names.forEach((name) =>
            fs.writeFileSync(
              join(bin, name),
              `#!/bin/sh\necho "${name} begins"\nread line\necho "${name} heard $line"\n`,
              { mode: 0o755 },
            ),
          ),
        held: (titles) => heldIn({ home, project }, titles),
      });
    }),
  );
}

/** @param {{ home: string, project: string }} where @param {string[]} titles */
async function heldIn(where, titles) {
  const store = await openStore(where);
  const ids = [];
  for (const [place, title] of titles.entries()) {
    const session = await store.create({ title });
    for (let turn = 0; turn <= place; turn += 1) {
      await session.append([
        { role: "user", content: `question ${turn} of ${place}`, timestamp: `2026-01-0${place + 1}T10:00:00Z` },
        { role: "assistant", content: `answer ${turn} of ${place}`, timestamp: `2026-01-0${place + 1}T10:00:01Z` },
      ]);
    }
    await session.stop();
    ids.push(session.id);
  }
  await store.close();
  return ids;
}

/** The bytes of all sessions. @param {string} home */
function bytesOf(home) {
  const folder = join(home, "sessions", "projects");
  const files = fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .sort();
  return files.map((path) => [path, fs.statSync(path).isFile() ? fs.readFileSync(path, "utf8") : null]);
}

const THREE = ["Auth Token Expiry", "API Design Discussion", "Fix CORS"];

check(
  "the picker shows what a session is about, arrows move, Enter starts the agent, which has the keyboard",
  async ({ typed, install, held }) => {
    install("codex");
    await held(THREE);
    const { status, shown } = await typed(["resume"], async ({ see, type }) => {
      const first = await see("answer 2 of 2");
      for (const text of [
        "Select a session to resume:",
        "Fix CORS",
        "6 messages",
        "1 Jan",
        "API Design Discussion",
        "chat · project · 6 messages · paused · last active 2026-01-03 ",
        "Esc quit",
      ])
        assert.ok(first.includes(text), text);
      type(KEYS.down);
      await see("answer 1 of 1");
      type(KEYS.enter);
      await see("codex begins");
      type("hello\r");
      await see("codex heard hello");
    });
    assert.equal(status, 0);
    assert.match(shown, /4 messages go to codex/);
  },
);

check(
  "what is typed narrows the list, the best first, by an id, too; Enter takes none where there is none",
  async ({ typed, install, held }) => {
    install("codex");
    const [auth = ""] = await held(THREE);
    const { shown } = await typed(["-r"], async ({ see, type }) => {
      await see("answer 2 of 2");
      type("zzzz");
      await see(/zzzz█[^]*no match/);
      type(KEYS.enter);
      await see("nothing to choose");
      type(KEYS.backspace.repeat(4) + "expi");
      await see("expi█ 1 of 3");
      await see("answer 0 of 0");
      type(KEYS.backspace.repeat(4) + auth);
      await see(`${auth}█ 1 of 3`);
      type(KEYS.enter);
      await see("codex begins");
      type("\r");
    });
    assert.match(shown, /2 messages go to codex/);
  },
);

check(
  "what is typed also finds what was said, behind what is called so",
  async ({ typed, install, held, home, project }) => {
    install("codex");
    const [, id = ""] = await held(THREE);
    const store = await openStore({ home, project });
    const session = await store.session(id);
    await session.append({ role: "user", content: "the auth walnut", timestamp: "2026-01-02T11:00:00Z" });
    await session.stop();
    await store.close();
    const { shown } = await typed(["-r"], async ({ see, type }) => {
      await see("answer 2 of 2");
      type("auth");
      await see(/auth█ 2 of 3[^]*Auth Token Expiry[^]*API Design Discussion/);
      type(KEYS.backspace.repeat(4));
      await see(/Search: █[^]*6 messages/);
      type("walnut");
      await see(/walnut█ 1 of 3[^]*chat · project · 5 messages[^\n]*\n[^\n]*user: the auth walnut/);
      type(KEYS.enter);
      await see("codex begins");
      type("\r");
    });
    assert.match(shown, /5 messages go to codex/);
  },
);

check(
  "a row names the agent, and in a list of several projects the project, where it is wide enough; a fork stays one",
  async ({ typed, held, home, project }) => {
    await held(["A long title of a session that is about many things and one more"]);
    const store = await openStore({ home, project });
    await store.fork(/** @type {import("../../js/session/session.js").Session} */ (await store.current()));
    await store.close();
    const transcript = join(project, "t.jsonl");
    fs.writeFileSync(
      transcript,
      `${JSON.stringify({ type: "user", uuid: "1", sessionId: "s", cwd: home, timestamp: "2026-01-02T12:00:00.000Z", message: { role: "user", content: "Imported" } })}\n`,
    );
    spawnSync(nodePath, [entry, "import", transcript], { cwd: project, env: { LEFTOFF_HOME: home, HOME: project } });
    for (const columns of [80, 110]) {
      const { shown } = await typed(
        ["resume", "--all"],
        async ({ see, type }) => {
          await see("Esc quit");
          type(KEYS.escape);
        },
        { columns },
      );
      assert.match(shown, /… \(fork\) /);
      assert.equal(/Imported +claude-code +store +1 message/.test(shown), true, shown);
    }
  },
);

for (const [key, keys] of Object.entries({ Esc: KEYS.escape, "Ctrl+C": KEYS.ctrlC, "Ctrl+D": KEYS.ctrlD })) {
  check(`${key} leaves the picker, and nothing is changed`, async ({ typed, value, held, home, install }) => {
    install("codex");
    await held(THREE);
    value("list");
    const before = bytesOf(home);
    const { status, shown } = await typed(["--resume"], async ({ see, type }) => {
      await see("answer 2 of 2");
      type(keys);
      await see("nothing was changed (cancelled)");
    });
    assert.equal(status, 1);
    assert.doesNotMatch(shown, /codex begins/);
    assert.deepEqual(bytesOf(home), before);
  });
}

check("Ctrl+N begins a new one, and the letter n is typed", async ({ typed, value, held }) => {
  await held(THREE);
  const { status } = await typed(["resume"], async ({ see, type }) => {
    await see("answer 2 of 2");
    type("n");
    await see("Search: n█");
    type(KEYS.ctrlN);
    await see("a new session");
  });
  assert.equal(status, 0);
  assert.equal(value("list").length, 4);
});

check(
  "flags stand for commands: -c goes on with the last one, -r X with X, -n begins one",
  async ({ typed, value, held, install }) => {
    install("codex");
    const [auth, design, cors] = await held(THREE);
    for (const flag of ["-c", "--continue"]) assert.equal(value(flag, "--print").id, cors, flag);
    for (const flag of ["-r", "--resume"]) {
      assert.equal(value(flag, "api design", "--print").id, design, flag);
      assert.equal(value(flag, String(auth), "--print").id, auth, flag);
      assert.equal(value(flag).length, 3, "without a terminal it is the list");
    }
    const begun = ["-n", "--new"].map((flag) => value(flag, "--title", "New").id);
    assert.equal(new Set(begun).size, 2);
    assert.equal(value("-c", "--print").id, begun[1], "the one that was begun is the current one");
    const { shown } = await typed(["-r", "expiry"], async ({ see, type }) => {
      await see("codex begins");
      type("\r");
    });
    assert.match(shown, /2 messages go to codex/);
  },
);

check("without a session there is nothing to choose, and one is told how to begin", async ({ typed }) => {
  const { status, shown } = await typed(["resume"], async () => {});
  assert.equal(status, 0);
  assert.match(shown, /no sessions here; 'leftoff new' starts one/);
});

check("where words mean several, one is asked; where agents are several, too", async ({ typed, install, held }) => {
  install("codex", "claude");
  await held(["API Keys", "API Design", "Fix CORS"]);
  const { shown } = await typed(["resume", "api"], async ({ see, type }) => {
    const asked = await see('Which one does "api" mean?');
    assert.doesNotMatch(asked, /Fix CORS|Ctrl\+N/);
    type("keys\r");
    await see("Continue in which agent?");
    type(KEYS.down + KEYS.enter);
    await see("codex begins");
    type("\r");
  });
  assert.match(shown, /2 messages go to codex/);
});

check(
  "a complete one goes on after a question, whose answer is no unless somebody says yes",
  async ({ typed, install, held, value }) => {
    install("codex");
    const [id = ""] = await held(["Done with"]);
    value("complete", id);
    for (const keys of [KEYS.enter, "n", KEYS.escape, KEYS.ctrlD]) {
      const { status, shown } = await typed(["resume", id], async ({ see, type }) => {
        await see('"Done with" is marked complete. Resume it anyway?');
        type(keys);
        await see("(completed)");
      });
      assert.equal(status, 1);
      assert.doesNotMatch(shown, /codex begins/);
    }
    const { status } = await typed(["resume", id], async ({ see, type }) => {
      await see("anyway?");
      type("y");
      await see("codex begins");
      type("\r");
    });
    assert.equal(status, 0);
  },
);

check(
  "to delete for good is asked for, and no is the answer unless somebody says yes",
  async ({ typed, held, value }) => {
    const [id = ""] = await held(["Kept"]);
    for (const [keys, count] of /** @type {const} */ ([
      [KEYS.enter, 1],
      ["y", 0],
    ])) {
      await typed(["delete", id, "--purge"], async ({ see, type }) => {
        await see("for good? It cannot be brought back.");
        type(keys);
      });
      assert.equal(value("list").length, count);
    }
  },
);

check(
  "questions go to standard error; --json asks nothing, nor does a terminal that cannot move its cursor",
  async ({ typed, install, held, project }) => {
    install("codex", "claude");
    const [id = ""] = await held(THREE);
    const stdout = join(project, "stdout");
    const { shown } = await typed(["resume", "--json"], async () => {}, { stdout });
    assert.equal(JSON.parse(fs.readFileSync(stdout, "utf8")).length, 3);
    assert.equal(shown, "");
    await typed(["resume", id, "--json"], async () => {}, { stdout });
    assert.equal(fs.readFileSync(stdout, "utf8"), "");
    await typed(
      ["resume"],
      async ({ see, type }) => {
        await see("answer 2 of 2");
        type(KEYS.ctrlN);
      },
      { stdout },
    );
    assert.match(fs.readFileSync(stdout, "utf8"), /^[0-9a-f-]{36}\n    \//);
    const dumb = await typed(["resume"], async () => {}, { env: { TERM: "dumb" } });
    assert.match(dumb.shown, /^1\. \[chat\]/);
  },
);

for (const [name, args, env] of /** @type {[string, string[], Record<string, string>][]} */ ([
  ["--no-color", ["--no-color"], {}],
  ["NO_COLOR", [], { NO_COLOR: "1" }],
])) {
  check(`with ${name} nothing is colored`, async ({ typed, held }) => {
    await held(THREE);
    const work = async (/** @type {Terminal} */ { see, type }) => {
      await see("answer 2 of 2");
      type(KEYS.escape);
    };
    assert.match((await typed(["resume"], work)).raw, /\u001b\[\d+m/);
    assert.doesNotMatch((await typed(["resume", ...args], work, { env })).raw, /\u001b\[\d+m/);
  });
}

test("of those that say what is typed, no more are looked up than anybody would go through", () =>
  inFolder(async (folder) => {
    const where = { home: join(folder, "store"), project: folder };
    await heldIn(where, ["one", "two", "three"]);
    const store = await openStore(where);
    const many = async (/** @type {number} */ limit) => (await findByMessages(store, {}, "question", limit)).length;
    assert.deepEqual([await many(2), await many(3), await many(24)], [2, 3, 3]);
    await store.close();
  }));

test("a session of today or yesterday is shown with its time, any other with its day", () => {
  const now = new Date(2026, 10, 22, 14, 30);
  const shown = (/** @type {number} */ month, /** @type {number} */ day, year = 2026) =>
    formatRecentTime(new Date(year, month, day, 9, 5).toISOString(), now);
  assert.deepEqual(
    [shown(10, 22), shown(10, 21), shown(9, 3), shown(11, 23, 2025), formatRecentTime("", now)],
    ["Today 09:05", "Yesterday 09:05", "3 Oct", "23 Dec 2025", ""],
  );
});

test("who asks nothing loads nothing for it", () => {
  const folder = fileURLToPath(new URL("../../js/cli/", import.meta.url));
  const files = fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js"))
    .map((name) => [name, fs.readFileSync(join(folder, name), "utf8")]);
  const importing = (/** @type {RegExp} */ what) =>
    files.filter(([, text = ""]) => what.test(text)).map(([name]) => name);
  assert.deepEqual(importing(/^import .* from "@clack/m), ["picker.js", "prompts.js"]);
  assert.deepEqual(importing(/^import .* from "\.\.?\/(prompts|picker)\.js"/m), ["prompts.js"]);
});

const HOSTILE = [
  "\u001b]0;pwned\u0007\u001b[2Jcleared",
  "right\u202eto left\u2066",
  "字".repeat(300),
  "👩‍👩‍👧‍👦".repeat(150),
  `${"e\u0301".repeat(200)}\nsecond line`,
];

for (const [columns, rows] of /** @type {const} */ ([
  [80, 24],
  [30, 10],
  [12, 5],
  [4, 2],
])) {
  check(`no title steers a terminal of ${columns} columns, nor is a line of it longer`, async ({ typed, held }) => {
    await held(HOSTILE);
    const { raw } = await typed(
      ["resume"],
      async ({ see, type }) => {
        await see("└");
        for (let row = 0; row < HOSTILE.length; row += 1) {
          type(KEYS.down);
          await see("");
        }
        type("zz");
        await see("└");
        type(KEYS.escape);
        await see("cancelled");
      },
      { columns, rows },
    );
    assert.doesNotMatch(raw, /\u001b\]|\u0007|\u001b\[2J|[\u202a-\u202e\u2066-\u2069]/);
    const [frames = ""] = raw.split("leftoff: ");
    // Whatever moves the cursor begins a line as well.
    for (const line of frames.replace(/\u001b\[\d*[A-HJK]/g, "\n").split(/[\r\n]+/)) {
      const text = line.replace(/\u001b\[[?\d;]*[a-z]/g, "");
      assert.ok(widthOf(text) <= columns, JSON.stringify(text));
    }
  });
}
