// @ts-check
/** What a row of a view says when it is pointed at. */

import { MarkdownString } from "vscode";

/** Lines as a tooltip, each as text: titles and paths are whatever was typed. @param {(string | false | null | undefined)[]} lines */
export function tooltipOf(lines) {
  const tip = new MarkdownString();
  for (const [place, line] of lines.filter((one) => typeof one === "string" && one !== "").entries()) {
    if (place > 0) tip.appendMarkdown("\n\n");
    tip.appendText(String(line));
  }
  return tip;
}
