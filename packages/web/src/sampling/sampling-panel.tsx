// The settings panel of a chat: presets, system prompt, sampling, and the memory of its model.
import { useEffect, useState } from "preact/hooks";

import { changeSettings, currentChoice, panelIsOpen } from "../conversations/current-chat.ts";
import { live, findModel } from "../connection/connection.ts";
import { Button, IconButton } from "../design/button.tsx";
import { NumberField, TextAreaField } from "../design/field.tsx";
import { Slider } from "../design/slider.tsx";
import { samplingText } from "../strings/sampling.ts";
import { AnswerForm } from "./answer-form.tsx";
import { DocumentsForm } from "./documents-form.tsx";
import { ModelMemory } from "./model-memory.tsx";
import { PresetsRow } from "./presets-row.tsx";
import {
  emptySettings,
  nearestAllowed,
  hasSettings,
  moreFields,
  recommendedFor,
  seedMax,
  serverDefaults,
  settingFields,
  type SettingField,
} from "../conversations/settings-fields.ts";

import "./sampling-panel.css";

export function SamplingPanel() {
  return (
    <>
      <header class="panel-head">
        <h2>{samplingText.panel}</h2>
        <IconButton icon="close" label={samplingText.close} onClick={() => (panelIsOpen.value = false)} />
      </header>
      <div class="stack panel-body">
        <PresetsRow />
        <Recommendation />
        <SystemPrompt />
        <section class="stack" aria-labelledby="sampling-title">
          <div class="row row-apart">
            <h3 id="sampling-title">{samplingText.sampling}</h3>
            <Button kind="quiet" size="small" onClick={() => void resetAll()}>
              {samplingText.resetAll}
            </Button>
          </div>
          {settingFields.map((field) => (
            <SettingSlider key={field.name} field={field} />
          ))}
          <Length name="maxTokens" least={1} />
          <Length name="thinkingTokens" least={0} />
          <Seed />
          <MoreSamplers />
        </section>
        <AnswerForm />
        <DocumentsForm />
        <ModelMemory />
      </div>
    </>
  );
}

/** Resets sampling; everything else stays. */
async function resetAll(): Promise<void> {
  const { systemPrompt, effort, stop, jsonSchema, rolling, embedder } = currentChoice.value.settings;
  await changeSettings({ ...emptySettings, systemPrompt, effort, stop, jsonSchema, rolling, embedder });
}

function SystemPrompt() {
  return (
    <TextAreaField
      label={samplingText.systemPrompt}
      hint={samplingText.systemPromptHint}
      rows={4}
      placeholder={samplingText.systemPromptPlaceholder}
      value={currentChoice.value.settings.systemPrompt}
      onValue={(systemPrompt) => void changeSettings({ systemPrompt })}
    />
  );
}

function SettingSlider({ field }: { field: SettingField }) {
  const { name, min, max, step, numberMin, numberMax } = field;
  const standard = serverDefaults(live.value?.state.variant ?? "")[name];
  const set = currentChoice.value.settings[name] ?? null;
  const value = set ?? standard;
  const onValue = (chosen: number) => void changeSettings({ [name]: nearestAllowed(field, chosen) });
  return (
    <Slider
      label={samplingText[name]}
      hint={samplingText[`${name}Hint`]}
      range={{ value, min, max, step, onValue }}
      box={{ label: samplingText.number(samplingText[name]), value, min: numberMin, max: numberMax, onValue }}
      action={
        <ResetButton
          name={samplingText[name]}
          isSet={set !== null}
          standard={String(standard)}
          reset={{ [name]: null }}
        />
      }
    />
  );
}

interface ResetProps {
  name: string;
  isSet: boolean;
  standard: string;
  reset: Parameters<typeof changeSettings>[0];
}

/** The server's default while it applies, otherwise a button to go back to it. */
function ResetButton({ name, isSet, standard, reset }: ResetProps) {
  if (!isSet) return <span class="field-default figures">{samplingText.serverDefault(standard)}</span>;
  return (
    <IconButton
      icon="retry"
      size="small"
      label={samplingText.reset(name)}
      onClick={() => void changeSettings(reset)}
    />
  );
}

interface LengthProps {
  name: "maxTokens" | "thinkingTokens";
  least: number;
}

/** A limit of tokens. */
function Length({ name, least }: LengthProps) {
  const set = currentChoice.value.settings[name] ?? null;
  const standard = samplingText.maxTokensNone;
  const isAnswer = name === "maxTokens";
  const label = isAnswer ? samplingText.maxTokens : samplingText.thinkingTokens;
  const change = (value: number | null) => void changeSettings({ [name]: value });
  return (
    <NumberField
      label={label}
      hint={samplingText.maxTokensHint}
      action={<ResetButton name={label} isSet={set !== null} standard={standard} reset={{ [name]: null }} />}
      min={least}
      step={1}
      placeholder={standard}
      value={set}
      onValue={(value) => change(value === null ? null : Math.max(least, Math.round(value)))}
    />
  );
}

function Seed() {
  const { seed = null } = currentChoice.value.settings;
  const standard = samplingText.seedRandom;
  return (
    <NumberField
      label={samplingText.seed}
      hint={samplingText.seedHint}
      action={
        <ResetButton
          name={samplingText.seed}
          isSet={seed !== null}
          standard={standard}
          reset={{ seed: null }}
        />
      }
      min={0}
      max={seedMax}
      step={1}
      placeholder={standard}
      value={seed}
      onValue={(value) =>
        void changeSettings({
          seed: value === null ? null : Math.min(seedMax, Math.max(0, Math.round(value))),
        })
      }
    />
  );
}

/** Open if one of them is set; the chat may be read after the panel is shown. */
function MoreSamplers() {
  const { settings } = currentChoice.value;
  const isSet = moreFields.some(({ name }) => (settings[name] ?? null) !== null);
  const [isOpen, setOpen] = useState(isSet);
  useEffect(() => {
    if (isSet) setOpen(true);
  }, [isSet]);
  return (
    <details
      class="more-samplers"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{samplingText.more}</summary>
      <div class="stack">
        {moreFields.map((field) => (
          <SettingSlider key={field.name} field={field} />
        ))}
      </div>
    </details>
  );
}

/** Offers the values that the model's authors recommend, until they are set. */
function Recommendation() {
  const { models, settings } = currentChoice.value;
  const [id] = models;
  const model = id === undefined ? undefined : findModel(id);
  const values = recommendedFor(model?.architecture ?? null, model?.capabilities.includes("vision") ?? false);
  if (values === null || hasSettings(settings, values)) return null;
  return (
    <div class="recommendation">
      <div>
        <strong>{samplingText.recommended}</strong>
        <p class="small">
          {samplingText.recommendedText}{" "}
          <span class="figures">
            {samplingText.temperature} {values.temperature}, {samplingText.minP} {values.minP},{" "}
            {samplingText.repeatPenalty} {values.repeatPenalty}
          </span>
        </p>
      </div>
      <Button size="small" onClick={() => void changeSettings(values)}>
        {samplingText.recommendedUse}
      </Button>
    </div>
  );
}
