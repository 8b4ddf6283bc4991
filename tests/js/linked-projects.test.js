// @ts-check
// A project that is reached by a link is that project, by whichever name it was entered.
// Tries: js/storage/real-path.js, js/agents/files.js, src/operation/store/project.rs
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { MemoryStorage, openStore } from "../../js/index.js";

const CLAUDE = readFileSync(
  new URL("../fixtures/public-reports/04-project-by-a-link.template.jsonl", import.meta.url),
  "utf8",
);
/** What a rollout of Codex says. @param {string} cwd */
const codexRollout = (cwd) =>
  [
    {
      timestamp: "2026-10-01T09:00:00.000Z",
      type: "session_meta",
      payload: {
        id: "019a0000-0000-7000-8000-000000000004",
        timestamp: "2026-10-01T09:00:00.000Z",
        cwd,
        originator: "codex_cli_rs",
        cli_version: "0.171.0",
      },
    },
    {
      timestamp: "2026-10-01T09:00:01.000Z",
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ type: "input_text", text: "Which port?" }] },
    },
    {
      timestamp: "2026-10-01T09:00:02.000Z",
      type: "response_item",
      payload: { type: "message", role: "assistant", content: [{ type: "output_text", text: "8080" }] },
    },
  ]
    .map((record) => `${JSON.stringify(record)}\n`)
    .join("");
/** What each agent's file says of the folder where it was at work. @type {Record<string, (cwd: string) => string>} */
const FILES = {
  "claude-code": (cwd) => CLAUDE.replaceAll("LINK", JSON.stringify(cwd).slice(1, -1)),
  codex: codexRollout,
};

/**
 * @param {(at: { root: string, project: string, put: (name: string, text: string) => string }) => Promise<void>} work
 */
async function inFolders(work) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-links-")));
  const project = join(root, "real", "project");
  mkdirSync(join(project, "inside"), { recursive: true });
  const put = (/** @type {string} */ name, /** @type {string} */ text) => {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  try {
    await work({ root, project, put });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

for (const [agent, fileOf] of Object.entries(FILES)) {
  test(`what ${agent} was told in a linked folder is listed in the project, by either name`, () =>
    inFolders(async ({ root, project, put }) => {
      symlinkSync(project, join(root, "link"));
      symlinkSync(join(root, "real"), join(root, "above"));
      symlinkSync(join(root, "link"), join(root, "again"));
      for (const by of ["link", join("above", "project"), "again", join("real", "project")]) {
        const home = join(root, `home ${by.replace(/\W/g, "-")}`);
        const store = await openStore({ home, project });
        const {
          imported: [one],
        } = await store.import(put("session.jsonl", fileOf(join(root, by))));
        await store.close();
        for (const name of [project, join(root, "link"), join(root, "above", "project")]) {
          const seen = await openStore({ home, project: name });
          const listed = await seen.list();
          assert.deepEqual(
            listed.map(({ id, project: folder }) => [id, folder]),
            [[one?.id, project]],
            `${by}, ${name}`,
          );
          await seen.close();
        }
      }
    }));

  test(`what ${agent} was told in a folder that is gone, or of another machine, stays where it says`, () =>
    inFolders(async ({ root, project, put }) => {
      symlinkSync(project, join(root, "link"));
      const store = await openStore({ home: join(root, "home"), project });
      for (const [cwd, folder] of [
        [join(root, "link", "gone", "deep"), join(project, "gone", "deep")],
        ["/no/such/machine/project", "/no/such/machine/project"],
      ]) {
        const {
          imported: [one],
        } = await store.import(
          put(
            "session.jsonl",
            fileOf(String(cwd)).replaceAll("000000000004", String(folder?.length).padStart(12, "0")),
          ),
        );
        assert.equal((await store.list({ all: true })).find(({ id }) => id === one?.id)?.project, folder);
      }
      await store.close();
    }));
}

test("a store in a storage of the caller's own knows nothing of this machine's links", () =>
  inFolders(async ({ root, project }) => {
    symlinkSync(project, join(root, "link"));
    const bytes = new TextEncoder().encode(codexRollout(join(root, "link")));
    const storage = new MemoryStorage();
    await storage.replace("/session.jsonl", bytes);
    const store = await openStore({ home: "/home", project: join(root, "link"), storage });
    await store.import("/session.jsonl");
    assert.deepEqual(
      (await store.list()).map(({ project: folder }) => folder),
      [join(root, "link")],
    );
    await store.close();
  }));

test("linked files and folders below an agent's folder are imported, each once, and a circle of links has an end", () =>
  inFolders(async ({ root, project, put }) => {
    const dashed = "-work-project";
    const kept = join(root, "agent", "projects");
    const talk = (/** @type {string} */ digit) =>
      CLAUDE.replaceAll("LINK", project)
        .replaceAll("00000000-0000-4000-8000-00000000002", `00000000-0000-4000-8000-0000000000${digit}`)
        .replaceAll("000000000004", `00000000000${digit}`);
    put(join("agent", "projects", dashed, "plain.jsonl"), talk("1"));
    put(join("elsewhere", "folder", "in-a-linked-folder.jsonl"), talk("2"));
    const file = put(join("elsewhere", "linked.jsonl"), talk("3"));
    symlinkSync(join(root, "elsewhere", "folder"), join(kept, "-linked"));
    symlinkSync(file, join(kept, dashed, "linked.jsonl"));
    symlinkSync(kept, join(kept, dashed, "circle"));
    symlinkSync(kept, join(root, "elsewhere", "folder", "back"));
    symlinkSync(join(root, "nowhere"), join(kept, "dangling"));
    symlinkSync(kept, join(root, "all"));
    for (const [name, folder] of [
      ["by its name", kept],
      ["by a link", join(root, "all")],
    ]) {
      const store = await openStore({ home: join(root, `home ${name}`), project });
      const { imported, problems } = await store.import(String(folder));
      assert.deepEqual([imported.length, new Set(imported.map(({ id }) => id)).size, problems], [3, 3, []], name);
      const again = await store.import(String(folder));
      assert.deepEqual([again.imported, again.unchanged], [[], 3], name);
      await store.close();
    }
  }));
