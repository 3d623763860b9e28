// highlight.js with the languages that models write, a chunk that is loaded with the first block of code.
import highlighter from "highlight.js/lib/common";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import powershell from "highlight.js/lib/languages/powershell";

import { readSpans, type Span } from "./highlighted-spans.ts";

export type Highlight = (code: string) => readonly Span[];

highlighter.registerLanguage("dockerfile", dockerfile);
highlighter.registerLanguage("powershell", powershell);

/** The highlighter of a language, by name or alias; null for an unknown language. */
export function highlighterOf(language: string): Highlight | null {
  const name = language.toLowerCase();
  if (highlighter.getLanguage(name) === undefined) return null;
  return (code) => readSpans(highlighter.highlight(code, { language: name, ignoreIllegals: true }).value);
}
