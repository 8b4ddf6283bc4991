// @ts-check
/** `leftoff ask`, killed while an answer streams, again and again in one conversation. */
// Tries: js/cli/ask/, src/ask/recorder.rs

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/run.mjs";
import { scene } from "./tools.mjs";

const CLI = join(root, "js", "cli", "index.js");
const WHOLE = 200;
/** Whoever reads it no longer ends it. */
const ENGINE = "i=0; while [ $i -lt 4000 ]; do i=$((i+1)); printf 'line %s\\n## Answer %s\\n' $i $i; done";

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title:
    "whoever asks is killed while an answer streams: what was shown is in the transcript, and the next question goes on",
  async run({ scaled, seed }) {
    return scene("ask", async ({ folder }) => {
      const where = { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } };
      const kills = scaled(WHOLE);
      let shownBytes = 0;
      for (let round = 0; round < kills; round += 1) {
        const most = ((seed * 7919 + round) * 104_729) % 40_000;
        const shown = await askAndKill(where, { most, resumes: round > 0, question: `Question ${round}?` });
        shownBytes += shown.length;
        const next = spawnSync(
          process.execPath,
          [CLI, "ask", "--resume", "--engine", "cat > sent; echo Here.", "--json", `And ${round}?`],
          { ...where, encoding: "utf8" },
        );
        assert.equal(next.status, 0, next.stderr);
        const { transcript, session } = JSON.parse(next.stdout);
        const answer =
          readFileSync(transcript, "utf8")
            .split(`\n\nQuestion ${round}?\n\n`)[1]
            ?.split("\n\n")
            .slice(1)
            .join("\n\n") ?? "";
        const said = answer.replaceAll("\n\\## Answer", "\n## Answer");
        assert.ok(
          said.startsWith(shown),
          `round ${round}: ${shown.slice(-80)} is not in ${said.slice(shown.length - 80, shown.length + 80)}`,
        );
        assert.ok(readFileSync(join(folder, "sent"), "utf8").endsWith(`\n\nAnd ${round}?\n`));
        assert.match(session, /^[0-9a-f-]{36}$/);
      }
      const [{ messageCount }] = JSON.parse(
        spawnSync(process.execPath, [CLI, "list", "--json"], { ...where, encoding: "utf8" }).stdout,
      );
      assert.ok(messageCount >= 3 * kills, `${messageCount} messages`);
      return { kills, "bytes shown": shownBytes, messages: messageCount };
    });
  },
};

/**
 * Asks, and is killed once so many bytes were shown; gives what was.
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} where
 * @param {{ most: number, resumes: boolean, question: string }} how
 */
async function askAndKill(where, { most, resumes, question }) {
  const child = spawn(process.execPath, [CLI, "ask", ...(resumes ? ["--resume"] : []), "--engine", ENGINE, question], {
    ...where,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    shown += text;
    if (shown.length > most) child.kill("SIGKILL");
  });
  await ended;
  return shown;
}
