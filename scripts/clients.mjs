// @ts-check
// `npm run test:clients`: real clients, offline, against a model server that answers by a script. Three tenths of it, as CI
// runs it; all with `-- --scale 1`; only some with `-- samples`; other sessions with `-- --seed 7`.

import { step } from "./run.mjs";
import { asked, suites } from "./suites.mjs";
import { install } from "../tests/clients/install.mjs";

await step("the clients", install);
const { failed } = await suites({ folder: "clients", kind: "client" }, asked({ scale: "0.3" }));
process.exitCode = failed > 0 ? 1 : 0;
