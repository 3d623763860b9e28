// A block of code: its language, a button that copies it, and colours once the highlighter is here.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

import { CopyButton } from "../design/copy-button.tsx";
import { strings } from "../strings/strings.ts";
import type { Highlight } from "./highlight.ts";
import { Spans } from "./spans.tsx";
import type { Span } from "./highlighted-spans.ts";

interface CodeBlockProps {
  code: string;
  language: string;
  isOpen: boolean;
}

/** Longer code stays plain: colours would cost more than they help. */
const highlightedLengthMax = 200_000;

/** While code grows, it is highlighted anew after this many times as long as the last time took, and not sooner than this. */
const restFactor = 12;
const restMsMin = 80;

export function CodeBlock({ code, language, isOpen }: CodeBlockProps) {
  const highlight = useHighlighter(language);
  return (
    <figure class="code-block">
      <figcaption>
        <span>{language === "" ? strings.value.chat.code : language}</span>
        <CopyButton text={() => code} label={strings.value.chat.copyCode} />
      </figcaption>
      {/* Wide code scrolls by itself, so the keyboard has to reach it. */}
      <pre tabIndex={0}>
        <code>
          {highlight === null ? code : <Highlighted code={code} highlight={highlight} isOpen={isOpen} />}
        </code>
      </pre>
    </figure>
  );
}

/** The highlighter of a language; null while it is loaded, and for languages that it does not know. */
function useHighlighter(language: string): Highlight | null {
  const [highlight, setHighlight] = useState<{ highlight: Highlight | null }>({ highlight: null });
  useEffect(() => {
    if (language === "") return undefined;
    let isCurrent = true;
    const load = async () => {
      const { highlighterOf } = await import("./highlight.ts");
      if (isCurrent) setHighlight({ highlight: highlighterOf(language) });
    };
    void load();
    return () => {
      isCurrent = false;
    };
  }, [language]);
  return highlight.highlight;
}

interface HighlightedProps {
  code: string;
  highlight: Highlight;
  isOpen: boolean;
}

/** What was highlighted last: of code that grows, its beginning. */
interface Done {
  code: string;
  spans: readonly Span[];
  next: number;
}

function Highlighted({ code, highlight, isOpen }: HighlightedProps): ComponentChildren {
  const done = useRef<Done | null>(null);
  if (code.length > highlightedLengthMax) return code;
  const start = performance.now();
  const last = done.current;
  const mayRest = isOpen && last !== null && code.startsWith(last.code) && start < last.next;
  if (!mayRest && last?.code !== code) {
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
