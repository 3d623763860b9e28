// Replies to the same question, side by side. The conversation continues from one of them.
import type { ReplyMessage } from "../chats/conversation.ts";
import { chooseMessage } from "../chats/message-changes.ts";
import { Badge } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { liveReplies } from "../replies/live-replies.ts";
import { strings } from "../strings/strings.ts";
import { ReplyActions, ReplyBody } from "./reply-view.tsx";
import { ReplyFiguresView } from "./reply-figures.tsx";

export function RoundView({ messages, chosenId }: { messages: readonly ReplyMessage[]; chosenId: string }) {
  return (
    <div class={`round columns-${Math.min(messages.length, 4)}`}>
      {messages.map((message) => (
        <RoundColumn key={message.id} message={message} isChosen={message.id === chosenId} />
      ))}
    </div>
  );
}

function RoundColumn({ message, isChosen }: { message: ReplyMessage; isChosen: boolean }) {
  const text = strings.value.chat;
  const live = liveReplies.value.get(message.id);
  const { status } = message.reply;
  return (
    <article
      class={`message reply round-column ${isChosen ? "chosen" : ""}`}
      aria-label={message.reply.model}
      aria-busy={status === "writing"}
    >
      <header class="round-head">
        {isChosen && <Badge tone="accent">{text.chosenAnswer}</Badge>}
        {/* A failed reply without text cannot be continued from. */}
        {!isChosen && (status !== "failed" || message.text !== "") && (
          <Button size="small" onClick={() => void chooseMessage(message.conversationId, message.id)}>
            {text.continueWithThis}
          </Button>
        )}
      </header>
      <ReplyBody message={message} live={live} />
      <div class="message-actions">{live === undefined && <ReplyActions message={message} />}</div>
      <ReplyFiguresView message={message} live={live} />
    </article>
  );
}
