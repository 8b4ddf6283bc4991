// @ts-check
// What a program finds on the classes that it is given is what their declarations say: their insides have no names
// there.
// Tries: js/types/, js/store/store.js, js/session/session.js, js/compat/index.js
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** As they are packed. @type {Record<string, Record<string, any>>} */
const ENTRIES = {};
for (const name of ["index", "compat", "memory", "node"])
  ENTRIES[name] = await import(new URL(`../../pkg/${name}.mjs`, import.meta.url).href);

const types = fileURLToPath(new URL("../../types/", import.meta.url));
const declarations = readdirSync(types, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".d.ts") && !path.startsWith("cjs"))
  .map((path) => readFileSync(join(types, path), "utf8"));

/** The bodies of the declarations of a class; the classes of two entries may share a name. @param {string} name */
function classBodies(name) {
  return declarations.flatMap((text) =>
    [...text.matchAll(new RegExp(`export declare class ${name}\\b[^{]*\\{([^]*?)\\n\\}`, "g"))].map(
      ([, body = ""]) => body,
    ),
  );
}

/** @param {string} body @param {string} name */
const says = (body, name) =>
  new RegExp(`^\\s+(?:static |readonly |get |set |private )*\\[?${name.replace(/[.$]/g, "\\$&")}\\b`, "m").test(body);

for (const [entry, exported] of Object.entries(ENTRIES)) {
  for (const [name, kind] of Object.entries(exported).filter(([, kind]) => /^class\b/.test(String(kind)))) {
    test(`${entry}: ${name} is called so, and has what is declared of it and nothing else`, () => {
      assert.equal(kind.name, name);
      const bodies = classBodies(name);
      assert.ok(bodies.length > 0);
      const own = [kind, kind.prototype]
        .flatMap((one) => Reflect.ownKeys(one))
        .flatMap((key) => (key === Symbol.asyncDispose ? [] : [String(key)]));
      const names = own.filter((one) => !["length", "name", "prototype", "constructor"].includes(one));
      assert.ok(
        bodies.some((body) => names.every((one) => says(body, one))),
        `found ${names.filter((one) => !bodies.some((body) => says(body, one)))}`,
      );
    });
  }
}
