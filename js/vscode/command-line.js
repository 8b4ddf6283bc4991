// @ts-check
/** leftoff's command line, started by the editor's own program as Node: what it starts itself is started as always. */

delete process.env.ELECTRON_RUN_AS_NODE;
const { stdin } = process;
// A terminal closes with its program: what went wrong is read first.
if (stdin.isTTY)
  process.once("beforeExit", (code) => {
    if (code === 0) return;
    console.error("\nPress a key to close this terminal.");
    stdin.setRawMode(true).once("data", () => process.exit(code));
  });
await import("../cli/entry.js");
