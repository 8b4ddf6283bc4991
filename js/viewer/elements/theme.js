// @ts-check
/** The theme around a viewer: when it changes, and in VS Code which of its colors can be read. */

/** The least contrast of text with its ground (WCAG 1.4.3). */
const MIN_CONTRAST = 4.5;
/** The attributes that a host changes with its theme. */
const THEME_ATTRIBUTES = ["class", "style", "data-theme", "data-vscode-theme-id"];
const VSCODE_BODY = ".vscode-light, .vscode-dark, .vscode-high-contrast, .vscode-high-contrast-light";
const GROUNDS = ["--page", "--side", "--sunk"];
/** The tokens of text, and what they stand on. @type {Record<string, string[]>} */
const TEXTS = {
  "--ink": [...GROUNDS, "--accent-soft", "--add", "--del"],
  "--ink2": [...GROUNDS, "--accent-soft", "--err-soft", "--warn-soft", "--agent-soft"],
  "--ink3": [...GROUNDS, "--accent-soft", "--add", "--del"],
  "--accent": [...GROUNDS, "--accent-soft"],
  "--err": ["--page", "--side", "--err-soft", "--accent-soft"],
  "--warn": [...GROUNDS, "--warn-soft"],
  "--ok": GROUNDS,
  "--agent": [...GROUNDS, "--agent-soft"],
  "--key": GROUNDS,
  "--str": GROUNDS,
  "--num": GROUNDS,
  "--com": GROUNDS,
  "--fn": GROUNDS,
  "--on-hit": ["--hit"],
  "--on-hit-now": ["--hit-now"],
};
/** What stands for a token that cannot be read; black and white for what no theme foresees, such as marks. */
const FALLBACKS = ["var(--vscode-foreground)", "#fff", "#000"];

/**
 * Calls back when the theme changes, until the signal ends it; in VS Code with colors that can be read.
 * @param {HTMLElement} viewer @param {() => void} changed @param {AbortSignal} signal
 */
export function watchTheme(viewer, changed, signal) {
  const update = () => {
    if (document.body.matches(VSCODE_BODY)) replacePaleColors(viewer);
    changed();
  };
  const observer = new MutationObserver(update);
  for (let element = viewer.parentElement; element; element = element.parentElement)
    observer.observe(element, { attributeFilter: THEME_ATTRIBUTES });
  observer.observe(viewer, { attributeFilter: ["data-theme"] });
  signal.addEventListener("abort", () => observer.disconnect());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update, { signal });
  update();
}

/** Shows an element light if it is dark, and dark if it is light. @param {HTMLElement} element */
export function switchTheme(element) {
  const { colorScheme } = getComputedStyle(element);
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches ? colorScheme !== "light" : colorScheme === "dark";
  element.dataset.theme = isDark ? "light" : "dark";
}

/** Reads the colors of tokens as they come out at an element. @param {HTMLElement} element */
export function colorReader(element) {
  const before = element.style.color;
  /** @param {string} value a color of CSS, such as `var(--ink)` */
  return (value) => {
    element.style.color = value;
    const { color } = getComputedStyle(element);
    element.style.color = before;
    return color;
  };
}

/** Replaces the colors of texts that are too pale on one of their grounds. @param {HTMLElement} viewer */
function replacePaleColors(viewer) {
  for (const token of Object.keys(TEXTS)) viewer.style.removeProperty(token);
  const colorOf = colorReader(viewer);
  const pencil = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  if (!pencil) return;
  /** The luminance of colors above each other. @param {string[]} colors */
  const luminanceOf = (...colors) => {
    for (const color of colors) {
      pencil.fillStyle = color;
      pencil.fillRect(0, 0, 1, 1);
    }
    return relativeLuminance(pencil.getImageData(0, 0, 1, 1).data);
  };
  const page = colorOf("var(--page)");
  for (const [token, grounds] of Object.entries(TEXTS)) {
    const under = grounds.map((ground) => colorOf(`var(${ground})`));
    const contrastOf = (/** @type {string} */ value) =>
      Math.min(
        ...under.map((ground) => contrast(luminanceOf(page, ground, colorOf(value)), luminanceOf(page, ground))),
      );
    if (contrastOf(`var(${token})`) >= MIN_CONTRAST) continue;
    const best = FALLBACKS.find((value) => contrastOf(value) >= MIN_CONTRAST) ?? FALLBACKS[0];
    viewer.style.setProperty(token, best);
  }
}

/** @param {number} one @param {number} other */
const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);

/** @param {Uint8ClampedArray} pixel */
function relativeLuminance([red, green, blue]) {
  const [r, g, b] = [red, green, blue].map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
