// Shown when the context of a model is full: offers to reload the model with a larger one.
import type { ComponentChildren } from "preact";

import { canManage, client, modelOf } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { useLoaded } from "../design/use-loaded.ts";
import { countText } from "../format/localized.ts";
import { largerContext } from "../library/load-form.ts";
import { reloadingModel, reloadModel } from "../library/model-loading.ts";
import { chatText } from "../strings/chat.ts";

interface ContextHelpProps {
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

export function ContextHelp({ model, usedTokens, fullNote, children }: ContextHelpProps) {
  const context = modelOf(model)?.context_length ?? null;
  const isFull = context !== null && usedTokens !== null && usedTokens >= context;
  if (!isFull) return <>{children}</>;
  return (
    <div class="reply-note">
      {fullNote !== "" && <span>{fullNote}</span>}
      <ReloadOffer model={model} contextLength={context} usedTokens={usedTokens} />
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
      {chatText.reloadWith(countText(larger))}
    </Button>
  );
}
