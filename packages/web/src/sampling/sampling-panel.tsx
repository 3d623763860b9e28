// The settings panel of a chat: presets, system prompt, sampling, and the memory of its model.
import { changeSettings, currentChoice } from "../chat/current-chat.ts";
import { panelIsOpen } from "../chat/ui-state.ts";
import { emptySettings } from "../chats/conversation.ts";
import { live, modelOf } from "../connection/connection.ts";
import { Button, IconButton } from "../design/button.tsx";
import { NumberField, TextAreaField } from "../design/field.tsx";
import { Slider } from "../design/slider.tsx";
import { strings } from "../strings/strings.ts";
import { ModelMemory } from "./model-memory.tsx";
import { PresetsRow } from "./presets-row.tsx";
import {
  fitted,
  hasSettings,
  recommendedFor,
  serverDefaults,
  settingFields,
  type SettingField,
} from "./settings-fields.ts";

import "./sampling-panel.css";

export function SamplingPanel() {
  const text = strings.value.sampling;
  return (
    <>
      <header class="panel-head">
        <h2>{text.panel}</h2>
        <IconButton icon="close" label={text.close} onClick={() => (panelIsOpen.value = false)} />
      </header>
      <div class="panel-body">
        <PresetsRow />
        <Recommendation />
        <SystemPrompt />
        <section class="stack" aria-labelledby="sampling-title">
          <div class="row row-apart">
            <h3 id="sampling-title">{text.sampling}</h3>
            <Button kind="quiet" size="small" onClick={() => void resetAll()}>
              {text.resetAll}
            </Button>
          </div>
          {settingFields.map((field) => (
            <SettingSlider key={field.name} field={field} />
          ))}
          <MaxTokens />
        </section>
        <ModelMemory />
      </div>
    </>
  );
}

/** Resets sampling; the system prompt and the effort stay. */
async function resetAll(): Promise<void> {
  const { systemPrompt, effort } = currentChoice.value.settings;
  await changeSettings({ ...emptySettings, systemPrompt, effort });
}

function SystemPrompt() {
  const text = strings.value.sampling;
  return (
    <TextAreaField
      label={text.systemPrompt}
      hint={text.systemPromptHint}
      rows={4}
      placeholder={text.systemPromptPlaceholder}
      value={currentChoice.value.settings.systemPrompt}
      onValue={(systemPrompt) => void changeSettings({ systemPrompt })}
    />
  );
}

function SettingSlider({ field }: { field: SettingField }) {
  const text = strings.value.sampling;
  const { name, min, max, step, numberMin, numberMax } = field;
  const standard = serverDefaults(live.value?.state.variant ?? "")[name];
  const set = currentChoice.value.settings[name];
  return (
    <Slider
      label={text[name]}
      hint={text[`${name}Hint`]}
      numberLabel={text.number(text[name])}
      value={set ?? standard}
      min={min}
      max={max}
      step={step}
      numberMin={numberMin}
      numberMax={numberMax}
      action={
        <ResetButton
          name={text[name]}
          isSet={set !== null}
          standard={String(standard)}
          reset={{ [name]: null }}
        />
      }
      onValue={(value) => void changeSettings({ [name]: fitted(field, value) })}
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
  const text = strings.value.sampling;
  if (!isSet) return <span class="field-default figures">{text.serverDefault(standard)}</span>;
  return (
    <IconButton
      icon="retry"
      size="small"
      label={text.reset(name)}
      onClick={() => void changeSettings(reset)}
    />
  );
}

function MaxTokens() {
  const text = strings.value.sampling;
  const { maxTokens } = currentChoice.value.settings;
  const standard = text.maxTokensNone;
  return (
    <NumberField
      label={text.maxTokens}
      hint={text.maxTokensHint}
      action={
        <ResetButton
          name={text.maxTokens}
          isSet={maxTokens !== null}
          standard={standard}
          reset={{ maxTokens: null }}
        />
      }
      min={1}
      step={1}
      placeholder={standard}
      value={maxTokens}
      onValue={(value) =>
        void changeSettings({ maxTokens: value === null ? null : Math.max(1, Math.round(value)) })
      }
    />
  );
}

/** Offers the values that the model's authors recommend, until they are set. */
function Recommendation() {
  const text = strings.value.sampling;
  const { models, settings } = currentChoice.value;
  const [id] = models;
  const model = id === undefined ? undefined : modelOf(id);
  const values = recommendedFor(model?.architecture ?? null, model?.capabilities.includes("vision") ?? false);
  if (values === null || hasSettings(settings, values)) return null;
  return (
    <div class="recommendation">
      <div>
        <strong>{text.recommended}</strong>
        <p class="small">
          {text.recommendedText}{" "}
          <span class="figures">
            {text.temperature} {values.temperature}, {text.minP} {values.minP}, {text.repeatPenalty}{" "}
            {values.repeatPenalty}
          </span>
        </p>
      </div>
      <Button size="small" onClick={() => void changeSettings(values)}>
        {text.recommendedUse}
      </Button>
    </div>
  );
}
