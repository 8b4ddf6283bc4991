// @ts-check
// Writes pkg/sbom.cdx.json: the software bill of materials of what ships, in CycloneDX' format, made and checked by its
// own library. Bundled and compiled parts come from pkg/shipped.json, optional ones from package.json.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { install, tool } from "../tests/pack/tools.mjs";
import { fail, root } from "./run.mjs";

/**
 * @typedef {{ from: "npm" | "cargo" | "generic", name: string, version: string, license?: string, source?: string }}
 *   ShippedPart
 */

install();
const { Enums, Models, Serialize, Spec, Validation } = await tool("@cyclonedx/cyclonedx-library");
const { name, version, license, optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** @param {ShippedPart} one @param {string} [scope] */
function component({ from, name, version, license, source }, scope) {
  const purl = `pkg:${from}/${name.replace("@", "%40")}@${version}`;
  const made = new Models.Component(Enums.ComponentType.Library, name, { version, scope, purl, bomRef: purl });
  if (license) made.licenses.add(new Models.LicenseExpression(license.replaceAll("/", " OR ")));
  if (source) made.externalReferences.add(new Models.ExternalReference(source, Enums.ExternalReferenceType.VCS));
  return made;
}

/** @type {ShippedPart[]} */
const shipped = JSON.parse(readFileSync(join(root, "pkg", "shipped.json"), "utf8"));
const bom = new Models.Bom();
const whole = component({ from: "npm", name, version, license });
bom.metadata.component = whole;
for (const one of shipped) bom.components.add(component(one, Enums.ComponentScope.Required));
for (const [name, version] of Object.entries(optionalDependencies)) {
  if (!shipped.some((one) => one.name === name))
    bom.components.add(component({ from: "npm", name, version: String(version) }, Enums.ComponentScope.Optional));
}
for (const one of bom.components) whole.dependencies.add(one.bomRef);
const json = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)).serialize(bom, {
  sortLists: true,
  space: 1,
});
const wrong = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(json);
if (wrong) fail(`expected a bill of materials, but found ${JSON.stringify(wrong)}`);
writeFileSync(join(root, "pkg", "sbom.cdx.json"), `${json}\n`);
console.log(`  sbom: ${shipped.length} packages in what ships`);
