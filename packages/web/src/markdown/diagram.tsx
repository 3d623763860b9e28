// A Mermaid diagram, drawn once its block is complete. Until then, on demand, and if it is invalid, its source is shown.
import { useState } from "preact/hooks";

import { isDark } from "../design/theme.ts";
import { CopyButton } from "../design/copy-button.tsx";
import { IconButton } from "../design/button.tsx";
import { useLoaded } from "../design/use-loaded.ts";
import { countText } from "../format/localized.ts";
import { errorText } from "../strings/error-message.ts";
import { chatText } from "../strings/chat.ts";
import { CodeBlock } from "./code-block.tsx";
import type { DiagramImage, DrawnDiagram } from "./mermaid.ts";

interface DiagramProps {
  source: string;
  /** Whether the source may still grow. */
  isOpen: boolean;
}

export function Diagram({ source, isOpen }: DiagramProps) {
  const dark = isDark.value;
  const drawn = useLoaded(
    async () => (isOpen ? undefined : loadAndDraw(source, dark)),
    [source, isOpen, dark],
  );
  const [isSourceShown, setSourceShown] = useState(false);
  // While the source is incomplete, and while it is drawn for the first time.
  if (drawn === undefined || isOpen) return <CodeBlock code={source} language="mermaid" isOpen={isOpen} />;
  if ("problem" in drawn) {
    return (
      <>
        <CodeBlock code={source} language="mermaid" isOpen={isOpen} />
        <p class="diagram-problem">
          {drawn.problem === "length"
            ? chatText.diagramTooLong(countText(drawn.lengthMax))
            : chatText.diagramWrong(drawn.reason)}
        </p>
      </>
    );
  }
  return (
    <figure class="code-block diagram">
      <figcaption>
        <span>{chatText.diagram}</span>
        <span class="row">
          <IconButton
            icon="code"
            size="small"
            label={chatText.diagramSource}
            aria-pressed={isSourceShown}
            onClick={() => setSourceShown(!isSourceShown)}
          />
          <CopyButton text={() => source} label={chatText.copyCode} />
        </span>
      </figcaption>
      {isSourceShown ? (
        <pre tabIndex={0}>
          <code>{source}</code>
        </pre>
      ) : (
        <DrawnImage image={drawn.image} description={accessibleTitle(source) ?? chatText.diagram} />
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
function accessibleTitle(source: string): string | undefined {
  return /^\s*accTitle\s*:\s*(\S.*)$/m.exec(source)?.[1]?.trim();
}

async function loadAndDraw(source: string, dark: boolean): Promise<DrawnDiagram> {
  try {
    const { drawDiagram } = await import("./mermaid.ts");
    return await drawDiagram(source, dark);
  } catch (error) {
    // The server is gone, so Mermaid could not be loaded.
    return { problem: "source", reason: errorText(error) };
  }
}
