// @ts-check
/** What is longer than the screen goes through the pager, as git has it: the first lines are seen first. */

import { spawn } from "node:child_process";
import { once } from "node:events";

/** What a shell says where there is no such program. */
const NO_PROGRAM = 127;

/**
 * Shows a text, which steers nothing but colors, on the terminal that standard output is.
 * @param {string} text @param {{ canPage?: boolean }} [options]
 */
export async function showPaged(text, { canPage = true } = {}) {
  const { env, stdout, platform } = process;
  const pager = env.PAGER ?? (platform === "win32" ? "" : "less");
  const fits = text.split("\n").length <= (stdout.rows || Infinity);
  const isPlain = !canPage || fits || !pager.trim() || pager.trim() === "cat" || !process.stdin.isTTY;
  if (isPlain || !(await runPager(pager, text))) stdout.write(text);
}

/** Whether it was shown. @param {string} pager @param {string} text */
async function runPager(pager, text) {
  // Whoever presses Ctrl+C means the pager.
  const stay = () => {};
  process.on("SIGINT", stay);
  const child = spawn(pager, { shell: true, stdio: ["pipe", "inherit", "inherit"], env: { LESS: "FRX", LV: "-c", ...process.env } });
  // Who quits before the end has seen enough.
  child.stdin.on("error", stay).end(text);
  const [status] = await once(child, "close");
  process.off("SIGINT", stay);
  return status !== NO_PROGRAM;
}
