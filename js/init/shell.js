// @ts-check
/** Quotes words for a shell. */

/** Words that shells take as they are. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** The folders that every shell looks in. */
const SYSTEM_FOLDERS = ["/usr/bin", "/bin"];

/** @param {string[]} words */
export function shellWords(words) {
  return words.map((word) => (PLAIN_WORD.test(word) ? word : `"${word.replace(/["\\$`]/g, "\\$&")}"`)).join(" ");
}

/**
 * A command that runs a program by its name, with the folders where it was found last on the PATH: so others can use
 * the same words, and so can a shell that has not read its user's settings.
 * @param {string} program @param {string[]} folders @param {string} home of the user
 */
export function commandWithPath(program, folders, home) {
  const others = [...new Set(folders)].filter((folder) => !SYSTEM_FOLDERS.includes(folder));
  const within = (/** @type {string} */ text) => text.replace(/["\\$`]/g, "\\$&");
  const isOfHome = (/** @type {string} */ folder) => home !== "" && folder.startsWith(`${home}/`);
  const placed = (/** @type {string} */ folder) =>
    isOfHome(folder) ? `$HOME${within(folder.slice(home.length))}` : within(folder);
  return others.length === 0 ? program : `PATH="$PATH:${others.map(placed).join(":")}" ${program}`;
}
