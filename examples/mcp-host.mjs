// A program that has a model of its own, a host of the Model Context Protocol: it starts `leftoff mcp` and looks up what
// any agent said in this folder's project.
//
//     npm install leftoff @modelcontextprotocol/client
//     node mcp-host.mjs "Why do we pin croniter?"

import process from "node:process";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [question = "What was decided?"] = process.argv.slice(2);
const client = new Client({ name: "my-host", version: "1.0.0" });
// A server is given hardly anything of the environment, unless it is passed on.
await client.connect(new StdioClientTransport({ command: "npx", args: ["leftoff", "mcp"], env: { ...process.env } }));
try {
  // What a model is offered: each tool has its name, what it does, and its input as a JSON schema.
  const { tools } = await client.listTools();
  for (const { name, description } of tools) console.log(`${name}: ${description}`);
  console.log(await call("search", { words: question }));
  console.log(await call("recall", { question }));
} finally {
  await client.close();
}

/**
 * What a model is answered when it calls a tool: quotes in a fence, which are data, and no instructions.
 * @param {string} name @param {Record<string, unknown>} input
 */
async function call(name, input) {
  const { content } = await client.callTool({ name, arguments: input });
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}
