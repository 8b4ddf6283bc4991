// @ts-check

/** The paths of what lies in folders that are open, wherever they lie. */
// Tries: js/vscode/folder-paths.js

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "fast-check";

import { FolderPaths } from "../../js/vscode/folder-paths.js";

const TAKEN = "/leftoff";

/** An address as the editor has it, as far as it is asked for here. @param {string} text @returns {any} */
function uriFrom(text) {
  const [, scheme, authority, path, query = ""] = /^([^:]+):\/\/([^/]*)(\/[^?]*)(?:\?(.*))?$/.exec(text) ?? [];
  const more = query && `?${query}`;
  return {
    ...{ scheme, authority, path, query },
    with: ({ path: other = "" }) => uriFrom(`${scheme}://${authority}${other}${more}`),
    toString: () => `${scheme}://${authority}${path}${more}`,
  };
}

/** @param {string[]} folders */
const pathsOf = (...folders) =>
  new FolderPaths(
    folders.map((text, place) => ({ uri: uriFrom(text), name: `folder${place}` })),
    { taken: TAKEN, chosen: new Map() },
  );

describe("the path of a folder", () => {
  /** @param {string} law @param {string[]} folders @param {string[]} expected */
  const check = (law, folders, expected) => test(law, () => assert.deepEqual(pathsOf(...folders).folders, expected));

  check("is the address's own", ["vscode-vfs://github/me/parser?ref=main"], ["/me/parser"]);
  check("is that of two folders of one disk", ["vscode-remote://host/a", "vscode-remote://host/a/b"], ["/a", "/a/b"]);
  check("names where the later of two lies", ["one://x/a", "two://x/a"], ["/a", "/two%3A%2F%2Fx/a"]);
  check("names it where one lies in the other", ["one://x/a/b", "one://y/a"], ["/a/b", "/one%3A%2F%2Fy/a"]);
  check(
    "names it where only the query differs",
    ["one://x/a?v=1", "one://x/a?v=2"],
    ["/a", "/one%3A%2F%2Fx%3Fv%3D2/a"],
  );
  check("is none of the browser's own", ["one://x/leftoff/leftoff"], ["/one%3A%2F%2Fx/leftoff/leftoff"]);
  check("has the folder's name at a root", ["one://x/"], ["/one%3A%2F%2Fx/folder0"]);
});

const NAMES = fc.constantFrom("a", "b", "leftoff");
const PATHS = fc.array(NAMES, { maxLength: 3 }).map((names) => `/${names.join("/")}`);
const ADDRESSES = fc
  .tuple(fc.constantFrom("one://x", "one://y", "two://x"), PATHS, fc.constantFrom("", "?ref=main"))
  .map((parts) => parts.join(""));

describe("paths of any folders and files", () => {
  test("lead back to what they were made of, no two to one, and none into the browser's own", () => {
    fc.assert(
      fc.property(fc.uniqueArray(ADDRESSES, { maxLength: 4 }), fc.uniqueArray(ADDRESSES), (folders, files) => {
        const paths = pathsOf(...folders);
        const made = files.map((text) => paths.pathOf(uriFrom(text)));
        assert.deepEqual(
          made.map((path) => String(paths.uriOf(path))),
          files,
        );
        assert.equal(new Set(made).size, files.length);
        for (const path of made) assert.ok(path !== TAKEN && !path.startsWith(`${TAKEN}/`), path);
      }),
    );
  });

  test("are the folders' own where they lie in one", () => {
    fc.assert(
      fc.property(fc.uniqueArray(ADDRESSES, { maxLength: 4, minLength: 1 }), (folders) => {
        const paths = pathsOf(...folders);
        assert.deepEqual(
          folders.map((text) => paths.pathOf(uriFrom(text))),
          paths.folders,
        );
      }),
    );
  });

  test("lead nowhere outside the folders, but to a file that was chosen", () => {
    const paths = pathsOf("one://x/a");
    assert.equal(paths.uriOf("/b/c"), undefined);
    const [path, other] = ["one://x/b/c", "two://x/b/c"].map((text) => paths.pathOf(uriFrom(text)));
    assert.deepEqual(
      [path, other].map((one) => String(paths.uriOf(one))),
      ["one://x/b/c", "two://x/b/c"],
    );
  });
});
