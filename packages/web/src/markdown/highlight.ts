// highlight.js with the languages that models write, a chunk that is loaded with the first block of code.
import highlighter from "highlight.js/lib/common";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import powershell from "highlight.js/lib/languages/powershell";

/** A text, or nested spans with a class. */
export type Span = string | { readonly className: string; readonly spans: readonly Span[] };

interface OpenSpan {
  className: string;
  spans: Span[];
}

const escapes: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

/** @throws Error for anything that highlight.js does not return. */
export function readSpans(html: string): Span[] {
  const root: OpenSpan = { className: "", spans: [] };
  const open: OpenSpan[] = [root];
  for (const [part] of html.matchAll(/<[^>]*>|[^<]+/g)) {
    const current = open.at(-1) ?? root;
    const className = /^<span class="([\w\s-]*)">$/.exec(part)?.[1];
    if (!part.startsWith("<")) current.spans.push(unescape(part));
    else if (className !== undefined) open.push({ className, spans: [] });
    else if (part === "</span>" && open.length > 1) close(open);
    else throw new Error(`highlight.js returned ${part}`);
  }
  if (open.length !== 1) throw new Error("highlight.js left a span open");
  return root.spans;
}

function close(open: OpenSpan[]): void {
  const span = open.pop();
  if (span !== undefined) open.at(-1)?.spans.push(span);
}

function unescape(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (escaped) => escapes[escaped] ?? escaped);
}

export type Highlight = (code: string) => readonly Span[];

highlighter.registerLanguage("dockerfile", dockerfile);
highlighter.registerLanguage("powershell", powershell);

/** The highlighter of a language, by name or alias; null for an unknown language. */
export function findHighlighter(language: string): Highlight | null {
  const name = language.toLowerCase();
  if (highlighter.getLanguage(name) === undefined) return null;
  return (code) => readSpans(highlighter.highlight(code, { language: name, ignoreIllegals: true }).value);
}
