// Chooses, saves and deletes presets.
import { useState } from "preact/hooks";

import { changeSettings, currentChoice } from "../conversations/current-chat.ts";
import { removePreset, savePreset, setDefaultPreset } from "../conversations/chat-changes.ts";
import { presets } from "../conversations/chat-store.ts";
import type { Preset } from "../conversations/conversation.ts";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Form, SelectField, TextField } from "../design/field.tsx";
import { Menu } from "../design/menu.tsx";
import { showToast } from "../design/toast.tsx";
import { appText } from "../strings/app.ts";
import { samplingText } from "../strings/sampling.ts";
import { emptySettings, isSameSettings } from "../conversations/settings-fields.ts";

const none = "none";
const changed = "changed";

export function PresetsRow() {
  const [isSaving, setSaving] = useState(false);
  const { settings } = currentChoice.value;
  const current = presets.value.find((preset) => isSameSettings(preset.settings, settings));
  const isEmpty = isSameSettings(emptySettings, settings);
  const value = current?.id ?? (isEmpty ? none : changed);
  const choices = [
    { value: none, label: samplingText.presetNone },
    ...presets.value.map(({ id, name }) => ({ value: id, label: name })),
    ...(value === changed ? [{ value: changed, label: samplingText.presetOwn }] : []),
  ];
  const choose = (id: string) => {
    const preset = presets.value.find((each) => each.id === id);
    if (id !== changed) void changeSettings({ ...emptySettings, ...preset?.settings });
  };
  return (
    <div class="presets-row">
      <SelectField label={samplingText.presets} value={value} choices={choices} onValue={choose} />
      <Menu
        label={samplingText.presetMenu}
        icon="more"
        items={[
          { label: samplingText.presetSave, icon: "plus", onSelect: () => setSaving(true) },
          {
            label: samplingText.presetDefault,
            icon: "pin",
            isChosen: current?.isDefault ?? false,
            isDisabled: current === undefined,
            onSelect: () => void setDefaultPreset(current?.isDefault === true ? null : (current?.id ?? null)),
          },
          {
            label: samplingText.presetDelete,
            icon: "trash",
            isDisabled: current === undefined,
            isDangerous: true,
            onSelect: () => current !== undefined && void remove(current),
          },
        ]}
      />
      {isSaving && <SaveDialog onClose={() => setSaving(false)} />}
    </div>
  );
}

async function remove(preset: Preset): Promise<void> {
  await removePreset(preset.id);
  showToast({
    text: samplingText.presetDeleted(preset.name),
    action: { label: appText.undo, onAction: () => void savePreset(preset.name, preset.settings) },
  });
}

function SaveDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const save = async () => {
    onClose();
    const preset = await savePreset(name.trim(), currentChoice.value.settings);
    showToast({ text: samplingText.presetSaved(preset.name), tone: "good" });
  };
  return (
    <Dialog title={samplingText.presetSave} onClose={onClose}>
      <Form class="stack" onSubmit={save}>
        <TextField label={samplingText.presetName} required maxLength={80} value={name} onValue={setName} />
        <div class="row">
          <Button kind="primary" type="submit" disabled={name.trim() === ""}>
            {appText.save}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
