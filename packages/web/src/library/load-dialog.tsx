// Loads a model with chosen settings, and shows an estimate of its memory first.
import type { ManagedModel, MemoryEstimate } from "@ingle/protocol";
import { useEffect, useState } from "preact/hooks";

import { client } from "../connection/connection.ts";
import { Dialog } from "../design/dialog.tsx";
import { SelectField } from "../design/field.tsx";
import { Facts, type Fact } from "../design/indicators.tsx";
import { Slider } from "../design/slider.tsx";
import { useAttempt } from "../design/toast.tsx";
import { bytesText, countText } from "../format/localized.ts";
import { appText } from "../strings/app.ts";
import { libraryText } from "../strings/library.ts";
import { rateEstimate } from "./fit.ts";
import { FitLight } from "./fit-light.tsx";
import { contextStops, kvBitsChoices, toLoadOptions, nearestStop, type LoadFields } from "./load-form.ts";
import { useEstimate, type Estimated } from "./model-loading.ts";

import "./model-dialogs.css";

/** The shortest context that the server accepts. */
const contextLengthMin = 16;

export function LoadDialog({ model, onClose }: { model: ManagedModel; onClose: () => void }) {
  const [isBusy, attempt] = useAttempt();
  const [fields, setFields] = useState<LoadFields>({ contextLength: null, kvBits: null });
  const estimated = useEstimate(model.id, fields);
  const load = async () => {
    const options = { ...toLoadOptions(fields), wait: false };
    if (await attempt(() => client.library.load(model.id, options))) onClose();
  };
  return (
    <Dialog
      title={libraryText.loadTitle(model.id)}
      onClose={onClose}
      action={{ label: libraryText.load, isBusy, onAction: () => void load() }}
    >
      <ContextField fields={fields} estimate={estimated.estimate} onFields={setFields} />
      <KvField fields={fields} onFields={setFields} />
      <EstimateCard estimated={estimated} />
    </Dialog>
  );
}

interface FieldsProps {
  fields: LoadFields;
  onFields: (fields: LoadFields) => void;
}

function ContextField({ fields, estimate, onFields }: FieldsProps & { estimate: MemoryEstimate | null }) {
  const { stops, current, isKnown, keepTyped } = useContextStops(fields, estimate);
  const choose = (contextLength: number) => onFields({ ...fields, contextLength });
  const readTyped = (typed: number) => {
    const length = Math.trunc(typed);
    if (!Number.isSafeInteger(length) || length < contextLengthMin) return;
    keepTyped(length);
    choose(length);
  };
  return (
    <Slider
      label={libraryText.contextLength}
      hint={libraryText.contextHint}
      range={{
        value: nearestStop(stops, current),
        min: 0,
        max: stops.length - 1,
        step: 1,
        onValue: (at) => choose(stops[at] ?? current),
      }}
      rangeText={appText.tokens(countText(current))}
      box={{
        label: libraryText.contextNumber,
        value: isKnown ? current : null,
        min: contextLengthMin,
        onValue: readTyped,
      }}
      isDisabled={!isKnown}
    />
  );
}

/** The stops of the slider. They never change while it is dragged, only when a longer context becomes possible or one is typed. */
function useContextStops(fields: LoadFields, estimate: MemoryEstimate | null) {
  const [longest, setLongest] = useState(0);
  const [typed, setTyped] = useState<number | null>(null);
  const [usual, setUsual] = useState<number | null>(null);
  const known = Math.max(longest, estimate?.context_length ?? 0, estimate?.context_length_max ?? 0);
  const first = usual ?? estimate?.context_length ?? null;
  useEffect(() => setLongest(known), [known]);
  useEffect(() => setUsual(first), [first]);
  const stops = contextStops(Math.max(known, typed ?? 0), typed ?? first ?? known);
  return { stops, current: fields.contextLength ?? first ?? known, isKnown: known > 0, keepTyped: setTyped };
}

function KvField({ fields, onFields }: FieldsProps) {
  const choices = [
    { value: "", label: libraryText.kvBitsDefault },
    ...kvBitsChoices.map((bits) => ({ value: String(bits), label: libraryText.kvBitsChoice[bits] })),
  ];
  const choose = (value: string) =>
    onFields({ ...fields, kvBits: kvBitsChoices.find((bits) => String(bits) === value) ?? null });
  return (
    <SelectField
      label={libraryText.kvBitsLabel}
      hint={libraryText.kvBitsHint}
      value={String(fields.kvBits ?? "")}
      choices={choices}
      onValue={choose}
    />
  );
}

function EstimateCard({ estimated: { estimate, error, isLoading } }: { estimated: Estimated }) {
  return (
    <section
      class={`stack load-estimate ${isLoading ? "asking" : ""}`}
      aria-label={libraryText.estimate}
      aria-busy={isLoading}
    >
      {estimate === null ? (
        <p class={error === null ? "soft" : "load-estimate-error"} role="status">
          {isLoading ? libraryText.estimating : (error?.text ?? libraryText.estimateFailed)}
          {!isLoading && error !== null && error.detail !== null && (
            <span class="small soft"> {error.detail}</span>
          )}
        </p>
      ) : (
        <>
          <div role="status">
            <FitLight fit={rateEstimate(estimate)} />
          </div>
          <EstimateFigures estimate={estimate} />
        </>
      )}
    </section>
  );
}

/** The size of the KV cache is shown for this many tokens. */
const shownTokens = 1000;

function EstimateFigures({ estimate }: { estimate: MemoryEstimate }) {
  const facts: Fact[] = [
    [libraryText.estimateMemory, bytesText(estimate.memory_bytes)],
    [
      libraryText.estimateAvailable,
      estimate.available_bytes === null ? libraryText.estimateUnbounded : bytesText(estimate.available_bytes),
    ],
    [libraryText.estimatePerToken, bytesText(estimate.kv_bytes_per_token * shownTokens)],
    [libraryText.estimateMax, appText.tokens(countText(estimate.context_length_max))],
  ];
  return <Facts class="stack load-estimate-figures small figures" facts={facts} />;
}
