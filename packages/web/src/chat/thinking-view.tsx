// The thoughts before a reply, collapsed, with how long they took.
import { durationText } from "../format/in-language.ts";
import { Icon } from "../design/icon.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { strings } from "../strings/strings.ts";
import { useState } from "preact/hooks";

interface ThinkingViewProps {
  thinking: string;
  thinkingMs: number | null;
  /** Whether the model is still thinking. */
  isOpen: boolean;
}

export function ThinkingView({ thinking, thinkingMs, isOpen }: ThinkingViewProps) {
  const [isUnfolded, setUnfolded] = useState(false);
  const text = strings.value.chat;
  const title = isOpen
    ? text.thinking
    : thinkingMs === null
      ? text.thought
      : text.thoughtFor(durationText(thinkingMs / 1_000));
  return (
    <details class="thinking" onToggle={(event) => setUnfolded(event.currentTarget.open)}>
      <summary>
        <Icon name="brain" size={18} />
        <span>{title}</span>
        <Icon name="chevronDown" size={16} />
      </summary>
      {/* Collapsed thoughts are not rendered: they may be longer than the reply. */}
      {isUnfolded && (
        <div class="thinking-text">
          <Markdown text={thinking} isOpen={isOpen} />
        </div>
      )}
    </details>
  );
}
