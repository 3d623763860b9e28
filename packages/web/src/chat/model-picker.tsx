// Chooses the models that reply, one or several side by side, and how many replies each gives.
import type { ManagedModel } from "@ingle/protocol";

import { IconButton } from "../design/button.tsx";
import { Menu, type MenuItem } from "../design/menu.tsx";
import { strings } from "../strings/strings.ts";
import { changeChoice, chatModels, currentChoice } from "./current-chat.ts";

/** More columns would be too narrow to read. */
const modelsMax = 4;
const answersMax = 4;

export function ModelPicker() {
  const text = strings.value.chat;
  const { models: chosen } = currentChoice.value;
  const choose = (at: number, id: string) => void changeChoice({ models: chosen.with(at, id) });
  const rest = chatModels.value.filter(({ id }) => !chosen.includes(id));
  return (
    <div class="model-picker">
      {chosen.map((id, at) => (
        <span key={id} class="model-chip">
          <Menu
            label={`${text.model}: ${id}`}
            items={chatModels.value
              .filter((model) => model.id === id || !chosen.includes(model.id))
              .map((model) => itemOf(model, model.id === id, () => choose(at, model.id)))}
          >
            <span class="model-name">{id}</span>
          </Menu>
          {chosen.length > 1 && (
            <IconButton
              icon="close"
              size="small"
              label={text.stopComparing(id)}
              onClick={() => void changeChoice({ models: chosen.filter((other) => other !== id) })}
            />
          )}
        </span>
      ))}
      {chosen.length === 0 && chatModels.value.length > 0 && (
        <Menu
          label={text.chooseModel}
          items={chatModels.value.map((model) =>
            itemOf(model, false, () => void changeChoice({ models: [model.id] })),
          )}
        >
          {text.chooseModel}
        </Menu>
      )}
      {chosen.length > 0 && chosen.length < modelsMax && rest.length > 0 && (
        <Menu
          label={text.compare}
          icon="columns"
          items={rest.map((model) =>
            itemOf(model, undefined, () => void changeChoice({ models: [...chosen, model.id] })),
          )}
        />
      )}
    </div>
  );
}

export function AnswersMenu() {
  const text = strings.value.chat;
  const { answers } = currentChoice.value;
  const counts = Array.from({ length: answersMax }, (_nothing, at) => at + 1);
  return (
    <Menu
      label={`${text.answers}: ${answers}`}
      items={counts.map((count) => ({
        label: text.answersCount(count),
        isChosen: count === answers,
        onSelect: () => void changeChoice({ answers: count }),
      }))}
    >
      <span class="figures">{answers} ×</span>
    </Menu>
  );
}

function itemOf(model: ManagedModel, isChosen: boolean | undefined, onSelect: () => void): MenuItem {
  return { label: model.id, note: noteOf(model), onSelect, ...(isChosen === undefined ? {} : { isChosen }) };
}

/** Whether the model is in memory, and whether it reads images. */
function noteOf(model: ManagedModel): string {
  const text = strings.value.chat;
  const states: Partial<Record<ManagedModel["status"], string>> = {
    loaded: text.inMemory,
    failed: text.failedShort,
    available: text.onDisk,
    closed: text.onDisk,
  };
  const state = states[model.status] ?? text.loadingShort;
  return model.capabilities.includes("vision") ? `${state} · ${text.readsImages}` : state;
}
