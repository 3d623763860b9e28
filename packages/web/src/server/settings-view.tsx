// The Settings tab: what the server is started with, locked while it runs, and its API keys.
import type { ServerControl, ServerSettings } from "@ingle/protocol";

import { canManage, client, models } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { Form, SelectField, Switch, TextAreaField, TextField } from "../design/field.tsx";
import { Icon } from "../design/icon.tsx";
import { showToast, useAttempt } from "../design/toast.tsx";
import { sortedModels } from "../library/model-view.ts";
import { appText } from "../strings/app.ts";
import { serverText } from "../strings/server.ts";
import { KeysPanel } from "./keys-panel.tsx";
import {
  toFields,
  isOpenToOthers,
  offeredVariants,
  readSettings,
  withVariant,
  type SettingsFields,
  type SettingsProblem,
} from "./settings-form.ts";
import { isLocked } from "./start-button.ts";
import { changeFields, discardFields, hasUnsaved, saveFields, shownFields } from "./unsaved-settings.ts";

export function SettingsView({ control }: { control: ServerControl }) {
  const locked = isLocked(control) || !canManage.value;
  return (
    <div class="stack-wide">
      {control.can_control && isLocked(control) && (
        <p class="small notice">
          <Icon name="info" size={18} />
          {control.status === "running" ? serverText.locked : serverText.lockedBusy}
        </p>
      )}
      <SettingsForm control={control} isLocked={locked} />
      <StartModels settings={control.settings} isLocked={!control.can_control || !canManage.value} />
      {canManage.value && <KeysPanel canChange={control.can_control} />}
    </div>
  );
}

function SettingsForm({ control, isLocked: locked }: { control: ServerControl; isLocked: boolean }) {
  const [isBusy, attempt] = useAttempt();
  const { settings } = control;
  // While the server runs, its own settings are shown.
  const fields = isLocked(control) ? toFields(settings) : shownFields(settings);
  const read = readSettings(fields);
  const save = async () => {
    if (read.ok && (await attempt(() => saveFields(settings))))
      showToast({ text: serverText.saved, tone: "good" });
  };
  const problems = read.ok ? [] : read.problems;
  return (
    <Form class="stack" onSubmit={save}>
      <fieldset class="settings-fields" disabled={locked}>
        <SettingsInputs
          fields={fields}
          problems={problems}
          hasKey={control.needs_key}
          onFields={(changed) => changeFields(settings, changed)}
        />
      </fieldset>
      {hasUnsaved(settings) && !locked && (
        <div class="row">
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={!read.ok}>
            {appText.save}
          </Button>
          <Button onClick={discardFields}>{serverText.discard}</Button>
        </div>
      )}
    </Form>
  );
}

interface FieldsProps {
  fields: SettingsFields;
  problems: readonly SettingsProblem[];
  /** Whether requests will need a key. */
  hasKey: boolean;
  onFields: (fields: SettingsFields) => void;
}

function SettingsInputs({ fields, problems, hasKey, onFields }: FieldsProps) {
  const inputProps = (name: SettingsProblem) => ({
    label: serverText[name],
    error: problems.includes(name) ? serverText.problem[name] : undefined,
    value: fields[name],
    onValue: (value: string) => onFields({ ...fields, [name]: value }),
  });
  return (
    <>
      <SelectField
        label={serverText.variant}
        hint={serverText.variantHint}
        value={fields.variant}
        choices={offeredVariants(fields.variant).map((value) => ({
          value,
          label: serverText.variantName[value],
        }))}
        onValue={(variant) => onFields(withVariant(fields, variant))}
      />
      <TextField {...inputProps("port")} hint={serverText.portHint} inputMode="numeric" />
      <TextField
        {...inputProps("host")}
        hint={
          isOpenToOthers(fields) && !hasKey ? (
            <span class="host-open">{serverText.openNeedsKey}</span>
          ) : (
            serverText.hostHint
          )
        }
        list="server-hosts"
        autocomplete="off"
        spellcheck={false}
      />
      <datalist id="server-hosts">
        <option value="127.0.0.1" />
        <option value="0.0.0.0" />
      </datalist>
      <TextField
        {...inputProps("parallel")}
        hint={serverText.parallelHint}
        inputMode="numeric"
        placeholder={serverText.parallelPlaceholder}
      />
      <TextAreaField
        {...inputProps("allowHosts")}
        hint={serverText.allowHostsHint}
        rows={3}
        spellcheck={false}
      />
      <TextAreaField
        {...inputProps("allowOrigins")}
        hint={serverText.allowOriginsHint}
        rows={3}
        spellcheck={false}
      />
    </>
  );
}

/** Settings for the next start, which can be changed at any time. */
function StartModels({ settings, isLocked: locked }: { settings: ServerSettings; isLocked: boolean }) {
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
      <fieldset class="start-models card stack" disabled={isOff}>
        <legend>{serverText.startModels}</legend>
        <p class="small soft">{serverText.startModelsHint}</p>
        {names.length === 0 && <p class="small soft">{serverText.noModels}</p>}
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
          label={serverText.startsWithApp}
          hint={serverText.startsWithAppHint}
          isOn={settings.starts_with_app}
          isDisabled={isOff}
          onToggle={(isOn) => void attempt(() => client.serverControl.change({ starts_with_app: isOn }))}
        />
      </div>
    </>
  );
}
