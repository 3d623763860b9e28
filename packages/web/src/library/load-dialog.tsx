// Loads a model with chosen settings, and shows an estimate of its memory first.
import type { ManagedModel, MemoryEstimate } from "@ingle/protocol";
import { useEffect, useState } from "preact/hooks";

import { useAttempt } from "../connection/attempt.ts";
import { client } from "../connection/client.ts";
import { Dialog, DialogActions } from "../design/dialog.tsx";
import { Field, SelectField, useTypedNumber } from "../design/field.tsx";
import { bytesText, countText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
import { fitOfEstimate } from "./fit.ts";
import { FitLight } from "./fit-light.tsx";
import { contextStops, kvBitsChoices, loadOptionsOf, nearestStop, type LoadFields } from "./load-form.ts";
import { useEstimate, type Estimated } from "./model-loading.ts";

import "./model-dialogs.css";

/** The shortest context that the server accepts. */
const contextLengthMin = 16;

export function LoadDialog({ model, onClose }: { model: ManagedModel; onClose: () => void }) {
  const text = strings.value.library;
  const [isBusy, attempt] = useAttempt();
  const [fields, setFields] = useState<LoadFields>({ contextLength: null, kvBits: null });
  const estimated = useEstimate(model.id, fields);
  const load = async () => {
    const options = { ...loadOptionsOf(fields), wait: false };
    if (await attempt(() => client.library.load(model.id, options))) onClose();
  };
  return (
    <Dialog
      title={text.loadTitle(model.id)}
      isOpen
      onClose={onClose}
      actions={
        <DialogActions action={text.load} isBusy={isBusy} onAction={() => void load()} onCancel={onClose} />
      }
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
  const text = strings.value.library;
  const { stops, current, isKnown, keepTyped } = useContextStops(fields, estimate);
  const choose = (contextLength: number) => onFields({ ...fields, contextLength });
  const readTyped = (digits: string) => {
    const length = Number.parseInt(digits, 10);
    if (!Number.isSafeInteger(length) || length < contextLengthMin) return;
    keepTyped(length);
    choose(length);
  };
  const typedNumber = useTypedNumber(isKnown ? current : null, (box) => readTyped(box.value));
  return (
    <Field label={text.contextLength} hint={text.contextHint}>
      {(control) => (
        <div class="slider-row">
          <input
            {...control}
            class="slider"
            type="range"
            min={0}
            max={stops.length - 1}
            step={1}
            value={nearestStop(stops, current)}
            disabled={!isKnown}
            aria-valuetext={text.tokens(countText(current))}
            onInput={(event) => choose(stops[Number(event.currentTarget.value)] ?? current)}
          />
          <input
            class="input slider-number figures"
            type="number"
            min={contextLengthMin}
            step={1}
            aria-label={text.contextNumber}
            disabled={!isKnown}
            {...typedNumber}
          />
        </div>
      )}
    </Field>
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
  const text = strings.value.library;
  const choices = [
    { value: "", label: text.kvBitsDefault },
    ...kvBitsChoices.map((bits) => ({ value: String(bits), label: text.kvBitsChoice[bits] })),
  ];
  const choose = (value: string) =>
    onFields({ ...fields, kvBits: kvBitsChoices.find((bits) => String(bits) === value) ?? null });
  return (
    <SelectField
      label={text.kvBitsLabel}
      hint={text.kvBitsHint}
      value={String(fields.kvBits ?? "")}
      choices={choices}
      onValue={choose}
    />
  );
}

function EstimateCard({ estimated: { estimate, error, isLoading } }: { estimated: Estimated }) {
  const text = strings.value.library;
  return (
    <section
      class={`load-estimate ${isLoading ? "asking" : ""}`}
      aria-label={text.estimate}
      aria-busy={isLoading}
    >
      {estimate === null ? (
        <p class={error === null ? "soft" : "load-estimate-error"} role="status">
          {isLoading ? text.estimating : (error?.text ?? text.estimateFailed)}
          {!isLoading && error !== null && error.detail !== null && (
            <span class="small soft"> {error.detail}</span>
          )}
        </p>
      ) : (
        <>
          <div role="status">
            <FitLight fit={fitOfEstimate(estimate)} />
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
  const text = strings.value.library;
  const rows: [string, string][] = [
    [text.estimateMemory, bytesText(estimate.memory_bytes)],
    [
      text.estimateAvailable,
      estimate.available_bytes === null ? text.estimateUnbounded : bytesText(estimate.available_bytes),
    ],
    [text.estimatePerToken, bytesText(estimate.kv_bytes_per_token * shownTokens)],
    [text.estimateMax, text.tokens(countText(estimate.context_length_max))],
  ];
  return (
    <dl class="load-estimate-figures small">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="figures">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
