// Shows the session of a file in a part of a page, with the page's own button for its search. Nothing is uploaded: all
// happens in the page.
import { MemoryStorage, openStore } from "leftoff";
import { openViewer } from "leftoff/viewer";

const [input, search, said, root] = ["file", "search", "said", "viewer"].map((id) => document.getElementById(id));
let shown;

search.addEventListener("click", () => shown?.openSearch());

input.addEventListener("change", async () => {
  const [file] = input.files;
  const storage = new MemoryStorage();
  await storage.replace(`/files/${file.name}`, new Uint8Array(await file.arrayBuffer()));
  const store = await openStore({ storage });
  try {
    const { imported } = await store.import(`/files/${file.name}`);
    shown?.close();
    shown = openViewer(root, { store, session: await store.session(imported[0].id), header: false });
    await shown.whole;
    said.textContent = `${imported[0].agent}: ${imported[0].messageCount} messages`;
  } catch (error) {
    said.textContent = error.message;
  }
});
