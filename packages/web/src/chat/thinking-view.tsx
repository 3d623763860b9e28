// What a model thought before it replied, folded.
import { useState } from "preact/hooks";

import { client } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { Icon } from "../design/icon.tsx";
import { useAttempt } from "../design/toast.tsx";
import { durationText } from "../format/localized.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { chatText } from "../strings/chat.ts";

interface ThinkingViewProps {
  thinking: string;
  thinkingMs: number | null;
  /** Whether the model is still thinking. */
  isOpen: boolean;
  /** That of the running response; null if this page does not write it. */
  responseId?: string | null;
}

export function ThinkingView({ thinking, thinkingMs, isOpen, responseId = null }: ThinkingViewProps) {
  const [isUnfolded, setUnfolded] = useState(false);
  const title = isOpen
    ? chatText.thinking
    : thinkingMs === null
      ? chatText.thought
      : chatText.thoughtFor(durationText(thinkingMs / 1_000));
  return (
    <>
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
      {isOpen && responseId !== null && <AnswerNow responseId={responseId} />}
    </>
  );
}

/** Ends the thought: the model replies with what it has thought so far. */
function AnswerNow({ responseId }: { responseId: string }) {
  const [isBusy, attempt] = useAttempt();
  return (
    <div>
      <Button
        size="small"
        isBusy={isBusy}
        onClick={() => void attempt(() => client.chat.completions.endThinking(responseId))}
      >
        {chatText.answerNow}
      </Button>
    </div>
  );
}
