// Which models answer: one, or several side by side, and how many answers each gives.
import type { ManagedModel } from "@ingle/protocol";

import { modelOf } from "../connection/connection.ts";
import { IconButton } from "../design/button.tsx";
import { Menu, type MenuItem } from "../design/menu.tsx";
import { strings } from "../strings/strings.ts";
import { changeChoice, chatModels, currentChoice } from "./current-chat.ts";

/** More columns could not be read. */
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

/** How many answers each model gives to a question. */
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

/** Where the model is, and whether it sees. */
function noteOf(model: ManagedModel): string {
  const text = strings.value.chat;
  const place = {
    loaded: text.inMemory,
    failed: text.failedShort,
    available: text.onDisk,
    closed: text.onDisk,
  };
  const state = model.status in place ? Reflect.get(place, model.status) : text.loadingShort;
  const sees = model.capabilities.includes("vision") ? [text.seesImages] : [];
  return [state, ...sees].join(" · ");
}

/** Chosen models that are on their way into memory, could not get there, or are gone. */
export function chosenModels(): { id: string; model: ManagedModel | undefined }[] {
  return currentChoice.value.models.map((id) => ({ id, model: modelOf(id) }));
}
