// @ts-check
// Programs with the AI SDK that are killed, or two of which are in one chat: each message is saved once.
// Tries: js/ai/steps.js, js/ai/chat.js, js/ai/plan.js
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { loadChat, openChat } from "../../js/ai/index.js";
import { openStore } from "../../js/index.js";
import { said } from "./ai-sdk.js";

/** @import { Session } from "../../js/index.js" */

const PROGRAM = fileURLToPath(new URL("ai-sdk-program.js", import.meta.url));

/** @param {(places: { home: string, folder: string }) => Promise<void>} work */
async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-ai-"));
  await work({ home: join(folder, "home"), folder }).finally(() => rmSync(folder, { recursive: true }));
}

/** @param {{ home: string, folder: string }} places @param {string[]} args */
const start = ({ home, folder }, ...args) =>
  spawn(process.execPath, [PROGRAM, home, folder, ...args], { stdio: ["ignore", "pipe", "inherit"] });

/** Reads a chat as a process that comes later. @param {{ home: string, folder: string }} places @param {(session: Session, chat: any[]) => unknown} read */
async function readLater({ home, folder }, read) {
  const store = await openStore({ home, project: folder });
  await read(await openChat(store, "chat"), await loadChat(store, "chat"));
  await store.close();
}

test("a run that is killed keeps each step that was finished, and can go on", async () => {
  await inFolder(async (places) => {
    let steps = 0;
    for (const [round, count] of [0, 1, 3, 6].entries()) {
      const child = start(places, "steps", `${round}`);
      const exit = once(child, "exit");
      let told = "";
      for await (const chunk of child.stdout) {
        told += chunk;
        if (told.includes(`${count}\n`)) break;
      }
      child.kill("SIGKILL");
      await exit;
      steps += count;
      await readLater(places, async (session) => {
        const all = await said(session);
        const prompts = all.filter((line) => line.startsWith("user Go on")).length;
        const calls = all.filter((line) => line.startsWith("assistant"));
        assert.equal(prompts, round + 1);
        assert.ok(calls.length >= steps, `${calls.length} of ${steps}`);
        assert.equal(new Set(calls).size, calls.length);
        assert.equal(all.filter((line) => line.startsWith("tool")).length, calls.length);
        steps = calls.length;
      });
    }
  });
});

test("two programs that run in one session save each message once, a result after its call", async () => {
  await inFolder(async (places) => {
    const codes = await Promise.all(["a", "b"].map((name) => once(start(places, "runs", name), "exit")));
    assert.deepEqual(codes, [
      [0, null],
      [0, null],
    ]);
    await readLater(places, async (session) => {
      const all = await said(session);
      assert.equal(all.length, 2 * 8 * 4);
      assert.equal(new Set(all).size, all.length);
      for (const [place, line] of all.entries()) {
        const id = /^tool .* (\S+)$/.exec(line)?.[1];
        if (id) assert.equal(all[place - 1], `assistant  ${id}`);
      }
    });
  });
});

test("two programs that save one chat lose nothing and double nothing", async () => {
  await inFolder(async (places) => {
    const codes = await Promise.all(["a", "b"].map((name) => once(start(places, "chat", name), "exit")));
    assert.deepEqual(codes, [
      [0, null],
      [0, null],
    ]);
    await readLater(places, async (session, chat) => {
      const heads = [];
      for await (const { source } of session.messages({ allBranches: true })) heads.push(source?.id);
      const all = ["a", "b"].flatMap((name) =>
        Array.from({ length: 8 }, (_, round) => [`user_${name}_${round}`, `assistant_${name}_${round}`]).flat(),
      );
      assert.deepEqual(heads.sort(), all.sort());
      assert.ok(chat.length >= 16);
    });
  });
});
