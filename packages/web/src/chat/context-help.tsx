// Shown when the context of a model is full: offers to reload the model with a larger one, and to leave out the oldest messages.
import type { ComponentChildren } from "preact";

import { openChat } from "../conversations/chat-store.ts";
import type { ReplyMessage } from "../conversations/conversation.ts";
import { pathTo } from "../conversations/message-tree.ts";
import { canManage, client, findModel } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { attempt } from "../design/toast.tsx";
import { useLoaded } from "../design/use-loaded.ts";
import { countText } from "../format/localized.ts";
import { largerContext } from "../library/load-form.ts";
import { reloadingModel, reloadModel } from "../library/model-loading.ts";
import { continueReply } from "../replies/request-replies.ts";
import { findCuts } from "../replies/rolling-context.ts";
import { chatText } from "../strings/chat.ts";
import { changeSettings, currentChoice } from "../conversations/current-chat.ts";

interface ContextHelpProps {
  /** The reply that met the end of the context. */
  message: ReplyMessage;
  model: string;
  /** Tokens of prompt and reply; null if the server did not report them. */
  usedTokens: number | null;
  /** Shown if the context is full; may be empty. */
  fullNote: string;
  /** Shown if the context is not full. */
  children?: ComponentChildren;
}

interface OfferProps {
  model: string;
  contextLength: number;
  usedTokens: number;
}

export function ContextHelp({ message, model, usedTokens, fullNote, children }: ContextHelpProps) {
  const context = findModel(model)?.context_length ?? null;
  const isFull = context !== null && usedTokens !== null && usedTokens >= context;
  if (!isFull) return <>{children}</>;
  return (
    <div class="reply-note">
      {fullNote !== "" && <span>{fullNote}</span>}
      <ReloadOffer model={model} contextLength={context} usedTokens={usedTokens} />
      <RollingOffer message={message} />
    </div>
  );
}

function ReloadOffer({ model, contextLength, usedTokens }: OfferProps) {
  // The longest context that fits, by the server's estimate; undefined while it is not known.
  const max = useLoaded(
    async (signal) => (await client.library.estimate(model, { signal })).context_length_max,
    [model, contextLength],
  );
  if (!canManage.value || max === undefined) return null;
  const larger = largerContext(contextLength, { max, needed: usedTokens });
  if (larger === null) {
    return (
      <span>
        {usedTokens > max
          ? chatText.nothingFits(countText(usedTokens), countText(max))
          : chatText.noMoreContext}
      </span>
    );
  }
  return (
    <Button
      size="small"
      kind="primary"
      icon="retry"
      isBusy={reloadingModel.value === model}
      onClick={() => void reloadModel(model, { context_length: larger })}
    >
      {chatText.reloadLarger(countText(larger))}
    </Button>
  );
}

/** Turns it on for the chat, and goes on with the reply. Nothing is offered where there is no older turn. */
function RollingOffer({ message }: { message: ReplyMessage }) {
  const path = openChat.value === null ? [] : pathTo(openChat.value.tree, message.id);
  if (currentChoice.value.settings.rolling === true || findCuts(path).length < 2) return null;
  const roll = async () => {
    await changeSettings({ rolling: true });
    await continueReply(message);
  };
  return (
    <Button size="small" onClick={() => void attempt(roll)}>
      {chatText.leaveOutOldest}
    </Button>
  );
}
