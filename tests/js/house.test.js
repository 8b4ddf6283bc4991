// @ts-check
// The lint that keeps the floors of src/ apart finds a circle however it is written, and none where there is none; the
// one that keeps to one spelling finds a word of another, and another one suites that no page tells of.
// Tries: scripts/house.mjs
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { british, circle, findUnnamed, uses } from "../../scripts/house.mjs";

/** @param {Record<string, string>} files @param {string[] | null} expected */
function check(files, expected) {
  const src = mkdtempSync(join(tmpdir(), "leftoff-floors-"));
  for (const [path, text] of Object.entries({ "lib.rs": "#[cfg(test)]\nmod records;\n", ...files })) {
    mkdirSync(dirname(join(src, path)), { recursive: true });
    writeFileSync(join(src, path), text);
  }
  const found = circle(uses(src));
  rmSync(src, { recursive: true });
  assert.deepEqual(found, expected);
}

test("a circle between two floors is found, with the files that close it", () => {
  check({ "json/text.rs": "use crate::record::Blob;\n", "record.rs": "use crate::json::text::Text;\n" }, [
    "json/text.rs uses record",
    "record.rs uses json",
  ]);
});

test("a circle of three is found, in groups, in paths and behind a floor that is in none", () => {
  const floors = {
    "a.rs": "use crate::b::B;\n",
    "b/x.rs": "use crate::{a_not::{c, d}, c::C};\n",
    "c/y.rs": "fn f() -> crate::d::D {}\n",
    "d.rs": "pub use crate::{b};\n",
  };
  check(floors, ["b/x.rs uses c", "c/y.rs uses d", "d.rs uses b"]);
});

test("files of one floor, comments, tests and what is compiled for tests alone close no circle", () => {
  check(
    {
      "context/build.rs": "use crate::context::choose::Choosing;\nuse crate::json::Text;\n",
      "context/choose.rs": "use crate::context::build::Build;\n",
      "json.rs":
        "/// See [`crate::context::build`].\n#[cfg(test)]\nmod tests {\n    use crate::context::build::Build;\n}\n",
      "records.rs": "use crate::json::Text;\n",
      "json/fields.rs": "#[cfg(test)]\n#[allow(unused)]\nmod tests {\n    use crate::records::declared;\n}\n",
    },
    null,
  );
});

test("a British spelling is found in prose and in names, with its line, and nothing that looks like one", () => {
  // In halves: the lint looks at this file, too.
  for (const [first, last] of [
    ["col", "oured"],
    ["Hon", "our"],
    ["neighb", "ours"],
    ["licen", "ces"],
    ["optim", "isation"],
    ["isRecogn", "isedBy"],
    ["TOKEN", "ISER"],
    ["custom", "ise"],
    ["labell", "ed"],
    ["modell", "ing"],
    ["spel", "t"],
    ["acknowledge", "ment"],
    ["anal", "ysed"],
    ["gr", "ey"],
  ]) {
    assert.deepEqual(british(`one\ntwo: a ${first}${last} three`), { word: `${first}${last}`, line: 2 });
  }
  const american =
    "color honor neighbor license optimization recognized labeled modeled spelled acknowledgment analyzed gray";
  const alike =
    "promise otherwise compromising minimum analyses exercise arising precise noise concise raise course pour four contour parameters programmed cancelled telling unlicensed greyhound treatise finishing";
  for (const word of `${american} ${alike}`.split(" ")) assert.equal(british(word), undefined, word);
});

test("a suite is told of by a row or by the command that runs it, and by no other one's name", () => {
  const page =
    "`npm run test:faults -- logs` (debug assertions)\n\n| `kill` | tried | came of it |\n| `ask --seed 2` | tried | came of it |\n| tried | `modes` | `npm run test:faults -- writers-of-logs` |\n";
  assert.deepEqual(findUnnamed(["ask", "kill", "logs", "log", "modes", "writers"], page), ["log", "modes", "writers"]);
});
