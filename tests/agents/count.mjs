// Counts what files of agents hold, straight from their bytes: node count.mjs AGENT FILE...
// Prints one line of JSON for each file; null where it is no session of that agent. What `tally` of count/<agent>.mjs
// gives: main, side: how many messages of each kind the conversation has, and those of its sub-agents together
// types: the records that become nothing; fields: those of what is read, how often; bad: how many lines are none
// versions: of the client; isSilent: it is a session in which nothing was said
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const [agent, ...files] = process.argv.slice(2);
const { tally } = await import(`./count/${agent}.mjs`);
for (const file of files) console.log(JSON.stringify(tally(readFileSync(file, "utf8"), basename(file)) ?? null));
