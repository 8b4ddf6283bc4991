// @ts-nocheck
// What an editor is to the example of an extension: it has one folder open, and its user picks what is shown first.

const Module = require("node:module");

const [, , storage, project] = process.argv;
const commands = new Map();
const vscode = {
  commands: { registerCommand: (name, work) => (commands.set(name, work), { dispose: () => commands.delete(name) }) },
  window: { showQuickPick: async ([first]) => first },
  workspace: { workspaceFolders: [{ uri: { fsPath: project } }] },
};
const load = Module._load;
Module._load = (name, ...given) => (name === "vscode" ? vscode : load(name, ...given));

const { activate } = require("./extension/extension.cjs");
const subscriptions = [];
activate({ subscriptions, globalStorageUri: { fsPath: storage } });
commands
  .get("leftoff.sessions")()
  .then((text) => {
    for (const one of subscriptions) one.dispose();
    console.log(commands.size === 0 ? text : "a command is left");
  });
