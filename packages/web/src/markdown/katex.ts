// KaTeX, as a part that is loaded when a text has formulas. It builds elements and sets their styles one by one, which the
// page's policy allows; written as HTML, they would be refused.
import katex from "katex";

import "katex/dist/katex.min.css";

/** Most macros that one formula may unfold: texts come from anywhere. */
const expansionsMax = 500;

/** Most ems of anything in a formula. */
const sizeMax = 40;

/** Sets a formula into an element; false when it is none. */
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
    // Models write what is no TeX, and while it streams it is not whole: its source is shown.
    if (error instanceof katex.ParseError) return false;
    throw error;
  }
}
