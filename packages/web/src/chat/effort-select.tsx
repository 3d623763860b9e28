// How much the model thinks before it answers; there for models that can.
import { efforts, type Effort } from "../chats/conversation.ts";
import { Select } from "../design/field.tsx";
import { strings } from "../strings/strings.ts";
import { canThink, changeSettings, currentChoice } from "./current-chat.ts";

export function EffortSelect() {
  if (!canThink.value) return null;
  const text = strings.value.chat;
  const { effort } = currentChoice.value.settings;
  const choices = [
    { value: "default" as const, label: text.effortNames.default },
    ...efforts.map((value) => ({ value, label: text.effortNames[value] })),
  ];
  const choose = (value: Effort | "default") =>
    void changeSettings({ effort: value === "default" ? null : value });
  return (
    <span class="effort-select">
      <Select aria-label={text.effort} value={effort ?? "default"} choices={choices} onValue={choose} />
    </span>
  );
}
