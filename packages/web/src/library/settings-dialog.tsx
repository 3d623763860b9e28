// The settings that stay with a model. What the dialog does not show, such as profiles, is kept as it is.
import type { ManagedModel } from "@ingle/protocol";
import { useState } from "preact/hooks";

import { client } from "../connection/connection.ts";
import { Dialog } from "../design/dialog.tsx";
import { CodeWords } from "../design/empty-state.tsx";
import { Form, NumberField, SelectField, TextAreaField } from "../design/field.tsx";
import { useAttempt } from "../design/toast.tsx";
import { useLoaded } from "../design/use-loaded.ts";
import { appText } from "../strings/app.ts";
import { libraryText } from "../strings/library.ts";
import { samplingText } from "../strings/sampling.ts";
import { kvBitsChoices } from "./load-form.ts";
import { toForm, toSettings, type SettingsForm, type StoredSettings } from "./settings-form.ts";

const formId = "model-settings-form";
/** The shortest context that the server accepts. */
const contextLengthMin = 16;

export function SettingsDialog({ model, onClose }: { model: ManagedModel; onClose: () => void }) {
  const [isBusy, attempt] = useAttempt();
  const [changed, setChanged] = useState<Partial<SettingsForm>>({});
  const stored: StoredSettings | undefined = useLoaded(
    async (signal) => (await client.library.settings(model.id, { signal })).settings,
    [model.id],
  );
  const save = async () => {
    if (stored === undefined) return;
    const settings = toSettings({ ...toForm(stored), ...changed }, stored);
    if (await attempt(() => client.library.setSettings(model.id, settings))) onClose();
  };
  return (
    <Dialog
      title={libraryText.settingsTitle(model.id)}
      onClose={onClose}
      action={{ label: libraryText.settingsSave, form: formId, isBusy, isDisabled: stored === undefined }}
    >
      <p class="soft">
        <CodeWords text={libraryText.settingsText} />
      </p>
      {stored === undefined ? (
        <p class="soft">{appText.loading}</p>
      ) : (
        <Form id={formId} class="stack" onSubmit={save}>
          <Fields
            form={{ ...toForm(stored), ...changed }}
            onChange={(change) => setChanged({ ...changed, ...change })}
          />
        </Form>
      )}
    </Dialog>
  );
}

function Fields({
  form,
  onChange,
}: {
  form: SettingsForm;
  onChange: (change: Partial<SettingsForm>) => void;
}) {
  const { usual, on, off } = libraryText.settingsThinkingChoice;
  return (
    <>
      <NumberField
        label={libraryText.contextNumber}
        hint={libraryText.contextHint}
        min={contextLengthMin}
        step={1}
        value={form.contextLength}
        onValue={(contextLength) => onChange({ contextLength })}
      />
      <SelectField
        label={libraryText.kvBitsLabel}
        hint={libraryText.kvBitsHint}
        value={form.kvBits}
        choices={[
          { value: "", label: libraryText.kvBitsDefault },
          ...kvBitsChoices.map((bits) => ({ value: String(bits), label: libraryText.kvBitsChoice[bits] })),
        ]}
        onValue={(kvBits) => onChange({ kvBits })}
      />
      <NumberField
        label={samplingText.temperature}
        hint={samplingText.temperatureHint}
        min={0}
        max={100}
        step={0.1}
        value={form.temperature}
        onValue={(temperature) => onChange({ temperature })}
      />
      <TextAreaField
        label={samplingText.systemPrompt}
        rows={3}
        value={form.systemPrompt}
        onValue={(systemPrompt) => onChange({ systemPrompt })}
      />
      <SelectField
        label={libraryText.settingsThinking}
        value={form.thinking}
        choices={[
          { value: "", label: usual },
          { value: "on", label: on },
          { value: "off", label: off },
        ]}
        onValue={(thinking) => onChange({ thinking })}
      />
    </>
  );
}
