// Highlighted code as elements.
import type { Span } from "./highlighted-spans.ts";

export function Spans({ spans }: { spans: readonly Span[] }) {
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
