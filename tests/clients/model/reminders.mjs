// @ts-check
/** What clients put among the user's words that the user did not say. */

const TAGS = ["system-reminder", "environment_context", "session_context", "current_datetime"];
const WRAPPED = new RegExp(`<(${TAGS.join("|")})>.*?</\\1>`, "gs");

/** What is left of a user's text without it. @param {string} text */
export function own(text) {
  return text.replace(WRAPPED, "").trim();
}
