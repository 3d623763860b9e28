// KaTeX, a chunk that is loaded with the first formula. It builds DOM nodes and sets their styles by script, which the
// Content-Security-Policy allows; style attributes in HTML would be blocked.
import katex from "katex";

import "katex/dist/katex.min.css";

/** Limits macro expansion, since texts are untrusted. */
const expansionsMax = 500;

/** Limits sizes in a formula, in em. */
const sizeMax = 40;

/** Renders a formula into an element; returns false if it is invalid. */
export function setFormula(place: HTMLElement, tex: string, isBlock: boolean): boolean {
  try {
    katex.render(tex, place, {
      displayMode: isBlock,
      throwOnError: true,
      trust: false,
      strict: "ignore",
      maxExpand: expansionsMax,
      maxSize: sizeMax,
    });
    return true;
  } catch (error) {
    // The formula is invalid, or incomplete because it is still streamed.
    if (error instanceof katex.ParseError) return false;
    throw error;
  }
}
