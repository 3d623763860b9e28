// The settings of the loaded model: context length and KV cache bits. Applying a change reloads the model, after a confirmation
// and with an estimate of the memory.
import type { ManagedModel, MemoryEstimate } from "@ingle/protocol";
import { useState } from "preact/hooks";

import { currentChoice } from "../conversations/current-chat.ts";
import { canManage, findModel } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { NumberField, SelectField } from "../design/field.tsx";
import { ask } from "../design/dialog.tsx";
import { countText } from "../format/localized.ts";
import { FitLight } from "../library/fit-light.tsx";
import { rateEstimate } from "../library/fit.ts";
import { kvBitsChoices, toLoadOptions, type LoadFields } from "../library/load-form.ts";
import { reloadingModel, reloadModel, useEstimate } from "../library/model-loading.ts";
import { samplingText } from "../strings/sampling.ts";

const unchanged: LoadFields = { contextLength: null, kvBits: null };

export function ModelMemory() {
  const { models } = currentChoice.value;
  const model = models[0] === undefined ? undefined : findModel(models[0]);
  return (
    <section class="stack" aria-labelledby="memory-title">
      <h3 id="memory-title">{samplingText.memory}</h3>
      <p class="small soft">{model === undefined ? samplingText.noModel : samplingText.memoryHint}</p>
      {models.length > 1 && <p class="small soft">{samplingText.severalModels}</p>}
      {model !== undefined && <MemoryForm key={model.id} model={model} />}
    </section>
  );
}

function MemoryForm({ model }: { model: ManagedModel }) {
  const [fields, setFields] = useState(unchanged);
  const isChanged = fields.contextLength !== null || fields.kvBits !== null;
  const { estimate } = useEstimate(model.id, fields);
  const shownBits = fields.kvBits ?? model.kv_bits_k ?? estimate?.kv_bits_k ?? 16;
  const apply = async () => {
    const isSure = await ask({
      title: samplingText.applyTitle(model.id),
      text: samplingText.applyText,
      action: samplingText.applyAction,
    });
    if (!isSure) return;
    await reloadModel(model.id, toLoadOptions(fields));
    setFields(unchanged);
  };
  return (
    <>
      <NumberField
        label={samplingText.contextLength}
        hint={samplingText.contextLengthHint}
        min={16}
        step={1}
        disabled={!canManage.value}
        value={fields.contextLength ?? model.context_length ?? estimate?.context_length ?? null}
        onValue={(value) => {
          const isSame = value === null || value === model.context_length;
          setFields({ ...fields, contextLength: isSame ? null : Math.round(value) });
        }}
      />
      <SelectField
        label={samplingText.kvBits}
        hint={samplingText.kvBitsHint}
        disabled={!canManage.value}
        value={String(shownBits)}
        choices={kvBitsChoices.map((value) => ({
          value: String(value),
          label: samplingText.kvBitsName(value),
        }))}
        onValue={(value) => setFields({ ...fields, kvBits: changedBits(value, model) })}
      />
      {!canManage.value && <p class="small soft">{samplingText.notAllowed}</p>}
      {isChanged && estimate !== null && <EstimateView estimate={estimate} />}
      {isChanged && (
        <Button
          icon="retry"
          isBusy={reloadingModel.value === model.id}
          disabled={estimate?.fits === "no"}
          onClick={() => void apply()}
        >
          {samplingText.apply}
        </Button>
      )}
    </>
  );
}

/** Null for the bits that the model already has. */
function changedBits(value: string, model: ManagedModel): LoadFields["kvBits"] {
  const bits = kvBitsChoices.find((choice) => String(choice) === value) ?? null;
  return bits === model.kv_bits_k && bits === model.kv_bits_v ? null : bits;
}

function EstimateView({ estimate }: { estimate: MemoryEstimate }) {
  return (
    <div class="stack estimate">
      <FitLight fit={rateEstimate(estimate)} />
      <p class="small soft">{samplingText.contextMax(countText(estimate.context_length_max))}</p>
    </div>
  );
}
