// How full the context of the chosen model is, as the server counted it with the last answer.
import { openPath } from "../chats/chat-store.ts";
import { modelOf } from "../connection/connection.ts";
import { Gauge } from "../design/progress.tsx";
import { countText, shareText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
import { currentChoice } from "./current-chat.ts";

/** Tokens of the path with its last answer; null before the first. */
export function usedTokens(): number | null {
  const last = openPath.value.findLast(
    (message) => message.role === "assistant" && message.reply.figures !== null,
  );
  if (last?.role !== "assistant" || last.reply.figures === null) return null;
  const { promptTokens, completionTokens } = last.reply.figures;
  return promptTokens === null ? null : promptTokens + completionTokens;
}

export function ContextMeter() {
  const text = strings.value.chat;
  const used = usedTokens();
  const [model] = currentChoice.value.models;
  const all = model === undefined ? null : (modelOf(model)?.context_length ?? null);
  if (used === null || all === null) return null;
  const label = text.contextUse(countText(used), countText(all));
  return (
    <span class="context-meter" title={label}>
      <span class="small soft figures">{text.contextShort(shareText(Math.min(1, used / all)))}</span>
      <Gauge label={label} value={used / all} />
    </span>
  );
}
