// @ts-check
/**
 * Records what scripts answer today: `node tests/conformance/record.mjs create-plain`, several names, or `--all`;
 * without one it records those that have no record yet. `--show create-plain` prints the answers in full, and the files
 * that it leaves, masked.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { FOLDER, names, runScript, scriptOf } from "./scripting/run.mjs";
import { renderScript } from "./scripting/script-file.mjs";

const [first, ...rest] = process.argv.slice(2);

if (first === "--show") {
  for (const name of rest) {
    const { whole, texts } = await runScript(scriptOf(name), { seed: name });
    whole.forEach((answer, place) => console.log(`=== step ${place + 1}\n${JSON.stringify(answer, null, 2)}`));
    for (const [file, text] of texts) console.log(`=== ${file}\n${text}`);
  }
} else {
  const wanted =
    first === "--all" ? names() : first ? [first, ...rest] : names().filter((name) => !scriptOf(name).answers);
  for (const name of wanted) {
    const script = scriptOf(name);
    const { answers, whole, files } = await runScript(script, { seed: name });
    const place = whole.findIndex(
      (answer, at) => script.steps[at]?.op === "context" && JSON.stringify(answer).includes("PROJECT: <"),
    );
    if (place >= 0)
      throw new Error(
        `${name}, step ${place + 1}: expected no path in what is counted, but found the project's; let the session begin in a workspace`,
      );
    writeFileSync(join(FOLDER, `${name}.json`), renderScript({ ...script, answers, files }));
    console.log(`${name}: ${answers.length} answers, ${Object.keys(files).length} files`);
  }
}
