// Under a reply: its speed, its tokens, and the context that is left, as reported by the server.
import type { ReplyFigures, ReplyMessage } from "../chats/conversation.ts";
import { modelOf } from "../connection/connection.ts";
import { countText, durationText, rateText } from "../format/in-language.ts";
import type { LiveReply } from "../replies/live-replies.ts";
import { strings } from "../strings/strings.ts";

interface FiguresProps {
  message: ReplyMessage;
  live: LiveReply | undefined;
}

export function ReplyFiguresView({ message, live }: FiguresProps) {
  const figures = live === undefined ? message.reply.figures : live.figures.value;
  const { model } = message.reply;
  return (
    <p class="reply-figures figures" aria-label={strings.value.chat.figures} role="group">
      <span class="reply-model">{model}</span>
      {figures !== null &&
        partsOf(figures, modelOf(model)?.context_length ?? null).map((part) => (
          <span key={part}>{part}</span>
        ))}
    </p>
  );
}

function partsOf(figures: ReplyFigures, contextLength: number | null): string[] {
  const text = strings.value.chat;
  const { promptTokens, completionTokens, tokensPerSecond, promptMs, cachedTokens } = figures;
  const parts = [];
  if (tokensPerSecond > 0) parts.push(text.tokensPerSecond(rateText(tokensPerSecond)));
  if (promptMs !== null) parts.push(text.firstToken(durationText(promptMs / 1_000)));
  if (promptTokens === null) return [...parts, text.replyTokens(countText(completionTokens))];
  parts.push(text.tokensUsed(countText(promptTokens), countText(completionTokens)));
  if (cachedTokens !== null && cachedTokens > 0) parts.push(text.cached(countText(cachedTokens)));
  if (contextLength !== null) {
    const left = Math.max(0, contextLength - promptTokens - completionTokens);
    parts.push(text.contextLeft(countText(left), countText(contextLength)));
  }
  return parts;
}
