// Chooses, saves and deletes presets.
import { useState } from "preact/hooks";

import { changeSettings, currentChoice } from "../chat/current-chat.ts";
import { removePreset, savePreset, setDefaultPreset } from "../chats/chat-changes.ts";
import { presets } from "../chats/chat-store.ts";
import { emptySettings, type Preset } from "../chats/conversation.ts";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { SelectField, TextField } from "../design/field.tsx";
import { Menu } from "../design/menu.tsx";
import { showToast } from "../design/toast.tsx";
import { strings } from "../strings/strings.ts";
import { isSameSettings } from "./settings-fields.ts";

const none = "none";
const changed = "changed";

export function PresetsRow() {
  const [isSaving, setSaving] = useState(false);
  const text = strings.value.sampling;
  const { settings } = currentChoice.value;
  const current = presets.value.find((preset) => isSameSettings(preset.settings, settings));
  const isEmpty = isSameSettings(emptySettings, settings);
  const value = current?.id ?? (isEmpty ? none : changed);
  const choices = [
    { value: none, label: text.presetNone },
    ...presets.value.map(({ id, name }) => ({ value: id, label: name })),
    ...(value === changed ? [{ value: changed, label: text.presetOwn }] : []),
  ];
  const choose = (id: string) => {
    const preset = presets.value.find((each) => each.id === id);
    if (id !== changed) void changeSettings(preset?.settings ?? emptySettings);
  };
  return (
    <div class="presets-row">
      <SelectField label={text.presets} value={value} choices={choices} onValue={choose} />
      <Menu
        label={text.presetMenu}
        icon="more"
        items={[
          { label: text.presetSave, icon: "plus", onSelect: () => setSaving(true) },
          {
            label: text.presetDefault,
            icon: "pin",
            isChosen: current?.isDefault ?? false,
            isDisabled: current === undefined,
            onSelect: () => void setDefaultPreset(current?.isDefault === true ? null : (current?.id ?? null)),
          },
          {
            label: text.presetDelete,
            icon: "trash",
            isDisabled: current === undefined,
            isDangerous: true,
            onSelect: () => current !== undefined && void remove(current),
          },
        ]}
      />
      <SaveDialog isOpen={isSaving} onClose={() => setSaving(false)} />
    </div>
  );
}

async function remove(preset: Preset): Promise<void> {
  const { sampling, app } = strings.value;
  await removePreset(preset.id);
  showToast({
    text: sampling.presetDeleted(preset.name),
    action: { label: app.undo, onAction: () => void savePreset(preset.name, preset.settings) },
  });
}

function SaveDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [name, setName] = useState("");
  const text = strings.value.sampling;
  const save = async () => {
    onClose();
    const preset = await savePreset(name.trim(), currentChoice.value.settings);
    setName("");
    showToast({ text: text.presetSaved(preset.name), tone: "good" });
  };
  return (
    <Dialog title={text.presetSave} isOpen={isOpen} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextField label={text.presetName} required maxLength={80} value={name} onValue={setName} />
        <div class="row">
          <Button kind="primary" type="submit" disabled={name.trim() === ""}>
            {strings.value.app.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
