// What to do when a conversation no longer fits into its model's context: load the model again with more, in one click.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { client } from "../connection/client.ts";
import { modelOf } from "../connection/connection.ts";
import { canManage } from "../connection/session.ts";
import { Button } from "../design/button.tsx";
import { countText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
import { largerContext } from "./larger-context.ts";
import { reloadingModel, reloadModel } from "./reload-model.ts";

interface ContextHelpProps {
  model: string;
  /** Tokens of prompt and answer, as the server told them; null when it did not. */
  usedTokens: number | null;
  /** Said where the context is full. */
  isFullNote: string;
  /** Shown where the context is not what is full. */
  children?: ComponentChildren;
}

export function ContextHelp({ model, usedTokens, isFullNote, children }: ContextHelpProps) {
  const context = modelOf(model)?.context_length ?? null;
  const isFull = context !== null && usedTokens !== null && usedTokens >= context;
  if (!isFull) return <>{children}</>;
  return (
    <div class="reply-note">
      {isFullNote !== "" && <span>{isFullNote}</span>}
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

/** The next context that fits, by the server's estimate; null when there is none, undefined while it is asked. */
function useLargerContext(model: string, contextLength: number): number | null | undefined {
  const [larger, setLarger] = useState<number | null | undefined>();
  useEffect(() => {
    const stop = new AbortController();
    const ask = async () => {
      try {
        const { context_length_max } = await client.library.estimate(model, { signal: stop.signal });
        setLarger(largerContext(contextLength, context_length_max));
      } catch {
        // Nothing is offered that the server did not vouch for.
        if (!stop.signal.aborted) setLarger(undefined);
      }
    };
    void ask();
    return () => stop.abort();
  }, [model, contextLength]);
  return larger;
}
