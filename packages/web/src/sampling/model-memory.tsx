// What belongs to the loaded model and not to the chat: the length of its context and the bits of its KV cache. A change
// loads it again, after a question; what it would take is estimated by the server before.
import type { KvBits, ManagedModel, MemoryEstimate } from "@ingle/protocol";
import { useEffect, useState } from "preact/hooks";

import { currentChoice } from "../chat/current-chat.ts";
import { reloadingModel, reloadModel } from "../chat/reload-model.ts";
import { client } from "../connection/client.ts";
import { modelOf } from "../connection/connection.ts";
import { canManage } from "../connection/session.ts";
import { Badge } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { Field, NumberInput, Select } from "../design/field.tsx";
import { ask } from "../design/question.tsx";
import { bytesText, countText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";

/** After the last change: an estimate reads the model's file. */
const estimateDelayMs = 300;

const bitChoices = [16, 8, 4, 3] as const;

export function ModelMemory() {
  const text = strings.value.sampling;
  const { models } = currentChoice.value;
  const model = models[0] === undefined ? undefined : modelOf(models[0]);
  return (
    <section class="stack" aria-labelledby="memory-title">
      <h3 id="memory-title">{text.memory}</h3>
      <p class="small soft">{model === undefined ? text.noModel : text.memoryHint}</p>
      {models.length > 1 && <p class="small soft">{text.severalModels}</p>}
      {model !== undefined && <MemoryForm key={model.id} model={model} />}
    </section>
  );
}

function MemoryForm({ model }: { model: ManagedModel }) {
  const text = strings.value.sampling;
  const [context, setContext] = useState<number | null>(null);
  const [bits, setBits] = useState<KvBits | null>(null);
  const wanted = {
    ...(context === null ? {} : { context_length: context }),
    ...(bits === null ? {} : { kv_bits: bits }),
  };
  const isChanged = context !== null || bits !== null;
  const estimate = useEstimate(model.id, context, bits);
  const shownBits = bits ?? model.kv_bits_k ?? estimate?.kv_bits_k ?? 16;
  const apply = async () => {
    const isSure = await ask({
      title: text.applyTitle(model.id),
      text: text.applyText,
      action: text.applyAction,
    });
    if (!isSure) return;
    await reloadModel(model.id, wanted);
    setContext(null);
    setBits(null);
  };
  return (
    <>
      <Field label={text.contextLength} hint={text.contextLengthHint}>
        {(control) => (
          <NumberInput
            {...control}
            min={16}
            step={1}
            disabled={!canManage.value}
            value={context ?? model.context_length ?? estimate?.context_length ?? null}
            onValue={(value) =>
              setContext(value === null || value === model.context_length ? null : Math.round(value))
            }
          />
        )}
      </Field>
      <Field label={text.kvBits} hint={text.kvBitsHint}>
        {(control) => (
          <Select
            {...control}
            disabled={!canManage.value}
            value={String(shownBits)}
            choices={bitChoices.map((value) => ({ value: String(value), label: text.kvBitsName(value) }))}
            onValue={(value) => setBits(bitsOf(value, model))}
          />
        )}
      </Field>
      {!canManage.value && <p class="small soft">{text.notAllowed}</p>}
      {isChanged && estimate !== null && <EstimateView estimate={estimate} />}
      {isChanged && (
        <Button
          icon="retry"
          isBusy={reloadingModel.value === model.id}
          disabled={estimate?.fits === "no"}
          onClick={() => void apply()}
        >
          {text.apply}
        </Button>
      )}
    </>
  );
}

/** Null for the bits that the model has: nothing changes then. */
function bitsOf(value: string, model: ManagedModel): KvBits | null {
  const bits = bitChoices.find((choice) => String(choice) === value) ?? null;
  return bits === model.kv_bits_k && bits === model.kv_bits_v ? null : bits;
}

function EstimateView({ estimate }: { estimate: MemoryEstimate }) {
  const text = strings.value.sampling;
  const tone = { yes: "good", tight: "warn", no: "bad" } as const;
  return (
    <div class="estimate">
      <Badge tone={tone[estimate.fits]}>{text.takes(bytesText(estimate.memory_bytes))}</Badge>
      <p class="small">{estimate.reason}</p>
      <p class="small soft">{text.contextMax(countText(estimate.context_length_max))}</p>
    </div>
  );
}

/** What the server says of these settings; null while it is asked, and where it cannot say. */
function useEstimate(model: string, context: number | null, bits: KvBits | null): MemoryEstimate | null {
  const [estimate, setEstimate] = useState<MemoryEstimate | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const read = async () => {
      const settings = {
        ...(context === null ? {} : { context_length: context }),
        ...(bits === null ? {} : { kv_bits: bits }),
      };
      try {
        setEstimate(await client.library.estimate(model, { ...settings, signal: stop.signal }));
      } catch {
        // Without an estimate, nothing is said of memory.
        if (!stop.signal.aborted) setEstimate(null);
      }
    };
    const timer = setTimeout(() => void read(), estimateDelayMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [model, context, bits]);
  return estimate;
}
