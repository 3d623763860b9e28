// Loads a model, and shows before what it will take: the server measures each choice without loading anything.
import type { ManagedModel, MemoryEstimate } from "@ingle/protocol";
import { useEffect, useState } from "preact/hooks";

import { useAttempt } from "../connection/attempt.ts";
import { client } from "../connection/client.ts";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Field, Select, useTypedNumber } from "../design/field.tsx";
import { bytesText, countText } from "../format/in-language.ts";
import { wordsOf, type ErrorWords } from "../strings/error-words.ts";
import { strings } from "../strings/strings.ts";
import { fitOfEstimate } from "./fit.ts";
import { FitLight } from "./fit-light.tsx";
import { contextStops, kvBitsChoices, loadOptionsOf, nearestStop, type LoadFields } from "./load-form.ts";

import "../design/slider.css";
import "./load-dialog.css";

/** Fewest tokens of a context that the server takes. */
const contextLengthMin = 16;

/** A slider that is pulled asks once it rests. */
const restMs = 200;

type Estimated = { estimate: MemoryEstimate | null; error: ErrorWords | null; isAsking: boolean };

/** The server's estimate of these fields; the one before stays in sight while the next is asked. */
function useEstimate(model: string, fields: LoadFields): Estimated {
  const [state, setState] = useState<Estimated>({ estimate: null, error: null, isAsking: true });
  useEffect(() => {
    const leaving = new AbortController();
    setState((before) => ({ ...before, isAsking: true }));
    const ask = async () => {
      try {
        const estimate = await client.library.estimate(model, {
          ...loadOptionsOf(fields),
          signal: leaving.signal,
        });
        setState({ estimate, error: null, isAsking: false });
      } catch (error) {
        if (leaving.signal.aborted) return;
        setState({ estimate: null, error: wordsOf(error), isAsking: false });
      }
    };
    const timer = setTimeout(() => void ask(), restMs);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [model, fields.contextLength, fields.kvBits]);
  return state;
}

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
        <>
          <Button onClick={onClose}>{strings.value.app.cancel}</Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => void load()}>
            {text.load}
          </Button>
        </>
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
  const typed = (words: string) => {
    const length = Number.parseInt(words, 10);
    if (!Number.isSafeInteger(length) || length < contextLengthMin) return;
    keepTyped(length);
    choose(length);
  };
  const typedNumber = useTypedNumber(isKnown ? current : null, (box) => typed(box.value));
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

/** The slider's stops. They change only when a longer context becomes possible or a length is typed: never under the hand. */
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
    <Field label={text.kvBitsLabel} hint={text.kvBitsHint}>
      {(control) => (
        <Select {...control} value={String(fields.kvBits ?? "")} choices={choices} onValue={choose} />
      )}
    </Field>
  );
}

function EstimateCard({ estimated: { estimate, error, isAsking } }: { estimated: Estimated }) {
  const text = strings.value.library;
  return (
    <section
      class={`load-estimate ${isAsking ? "asking" : ""}`}
      aria-label={text.estimate}
      aria-busy={isAsking}
    >
      {estimate === null ? (
        <p class={error === null ? "soft" : "load-estimate-error"} role="status">
          {isAsking ? text.estimating : (error?.text ?? text.estimateFailed)}
          {!isAsking && error !== null && error.detail !== null && (
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

/** Tokens of the KV cache that a person can imagine. */
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
