// A Mermaid diagram, drawn once its block is complete. Until then, on demand, and if it is invalid, its source is shown.
import { useEffect, useState } from "preact/hooks";

import { isDark } from "../app/theme.ts";
import { CopyButton } from "../design/copy-button.tsx";
import { IconButton } from "../design/button.tsx";
import { countText } from "../format/in-language.ts";
import { reasonOf } from "../strings/error-message.ts";
import { strings } from "../strings/strings.ts";
import { CodeBlock } from "./code-block.tsx";
import type { DiagramImage, Drawn } from "./mermaid.ts";

interface DiagramProps {
  source: string;
  /** Whether the source may still grow. */
  isOpen: boolean;
}

export function Diagram({ source, isOpen }: DiagramProps) {
  const drawn = useDrawn(source, isOpen);
  const [isSourceShown, setSourceShown] = useState(false);
  const text = strings.value.chat;
  if (drawn === null) return <CodeBlock code={source} language="mermaid" isOpen={isOpen} />;
  if ("problem" in drawn) {
    return (
      <>
        <CodeBlock code={source} language="mermaid" isOpen={isOpen} />
        <p class="diagram-problem">
          {drawn.problem === "length"
            ? text.diagramTooLong(countText(drawn.lengthMax))
            : text.diagramWrong(drawn.reason)}
        </p>
      </>
    );
  }
  return (
    <figure class="code-block diagram">
      <figcaption>
        <span>{text.diagram}</span>
        <span class="row">
          <IconButton
            icon="code"
            size="small"
            label={text.diagramSource}
            aria-pressed={isSourceShown}
            onClick={() => setSourceShown(!isSourceShown)}
          />
          <CopyButton text={() => source} label={text.copyCode} />
        </span>
      </figcaption>
      {isSourceShown ? (
        <pre tabIndex={0}>
          <code>{source}</code>
        </pre>
      ) : (
        <DrawnImage image={drawn.image} description={descriptionOf(source) ?? text.diagram} />
      )}
    </figure>
  );
}

function DrawnImage({ image, description }: { image: DiagramImage; description: string }) {
  const { url, width, height } = image;
  return (
    // Focusable, so that the keyboard can scroll a wide diagram.
    <div class="diagram-frame" tabIndex={0} role="region" aria-label={description}>
      <img src={url} width={width} height={height} alt={description} />
    </div>
  );
}

/** The accessible title in the source. */
function descriptionOf(source: string): string | undefined {
  return /^\s*accTitle\s*:\s*(\S.*)$/m.exec(source)?.[1]?.trim();
}

/** Null while the source is incomplete, and while it is drawn for the first time. */
function useDrawn(source: string, isOpen: boolean): Drawn | null {
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const dark = isDark.value;
  useEffect(() => {
    if (isOpen) return undefined;
    let isCurrent = true;
    const load = async () => {
      const next = await loadAndDraw(source, dark);
      if (isCurrent) setDrawn(next);
    };
    void load();
    return () => {
      isCurrent = false;
    };
  }, [source, isOpen, dark]);
  return isOpen ? null : drawn;
}

async function loadAndDraw(source: string, dark: boolean): Promise<Drawn> {
  try {
    const { drawDiagram } = await import("./mermaid.ts");
    return await drawDiagram(source, dark);
  } catch (error) {
    // The server is gone, so Mermaid could not be loaded.
    return { problem: "source", reason: reasonOf(error) };
  }
}
