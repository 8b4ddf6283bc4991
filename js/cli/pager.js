// @ts-check
/** Shows text longer than the screen through the pager, as git does: the first lines are seen first. */

import { spawn } from "node:child_process";
import { once } from "node:events";

/** A shell's exit status where there is no such program. */
const STATUS_NO_PROGRAM = 127;

/**
 * Shows a text, with no control sequences but colors, on the terminal that standard output is.
 * @param {string} text @param {{ canPage?: boolean }} [options]
 */
export async function showPaged(text, { canPage = true } = {}) {
  const { env, stdout, platform } = process;
  const pager = env.PAGER ?? (platform === "win32" ? "" : "less");
  const fits = text.split("\n").length <= (stdout.rows || Infinity);
  const isPlain = !canPage || fits || !pager.trim() || pager.trim() === "cat" || !process.stdin.isTTY;
  if (isPlain || !(await runPager(pager, text))) stdout.write(text);
}

/** Runs the pager; answers whether the text was shown. @param {string} pager @param {string} text */
async function runPager(pager, text) {
  // Ctrl+C is meant for the pager.
  const stay = () => {};
  process.on("SIGINT", stay);
  const child = spawn(pager, {
    shell: true,
    stdio: ["pipe", "inherit", "inherit"],
    env: { LESS: "FRX", LV: "-c", ...process.env },
  });
  // Quitting the pager before the end is no error.
  child.stdin.on("error", stay).end(text);
  const [status] = await once(child, "close");
  process.off("SIGINT", stay);
  return status !== STATUS_NO_PROGRAM;
}
