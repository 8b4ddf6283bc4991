// @ts-check
// Whoever waits at a terminal for more than a second is told what goes on, and nothing of that is left.
// Tries: js/cli/print.js
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { endWorking, note, showWorking } from "../../js/cli/print.js";

/** What is written on standard error meanwhile. @param {boolean} isTTY @param {() => void} work */
function writtenBy(isTTY, work) {
  const { stderr } = process;
  const before = Object.getOwnPropertyDescriptor(stderr, "isTTY");
  let text = "";
  const write = mock.method(stderr, "write", (/** @type {string} */ part) => Boolean((text += part)));
  Object.defineProperty(stderr, "isTTY", { value: isTTY, configurable: true });
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    work();
  } finally {
    endWorking();
    mock.timers.reset();
    write.mock.restore();
    if (before) Object.defineProperty(stderr, "isTTY", before);
    else delete (/** @type {any} */ (stderr).isTTY);
  }
  return text;
}

test("a line says from the first second on what goes on, and is gone before anything else is printed", () => {
  const text = writtenBy(true, () => {
    showWorking("checking sessions");
    mock.timers.tick(2500);
    note("done");
    mock.timers.tick(5000);
  });
  assert.equal(text, "\r\u001b[Kchecking sessions, 1 s\r\u001b[Kchecking sessions, 2 s\r\u001b[Kleftoff: done\n");
});

test("what takes less than a second, and what no person reads, says nothing", () => {
  const quick = () => (showWorking("checking sessions"), mock.timers.tick(900));
  assert.equal(writtenBy(true, quick), "");
  assert.equal(
    writtenBy(false, () => (showWorking("checking sessions"), mock.timers.tick(9000))),
    "",
  );
});
