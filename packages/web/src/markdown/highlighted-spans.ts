// Parses the HTML that highlight.js returns, which consists only of spans with classes and escaped text. Pure.

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
