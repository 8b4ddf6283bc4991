// An extension of VS Code that lists what was said in the open folder. Extensions are one CommonJS file:
//
//     npx esbuild extension.mjs --bundle --platform=node --format=cjs --external:vscode --outfile=extension.cjs

import { openStore } from "leftoff";
import { commands, window, workspace } from "vscode";

/** @param {{ subscriptions: { dispose(): unknown }[], globalStorageUri: { fsPath: string } }} context */
export function activate({ subscriptions, globalStorageUri }) {
  subscriptions.push(
    commands.registerCommand("leftoff.sessions", async () => {
      const [folder] = workspace.workspaceFolders ?? [];
      const store = await openStore({ home: globalStorageUri.fsPath, project: folder?.uri.fsPath });
      try {
        const listed = await store.list();
        const picked = await window.showQuickPick(
          listed.map(({ id, title, messageCount }) => ({ id, label: title, description: `${messageCount} messages` })),
        );
        return picked && (await (await store.session(picked.id)).export("markdown"));
      } finally {
        await store.close();
      }
    }),
  );
}
