// Shows one conversation, which a worker keeps: it is there again when the page is loaded anew.

const element = (id) => document.getElementById(id);
// Where the package lies: a worker has no import map.
const worker = new Worker(`./worker.mjs?leftoff=${encodeURIComponent("/node_modules/leftoff/pkg/web/")}`, {
  type: "module",
});

worker.addEventListener("message", ({ data: { messages, error } }) => {
  element("said").textContent = error ?? `${messages.length} messages are kept.`;
  element("messages").replaceChildren(
    ...(messages ?? []).map(({ role, content }) =>
      Object.assign(document.createElement("li"), { textContent: `${role}: ${content}` }),
    ),
  );
});
element("form").addEventListener("submit", (event) => {
  event.preventDefault();
  worker.postMessage(element("text").value);
  element("text").value = "";
});
