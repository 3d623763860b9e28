// A block of code: its language, a copy button, and syntax highlighting once the highlighter is loaded.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

import { CopyButton } from "../design/copy-button.tsx";
import { useLoaded } from "../design/use-loaded.ts";
import { chatText } from "../strings/chat.ts";
import type { Highlight, Span } from "./highlight.ts";

interface CodeBlockProps {
  code: string;
  language: string;
  isOpen: boolean;
}

/** Longer code is not highlighted: it would take too long. */
const highlightedLengthMax = 200_000;

/** Growing code is highlighted again after this multiple of the time that it took last, but not sooner than the minimum. */
const restFactor = 12;
const restMsMin = 80;

export function CodeBlock({ code, language, isOpen }: CodeBlockProps) {
  const highlight = useLoaded(async () => {
    if (language === "") return null;
    return (await import("./highlight.ts")).findHighlighter(language);
  }, [language]);
  return (
    <figure class="code-block">
      <figcaption>
        <span>{language === "" ? chatText.code : language}</span>
        <CopyButton text={() => code} label={chatText.copyCode} />
      </figcaption>
      {/* Focusable, so that the keyboard can scroll it. */}
      <pre tabIndex={0}>
        <code>{highlight ? <Highlighted code={code} highlight={highlight} isOpen={isOpen} /> : code}</code>
      </pre>
    </figure>
  );
}

interface HighlightedProps {
  code: string;
  highlight: Highlight;
  isOpen: boolean;
}

/** The last result; for growing code, it covers only the start. */
interface Done {
  code: string;
  spans: readonly Span[];
  /** When to highlight again, on the clock of `performance.now`. */
  next: number;
}

function Highlighted({ code, highlight, isOpen }: HighlightedProps): ComponentChildren {
  const done = useRef<Done | null>(null);
  if (code.length > highlightedLengthMax) return code;
  const start = performance.now();
  const last = done.current;
  const isRecent = isOpen && last !== null && code.startsWith(last.code) && start < last.next;
  if (!isRecent && last?.code !== code) {
    const spans = highlight(code);
    const tookMs = performance.now() - start;
    done.current = { code, spans, next: start + Math.max(restMsMin, tookMs * restFactor) };
  }
  const { spans, code: colored } = done.current ?? { spans: [], code: "" };
  return (
    <>
      <Spans spans={spans} />
      {code.slice(colored.length)}
    </>
  );
}

function Spans({ spans }: { spans: readonly Span[] }) {
  return (
    <>
      {spans.map((span, at) =>
        typeof span === "string" ? (
          span
        ) : (
          <span key={at} class={span.className}>
            <Spans spans={span.spans} />
          </span>
        ),
      )}
    </>
  );
}
