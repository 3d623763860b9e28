// Shown when the context of a model is full: offers to reload the model with a larger one.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { canManage, client } from "../connection/client.ts";
import { modelOf } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { countText } from "../format/in-language.ts";
import { largerContext } from "../library/load-form.ts";
import { reloadingModel, reloadModel } from "../library/model-loading.ts";
import { strings } from "../strings/strings.ts";

interface ContextHelpProps {
  model: string;
  /** Tokens of prompt and reply; null if the server did not report them. */
  usedTokens: number | null;
  /** Shown if the context is full; may be empty. */
  fullNote: string;
  /** Shown if the context is not full. */
  children?: ComponentChildren;
}

export function ContextHelp({ model, usedTokens, fullNote, children }: ContextHelpProps) {
  const context = modelOf(model)?.context_length ?? null;
  const isFull = context !== null && usedTokens !== null && usedTokens >= context;
  if (!isFull) return <>{children}</>;
  return (
    <div class="reply-note">
      {fullNote !== "" && <span>{fullNote}</span>}
      <ReloadOffer model={model} contextLength={context} />
    </div>
  );
}

function ReloadOffer({ model, contextLength }: { model: string; contextLength: number }) {
  const text = strings.value.chat;
  const larger = useLargerContext(model, contextLength);
  if (!canManage.value || larger === undefined) return null;
  if (larger === null) return <span>{text.noMoreContext}</span>;
  return (
    <Button
      size="small"
      kind="primary"
      icon="retry"
      isBusy={reloadingModel.value === model}
      onClick={() => void reloadModel(model, { context_length: larger })}
    >
      {text.reloadWith(countText(larger))}
    </Button>
  );
}

/** The next larger context that fits, by the server's estimate: null if none does, undefined while it is not known. */
function useLargerContext(model: string, contextLength: number): number | null | undefined {
  const [larger, setLarger] = useState<number | null | undefined>();
  useEffect(() => {
    const stop = new AbortController();
    const ask = async () => {
      try {
        const { context_length_max } = await client.library.estimate(model, { signal: stop.signal });
        setLarger(largerContext(contextLength, context_length_max));
      } catch {
        // Without an estimate, nothing is offered.
        if (!stop.signal.aborted) setLarger(undefined);
      }
    };
    void ask();
    return () => stop.abort();
  }, [model, contextLength]);
  return larger;
}
