// The bar above the messages: the models and how they are loading, and buttons for what can be opened beside the chat.
import type { ManagedModel } from "@ingle/protocol";

import { linkTo } from "../router.ts";
import { openChat } from "../conversations/chat-store.ts";
import { live, findModel } from "../connection/connection.ts";
import { IconButton } from "../design/button.tsx";
import { Icon } from "../design/icon.tsx";
import { failureSentence } from "../design/failure.tsx";
import { Menu, type MenuItem } from "../design/menu.tsx";
import { Progress } from "../design/indicators.tsx";
import { bytesText } from "../format/localized.ts";
import { sortedModels } from "../library/model-view.ts";
import { appText } from "../strings/app.ts";
import { chatText } from "../strings/chat.ts";
import { libraryText } from "../strings/library.ts";
import { samplingText } from "../strings/sampling.ts";
import {
  changeChoice,
  chatModels,
  currentChoice,
  listIsOpen,
  panelIsOpen,
  treeIsOpen,
} from "../conversations/current-chat.ts";

export function ChatHeader() {
  const isEmpty = (openChat.value?.tree.nodes.size ?? 0) === 0;
  return (
    <header class="chat-header">
      <div class="chat-header-row">
        {!listIsOpen.value && (
          <IconButton
            icon="menu"
            label={chatText.openList}
            aria-expanded={false}
            onClick={() => (listIsOpen.value = true)}
          />
        )}
        <ModelPicker />
        <span class="chat-header-space" />
        <AnswersMenu />
        <IconButton
          icon="branch"
          label={chatText.tree}
          disabled={isEmpty}
          onClick={() => (treeIsOpen.value = true)}
        />
        <IconButton
          icon="sliders"
          label={panelIsOpen.value ? samplingText.close : samplingText.open}
          aria-expanded={panelIsOpen.value}
          onClick={() => (panelIsOpen.value = !panelIsOpen.value)}
        />
      </div>
      <ModelStates />
    </header>
  );
}

/** More columns would be too narrow to read. */
const modelsMax = 4;
const answersMax = 4;

function ModelPicker() {
  const { models: chosen } = currentChoice.value;
  const sorted = sortedModels(chatModels.value);
  const choose = (at: number, id: string) => void changeChoice({ models: chosen.with(at, id) });
  const rest = sorted.filter(({ id }) => !chosen.includes(id));
  return (
    <div class="model-picker">
      {chosen.map((id, at) => (
        <span key={id} class="model-chip">
          <Menu
            label={`${appText.model}: ${id}`}
            search={libraryText.filter}
            items={sorted
              .filter((model) => model.id === id || !chosen.includes(model.id))
              .map((model) => toMenuItem(model, model.id === id, () => choose(at, model.id)))}
          >
            <span class="model-name">{id}</span>
          </Menu>
          {chosen.length > 1 && (
            <IconButton
              icon="close"
              size="small"
              label={chatText.stopComparing(id)}
              onClick={() => void changeChoice({ models: chosen.filter((other) => other !== id) })}
            />
          )}
        </span>
      ))}
      {chosen.length === 0 && chatModels.value.length > 0 && (
        <Menu
          label={chatText.chooseModel}
          search={libraryText.filter}
          items={sorted.map((model) =>
            toMenuItem(model, false, () => void changeChoice({ models: [model.id] })),
          )}
        >
          {chatText.chooseModel}
        </Menu>
      )}
      {chosen.length > 0 && chosen.length < modelsMax && rest.length > 0 && (
        <Menu
          label={chatText.compare}
          icon="columns"
          search={libraryText.filter}
          items={rest.map((model) =>
            toMenuItem(model, undefined, () => void changeChoice({ models: [...chosen, model.id] })),
          )}
        />
      )}
    </div>
  );
}

function AnswersMenu() {
  const { answers } = currentChoice.value;
  const counts = Array.from({ length: answersMax }, (_nothing, at) => at + 1);
  return (
    <Menu
      label={`${chatText.answers}: ${chatText.answersCount(answers)}`}
      items={counts.map((count) => ({
        label: chatText.answersCount(count),
        isChosen: count === answers,
        onSelect: () => void changeChoice({ answers: count }),
      }))}
    >
      <span class="answers-in-words">{chatText.answersCount(answers)}</span>
      <span class="answers-in-short figures">{answers}</span>
    </Menu>
  );
}

function toMenuItem(model: ManagedModel, isChosen: boolean | undefined, onSelect: () => void): MenuItem {
  return {
    label: model.id,
    note: modelNote(model),
    onSelect,
    ...(isChosen === undefined ? {} : { isChosen }),
  };
}

/** Its size, whether it is in memory, and whether it reads images. */
function modelNote(model: ManagedModel): string {
  const states: Partial<Record<ManagedModel["status"], string>> = {
    loaded: chatText.inMemory,
    failed: chatText.failedShort,
    available: chatText.onDisk,
    closed: chatText.onDisk,
  };
  const state = states[model.status] ?? chatText.loadingShort;
  return [
    ...(model.size_bytes === null ? [] : [bytesText(model.size_bytes)]),
    state,
    ...(model.capabilities.includes("vision") ? [chatText.readsImages] : []),
  ].join(" · ");
}

function ModelStates() {
  if (live.value === null) return null;
  return (
    <div class="model-states" role="status">
      {currentChoice.value.models.map((id) => {
        const model = findModel(id);
        if (model === undefined) return <Problem key={id} sentence={chatText.modelGone(id)} />;
        if (model.status === "failed")
          return <Problem key={id} sentence={chatText.modelFailed(id, failureSentence(model))} />;
        if (model.status === "preparing")
          return <Loading key={id} label={chatText.preparingModel(id)} progress={null} />;
        if (model.status === "loading")
          return <Loading key={id} label={appText.loadingModel(id)} progress={model.progress} />;
        return null;
      })}
    </div>
  );
}

function Loading({ label, progress }: { label: string; progress: number | null }) {
  return (
    <div class="model-state">
      <span>{label}</span>
      <Progress label={label} value={progress} />
    </div>
  );
}

function Problem({ sentence }: { sentence: string }) {
  return (
    <div class="model-state problem">
      <Icon name="error" size={18} />
      <span>{sentence}</span>
      <a href={linkTo("library")}>{appText.library}</a>
    </div>
  );
}
