// @ts-check
// Every session that the fixtures make, exported as a trajectory, against the format's own validator, PyPI's `atif`:
// and each message of the session is in one of its steps.
// Tries: src/export/atif.rs

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../scripts/run.mjs";
import { pythonWith } from "../../scripts/toolchain.mjs";
import { openStore } from "../../js/index.js";

/** @import { Outcome, Suite } from "../../scripts/suites.mjs" */

const VALIDATOR = [
  "atif==1.8.0",
  "pydantic==2.13.4",
  "pydantic_core==2.46.4",
  "annotated-types==0.7.0",
  "typing-inspection==0.4.2",
  "typing_extensions==4.16.0",
];
const VALIDATE = `import json, sys
from pathlib import Path
from atif import Trajectory
for path in sorted(Path(sys.argv[1]).iterdir()):
    Trajectory.model_validate(json.loads(path.read_text(encoding="utf-8")))
    print(path.name)
`;
const AGENTS = [
  "claude-code",
  "codex",
  "gemini",
  "opencode",
  "pi",
  "qwen",
  "copilot",
  "cline",
  "continue",
  "nanocoder",
];

/** @type {Suite} */
export default {
  title: "trajectories are what the format's validator takes",
  /** @returns {Promise<Outcome>} */
  async run() {
    const python = pythonWith("atif", VALIDATOR);
    if (!python) return { skipped: "'python3 -m venv' or 'pip install' did not work" };
    const folder = mkdtempSync(join(tmpdir(), "leftoff-atif-"));
    try {
      const store = await openStore({ home: join(folder, "store"), project: folder });
      for (const agent of AGENTS) await store.import(join(root, "tests", "fixtures", agent));
      const written = join(folder, "written");
      mkdirSync(written);
      let sum = 0;
      const listed = await store.list({ all: true, type: null, archived: null });
      for (const { id } of listed) {
        const text = await (await store.session(id)).export("atif", { allBranches: true });
        sum += await checkMessages(await store.session(id), text);
        writeFileSync(join(written, `${id}.json`), text);
      }
      await store.close();
      const { stdout, stderr, status } = spawnSync(python, ["-c", VALIDATE, written], { encoding: "utf8" });
      assert.equal(status, 0, stderr);
      assert.equal(stdout.trim().split("\n").length, readdirSync(written).length);
      return { sessions: listed.length, messages: sum };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

/**
 * Each message is a step, or a result within one.
 * @param {import("../../js/index.js").Session} session @param {string} text
 */
async function checkMessages(session, text) {
  const { steps } = JSON.parse(text);
  /** @type {string[]} */
  const said = [];
  for await (const { content } of session.messages({ allBranches: true })) said.push(content);
  const found = steps.flatMap((/** @type {any} */ { message, observation }) => [
    message,
    ...(observation?.results ?? []).map((/** @type {any} */ { content }) => content),
  ]);
  const texts = found.map((/** @type {any} */ one) => (typeof one === "string" ? one : (one[0]?.text ?? "")));
  assert.deepEqual(texts.filter(Boolean).sort(), said.filter(Boolean).sort());
  return said.length;
}
