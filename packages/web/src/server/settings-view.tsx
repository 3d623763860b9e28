// What the server is started with, and its keys. Locked while the server runs with it.
import type { ServerControl, ServerSettings } from "@ingle/protocol";
import { useEffect, useState } from "preact/hooks";

import { useAttempt } from "../connection/attempt.ts";
import { client } from "../connection/client.ts";
import { models } from "../connection/connection.ts";
import { canManage } from "../connection/session.ts";
import { Button } from "../design/button.tsx";
import { Field, Select, Switch, TextArea, TextInput } from "../design/field.tsx";
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
  const told = fieldsOf(settings);
  const toldKey = JSON.stringify(told);
  const [fields, setFields] = useState<SettingsFields>(told);
  // What another page has changed is shown here, too.
  useEffect(() => setFields(fieldsOf(settings)), [toldKey]);
  const read = readSettings(fields);
  const isChanged = JSON.stringify(fields) !== toldKey;
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
        <NetworkFields fields={fields} problems={problems} onFields={setFields} />
        <AllowedFields fields={fields} problems={problems} onFields={setFields} />
      </fieldset>
      {isChanged && !locked && (
        <div class="row">
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={!read.ok}>
            {text.save}
          </Button>
          <Button onClick={() => setFields(told)}>{text.discard}</Button>
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

function problemText(problems: readonly SettingsProblem[], problem: SettingsProblem): string | undefined {
  return problems.includes(problem) ? strings.value.server.problem[problem] : undefined;
}

function NetworkFields({ fields, problems, onFields }: FieldsProps) {
  const text = strings.value.server;
  return (
    <>
      <Field label={text.variant} hint={text.variantHint}>
        {(control) => (
          <Select
            {...control}
            value={fields.variant}
            choices={offeredVariants(fields.variant).map((value) => ({
              value,
              label: text.variantName[value],
            }))}
            onValue={(variant) => onFields(withVariant(fields, variant))}
          />
        )}
      </Field>
      <Field label={text.port} hint={text.portHint} error={problemText(problems, "port")}>
        {(control) => (
          <TextInput
            {...control}
            inputMode="numeric"
            value={fields.port}
            onValue={(port) => onFields({ ...fields, port })}
          />
        )}
      </Field>
      <Field
        label={text.host}
        hint={isOpenToOthers(fields) ? <span class="host-open">{text.openWithoutKey}</span> : text.hostHint}
        error={problemText(problems, "host")}
      >
        {(control) => (
          <TextInput
            {...control}
            list="server-hosts"
            autocomplete="off"
            spellcheck={false}
            value={fields.host}
            onValue={(host) => onFields({ ...fields, host })}
          />
        )}
      </Field>
      <datalist id="server-hosts">
        <option value="127.0.0.1" />
        <option value="0.0.0.0" />
      </datalist>
      <Field label={text.parallel} hint={text.parallelHint} error={problemText(problems, "parallel")}>
        {(control) => (
          <TextInput
            {...control}
            inputMode="numeric"
            placeholder={text.parallelPlaceholder}
            value={fields.parallel}
            onValue={(parallel) => onFields({ ...fields, parallel })}
          />
        )}
      </Field>
    </>
  );
}

function AllowedFields({ fields, problems, onFields }: FieldsProps) {
  const text = strings.value.server;
  return (
    <>
      <Field label={text.allowHosts} hint={text.allowHostsHint} error={problemText(problems, "allowHosts")}>
        {(control) => (
          <TextArea
            {...control}
            rows={3}
            spellcheck={false}
            value={fields.allowHosts}
            onValue={(allowHosts) => onFields({ ...fields, allowHosts })}
          />
        )}
      </Field>
      <Field
        label={text.allowOrigins}
        hint={text.allowOriginsHint}
        error={problemText(problems, "allowOrigins")}
      >
        {(control) => (
          <TextArea
            {...control}
            rows={3}
            spellcheck={false}
            value={fields.allowOrigins}
            onValue={(allowOrigins) => onFields({ ...fields, allowOrigins })}
          />
        )}
      </Field>
    </>
  );
}

/** What the next start reads, so it can be changed at any time: which models it loads, and whether it comes with the app. */
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
