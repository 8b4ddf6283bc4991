// @ts-check
/** The keys of the page, and what they do. */

/** Each key with its action, as the help lists them. @type {[keys: string[], action: string, text: string][]} */
export const KEYS = [
  [["j"], "nextMessage", "Next message"],
  [["k"], "previousMessage", "Previous message"],
  [["]"], "nextTurn", "Next turn"],
  [["["], "previousTurn", "Previous turn"],
  [["e"], "nextError", "Next error"],
  [["E"], "previousError", "Previous error"],
  [["n"], "nextHit", "Next hit"],
  [["N"], "previousHit", "Previous hit"],
  [["/"], "focusSearch", "Search and filter"],
  [["o"], "fold", "Open or fold the message, or the turn of a request"],
  [["O"], "foldKind", "Open or fold all of this kind"],
  [["w"], "inspect", "What the model saw"],
  [["m"], "focusMap", "The map"],
  [["1"], "showOutline", "Outline"],
  [["2"], "showFiles", "Files"],
  [["c"], "copyLink", "Copy a link to the message"],
  [["y"], "copyText", "Copy the message's text"],
  [["x"], "select", "Select the message"],
  [["J"], "extendDown", "Select the next message, too"],
  [["K"], "extendUp", "Select the previous message, too"],
  [["."], "openActions", "Copy what is selected, or go on elsewhere"],
  [["l"], "toLastRead", "To where you left off"],
  [["g", "g"], "toStart", "To the beginning"],
  [["G"], "toEnd", "To the end"],
  [["t"], "switchTheme", "Light or dark"],
  [["?"], "help", "All keys"],
  [["Escape"], "close", "Close one thing"],
];

/** Finds the action of keys pressed one after another. */
export class Keys {
  #before = "";

  /**
   * Takes a key, and says what it does; nothing for a key without an action, or the first of two.
   * @param {string} key as `KeyboardEvent.key` names it
   * @returns {string | undefined}
   */
  press(key) {
    const before = this.#before;
    this.#before = "";
    const two = KEYS.find(([keys]) => keys.length === 2 && keys[0] === before && keys[1] === key);
    if (two) return two[1];
    const one = KEYS.find(([keys]) => keys.length === 1 && keys[0] === key);
    if (!one && KEYS.some(([keys]) => keys.length === 2 && keys[0] === key)) this.#before = key;
    return one?.[1];
  }
}
