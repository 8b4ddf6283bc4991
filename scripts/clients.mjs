// @ts-check
// `npm run test:clients`: drives real clients, offline, against a model server that answers by a script. Runs three
// tenths, as CI does; all with `-- --scale 1`; also the clients that CI leaves out with `-- --all`; only some suites
// with `-- samples`; other sessions with `-- --seed 7`. LEFTOFF_KEEP names a folder for the files that the clients
// write.

import { step } from "./run.mjs";
import { parseOptions, suites } from "./suites.mjs";
import { install } from "../tests/clients/install.mjs";

const wanted = parseOptions({ scale: "0.3" });
await step("the clients", () => install(wanted));
const { failed } = await suites({ folder: "clients", kind: "client" }, wanted);
process.exitCode = failed > 0 ? 1 : 0;
