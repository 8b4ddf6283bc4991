// @ts-check
// The example of a server, talked to.

import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";

/**
 * Two things that are said in one chat, and one that is none.
 * @param {string} folder where the example lies, beside the package
 * @param {string} name
 */
export async function talkedTo(folder, name) {
  const child = spawn(process.execPath, [name, `chats-${name}`], {
    cwd: folder,
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  try {
    const address = await Promise.race([
      once(createInterface(child.stdout), "line").then(([line]) => line),
      ended.then(([code]) => Promise.reject(new Error(`the server ended with ${code}`))),
    ]);
    const say = async (/** @type {string} */ body) =>
      (await fetch(address, { method: "POST", body, headers: { "content-type": "application/json" } })).json();
    const said = [
      await say('{"chat":"first","text":"Hello"}'),
      await say('{"chat":"first","text":"Again"}'),
      await say("nothing"),
    ];
    const [first, second, third] = said;
    const found = [first.answer, first.messages, second.answer, second.messages, typeof third.error];
    const expected = ["You said: Hello", 1, "You said: Again", 3, "string"];
    if (JSON.stringify(found) !== JSON.stringify(expected))
      throw new Error(`expected ${JSON.stringify(expected)}, but found ${JSON.stringify(said)}`);
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}
