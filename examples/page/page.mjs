// Reads a transcript of any agent in the page: nothing is sent anywhere.

import { readTranscript } from "leftoff";

const element = (id) => document.getElementById(id);

element("file").addEventListener("change", async ({ target }) => {
  try {
    const transcript = await readTranscript(target.files[0]);
    const { messages, tokensUsed } = await transcript.context({ window: 8_000, format: "openai-chat" });
    element("said").textContent =
      `${transcript.session.agent}: ${transcript.length} messages, of which a window of 8,000 gets ${tokensUsed} tokens`;
    element("context").textContent = JSON.stringify(messages, null, 2);
  } catch (error) {
    element("said").textContent = error.message;
  }
});
element("said").textContent = "Choose a file.";
