// The Settings tab: what the server is started with, locked while it runs, and its API keys.
import type { ServerControl, ServerSettings } from "@ingle/protocol";
import { useEffect, useState } from "preact/hooks";

import { useAttempt } from "../connection/attempt.ts";
import { canManage, client } from "../connection/client.ts";
import { models } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { SelectField, Switch, TextAreaField, TextField } from "../design/field.tsx";
import { Icon } from "../design/icon.tsx";
import { showToast } from "../design/toast.tsx";
import { sortedModels } from "../library/model-view.ts";
import { strings } from "../strings/strings.ts";
import { KeysPanel } from "./keys-panel.tsx";
import {
  fieldsOf,
  isOpenToOthers,
  offeredVariants,
  readSettings,
  withVariant,
  type SettingsFields,
  type SettingsProblem,
} from "./settings-form.ts";
import { isLocked } from "./start-button.ts";

import "./settings-view.css";

export function SettingsView({ control }: { control: ServerControl }) {
  const text = strings.value.server;
  const locked = isLocked(control) || !canManage.value;
  return (
    <div class="stack-wide">
      {control.can_control && isLocked(control) && (
        <p class="settings-locked small">
          <Icon name="info" size={18} />
          {control.status === "running" ? text.locked : text.lockedBusy}
        </p>
      )}
      <SettingsForm settings={control.settings} isLocked={locked} />
      <StartModels settings={control.settings} isLocked={!control.can_control || !canManage.value} />
      {control.can_control && canManage.value && <KeysPanel />}
    </div>
  );
}

function SettingsForm({ settings, isLocked: locked }: { settings: ServerSettings; isLocked: boolean }) {
  const text = strings.value.server;
  const [isBusy, attempt] = useAttempt();
  const saved = fieldsOf(settings);
  const savedKey = JSON.stringify(saved);
  const [fields, setFields] = useState<SettingsFields>(saved);
  // Also shows the changes of other pages.
  useEffect(() => setFields(saved), [savedKey]);
  const read = readSettings(fields);
  const isChanged = JSON.stringify(fields) !== savedKey;
  const save = async (event: Event) => {
    event.preventDefault();
    if (!read.ok) return;
    if (await attempt(() => client.serverControl.change(read.change)))
      showToast({ text: text.saved, tone: "good" });
  };
  const problems = read.ok ? [] : read.problems;
  return (
    <form class="stack" onSubmit={(event) => void save(event)}>
      <fieldset class="settings-fields" disabled={locked}>
        <SettingsInputs fields={fields} problems={problems} onFields={setFields} />
      </fieldset>
      {isChanged && !locked && (
        <div class="row">
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={!read.ok}>
            {text.save}
          </Button>
          <Button onClick={() => setFields(saved)}>{text.discard}</Button>
        </div>
      )}
    </form>
  );
}

interface FieldsProps {
  fields: SettingsFields;
  problems: readonly SettingsProblem[];
  onFields: (fields: SettingsFields) => void;
}

function SettingsInputs({ fields, problems, onFields }: FieldsProps) {
  const text = strings.value.server;
  const inputOf = (name: SettingsProblem) => ({
    label: text[name],
    error: problems.includes(name) ? text.problem[name] : undefined,
    value: fields[name],
    onValue: (value: string) => onFields({ ...fields, [name]: value }),
  });
  return (
    <>
      <SelectField
        label={text.variant}
        hint={text.variantHint}
        value={fields.variant}
        choices={offeredVariants(fields.variant).map((value) => ({ value, label: text.variantName[value] }))}
        onValue={(variant) => onFields(withVariant(fields, variant))}
      />
      <TextField {...inputOf("port")} hint={text.portHint} inputMode="numeric" />
      <TextField
        {...inputOf("host")}
        hint={isOpenToOthers(fields) ? <span class="host-open">{text.openWithoutKey}</span> : text.hostHint}
        list="server-hosts"
        autocomplete="off"
        spellcheck={false}
      />
      <datalist id="server-hosts">
        <option value="127.0.0.1" />
        <option value="0.0.0.0" />
      </datalist>
      <TextField
        {...inputOf("parallel")}
        hint={text.parallelHint}
        inputMode="numeric"
        placeholder={text.parallelPlaceholder}
      />
      <TextAreaField {...inputOf("allowHosts")} hint={text.allowHostsHint} rows={3} spellcheck={false} />
      <TextAreaField {...inputOf("allowOrigins")} hint={text.allowOriginsHint} rows={3} spellcheck={false} />
    </>
  );
}

/** Settings for the next start, which can be changed at any time. */
function StartModels({ settings, isLocked: locked }: { settings: ServerSettings; isLocked: boolean }) {
  const text = strings.value.server;
  const [isBusy, attempt] = useAttempt();
  const isOff = locked || isBusy;
  const toggle = (id: string, isOn: boolean) => {
    const others = settings.models.filter((name) => name !== id);
    void attempt(() => client.serverControl.change({ models: isOn ? [...others, id] : others }));
  };
  const known = sortedModels(models.value).map(({ id }) => id);
  const names = [...new Set([...settings.models, ...known])];
  return (
    <>
      <fieldset class="start-models card" disabled={isOff}>
        <legend>{text.startModels}</legend>
        <p class="small soft">{text.startModelsHint}</p>
        {names.length === 0 && <p class="small soft">{text.noModels}</p>}
        {names.map((id) => (
          <label key={id} class="start-model">
            <input
              type="checkbox"
              checked={settings.models.includes(id)}
              onChange={(event) => toggle(id, event.currentTarget.checked)}
            />
            <span>{id}</span>
          </label>
        ))}
      </fieldset>
      <div class="card">
        <Switch
          label={text.startsWithApp}
          hint={text.startsWithAppHint}
          isOn={settings.starts_with_app}
          isDisabled={isOff}
          onToggle={(isOn) => void attempt(() => client.serverControl.change({ starts_with_app: isOn }))}
        />
      </div>
    </>
  );
}
