// The models on the server's machine: status, facts and actions of each.
import type { ManagedModel } from "@ingle/protocol";
import { useState } from "preact/hooks";

import { navigate, linkTo } from "../router.ts";
import { currentDraft, draft } from "../conversations/chat-changes.ts";
import { canManage, client, live, models } from "../connection/connection.ts";
import { Failure } from "../design/failure.tsx";
import { Button } from "../design/button.tsx";
import { EmptyState } from "../design/empty-state.tsx";
import { TextInput } from "../design/field.tsx";
import { Badge, Progress, type Tone } from "../design/indicators.tsx";
import { Menu, type MenuItem } from "../design/menu.tsx";
import { ask } from "../design/dialog.tsx";
import { showToast, useAttempt } from "../design/toast.tsx";
import { agoText, bytesText, countText, momentText, shareText } from "../format/localized.ts";
import { appText } from "../strings/app.ts";
import { libraryText } from "../strings/library.ts";
import { hubPart } from "./hub-view.tsx";
import { LoadDialog } from "./load-dialog.tsx";
import { NamesDialog, QuantizeDialog } from "./model-dialogs.tsx";
import { SettingsDialog } from "./settings-dialog.tsx";
import {
  modelActions,
  isLoadingOrUnloading,
  matchingModels,
  type ModelAction,
  sortedModels,
} from "./model-view.ts";

/** The filter is shown from this many models on. */
const filterFrom = 7;

export function InstalledView() {
  const [words, setWords] = useState("");
  if (live.value === null) return <p class="soft">{appText.loading}</p>;
  if (models.value.length === 0) {
    return (
      <EmptyState icon="library" title={libraryText.emptyTitle} text={libraryText.emptyText}>
        <Button kind="primary" icon="search" onClick={() => navigate(linkTo("library", hubPart))}>
          {libraryText.emptyAction}
        </Button>
      </EmptyState>
    );
  }
  const hasFilter = models.value.length >= filterFrom;
  const shown = sortedModels(hasFilter ? matchingModels(models.value, words) : models.value);
  return (
    <div class="stack">
      {hasFilter && (
        <TextInput
          type="search"
          aria-label={libraryText.filter}
          placeholder={libraryText.filter}
          value={words}
          onValue={setWords}
        />
      )}
      {shown.length === 0 && <p class="soft">{libraryText.noneMatch}</p>}
      <ul class="stack models" aria-label={libraryText.installedList}>
        {shown.map((model) => (
          <ModelCard key={model.id} model={model} />
        ))}
      </ul>
    </div>
  );
}

function ModelCard({ model }: { model: ManagedModel }) {
  return (
    <li class={`boxed model ${model.status}`}>
      <div class="model-main">
        <h3 class="model-name">{model.id}</h3>
        <StatusBadge model={model} />
        {model.pinned && <Badge title={libraryText.pinnedHint}>{libraryText.pinned}</Badge>}
        {model.aliases.map((alias) => (
          <Badge key={alias}>{alias}</Badge>
        ))}
        <p class="model-facts small soft">{modelFacts(model).join(" · ")}</p>
        <Capabilities model={model} />
        {model.status === "loading" && (
          <Progress label={appText.loadingModel(model.id)} value={model.progress ?? null} />
        )}
        <Failure class="model-error small" of={model} />
      </div>
      <div class="model-actions">
        <ModelActions model={model} />
      </div>
    </li>
  );
}

const tones: Readonly<Record<ManagedModel["status"], Tone>> = {
  available: "plain",
  preparing: "accent",
  loading: "accent",
  loaded: "good",
  restarting: "warn",
  draining: "warn",
  unloading: "warn",
  failed: "bad",
  closed: "plain",
};

function StatusBadge({ model }: { model: ManagedModel }) {
  const { status, progress, running } = model;
  const word = libraryText.status[status];
  const share = status === "loading" && progress !== null ? ` ${shareText(progress)}` : "";
  return (
    <>
      <Badge tone={tones[status]}>
        {isLoadingOrUnloading(model) && <span class="spinner" aria-hidden="true" />}
        {word}
        {share}
      </Badge>
      {running > 0 && <Badge tone="accent">{libraryText.runningNow(running)}</Badge>}
    </>
  );
}

function modelFacts(model: ManagedModel): string[] {
  const { memory_bytes: memory, kv_bits_k: keys, kv_bits_v: values, last_used_at: used } = model;
  return [
    ...(model.size_bytes === null ? [] : [bytesText(model.size_bytes)]),
    ...(model.quantization === null ? [] : [model.quantization]),
    ...(model.format === null ? [] : [libraryText.format[model.format]]),
    ...(model.architecture === null ? [] : [model.architecture]),
    ...(model.context_length === null ? [] : [libraryText.context(countText(model.context_length))]),
    ...(memory === null ? [] : [libraryText.inMemory(bytesText(memory))]),
    ...(memory === null || ((keys ?? 16) === 16 && (values ?? 16) === 16)
      ? []
      : [libraryText.kvBits(String(keys ?? 16), String(values ?? 16))]),
    used === null ? libraryText.neverUsed : libraryText.lastUsed(agoText(used)),
  ];
}

function Capabilities({ model: { capabilities, last_used_at: used } }: { model: ManagedModel }) {
  if (capabilities.length === 0) return null;
  return (
    <span class="model-capabilities" title={used === null ? undefined : momentText(used)}>
      {capabilities.map((capability) => (
        <Badge key={capability} title={libraryText.capabilityHint[capability]}>
          {libraryText.capability[capability]}
        </Badge>
      ))}
    </span>
  );
}

type OpenDialog = "load" | "names" | "quantize" | "settings" | null;

function ModelActions({ model }: { model: ManagedModel }) {
  const [isBusy, attempt] = useAttempt();
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const actions = modelActions(model, live.value?.jobs ?? []);
  const close = () => setDialog(null);
  if (!canManage.value) return null;
  return (
    <>
      {actions.includes("chat") && (
        <Button
          size="small"
          icon="chat"
          aria-label={libraryText.startChat(model.id)}
          onClick={() => startChat(model.id)}
        >
          {appText.chat}
        </Button>
      )}
      {actions.includes("load") && (
        <Button size="small" isBusy={isBusy} onClick={() => setDialog("load")}>
          {libraryText.loadOptions}
        </Button>
      )}
      {actions.includes("unload") && (
        <Button size="small" isBusy={isBusy} onClick={() => void unload(model, attempt)}>
          {libraryText.unload}
        </Button>
      )}
      <Menu
        icon="more"
        size="small"
        label={appText.actionsFor(model.id)}
        items={menuItems(model, actions, { attempt, open: setDialog })}
      />
      {dialog === "load" && <LoadDialog model={model} onClose={close} />}
      {dialog === "names" && <NamesDialog model={model} onClose={close} />}
      {dialog === "settings" && <SettingsDialog model={model} onClose={close} />}
      {dialog === "quantize" && <QuantizeDialog model={model} onClose={close} />}
    </>
  );
}

type Attempt = (work: () => Promise<unknown>) => Promise<boolean>;

function menuItems(
  model: ManagedModel,
  actions: readonly ModelAction[],
  { attempt, open }: { attempt: Attempt; open: (dialog: OpenDialog) => void },
): MenuItem[] {
  const pin = (pinned: boolean) => void attempt(() => client.library.pin(model.id, pinned));
  const items: Record<Exclude<ModelAction, "chat" | "load" | "unload">, MenuItem> = {
    pin: { label: libraryText.pin, icon: "pin", onSelect: () => pin(true) },
    unpin: { label: libraryText.unpin, icon: "pin", onSelect: () => pin(false) },
    quantize: { label: libraryText.quantize, icon: "archive", onSelect: () => open("quantize") },
    remove: {
      label: libraryText.remove,
      icon: "trash",
      isDangerous: true,
      onSelect: () => void remove(model, attempt),
    },
  };
  const settings: MenuItem = {
    label: libraryText.settings,
    icon: "settings",
    onSelect: () => open("settings"),
  };
  const names: MenuItem = { label: libraryText.names, icon: "edit", onSelect: () => open("names") };
  return [
    ...actions.filter((action) => action === "pin" || action === "unpin").map((action) => items[action]),
    settings,
    names,
    ...actions
      .filter((action) => action === "quantize" || action === "remove")
      .map((action) => items[action]),
  ];
}

/** Opens a new chat with this model. */
function startChat(model: string): void {
  draft.value = { ...currentDraft.value, models: [model] };
  navigate(linkTo("chat"));
}

/** Asks first if requests are in flight; the server finishes them before it unloads. */
async function unload(model: ManagedModel, attempt: Attempt): Promise<void> {
  if (model.running > 0) {
    const question = {
      title: libraryText.unloadTitle(model.id),
      text: libraryText.unloadText(model.running),
      action: libraryText.unload,
    };
    if (!(await ask(question))) return;
  }
  await attempt(() => client.library.unload(model.id, { wait: false }));
}

async function remove(model: ManagedModel, attempt: Attempt): Promise<void> {
  const isSure = await ask({
    title: libraryText.removeTitle(model.id),
    text: model.imported
      ? libraryText.removeTextImported
      : model.size_bytes === null
        ? libraryText.removeTextUnknown
        : libraryText.removeText(bytesText(model.size_bytes)),
    action: libraryText.removeAction,
    isDangerous: true,
  });
  if (!isSure) return;
  await attempt(async () => {
    const { freed_bytes: freed } = await client.library.remove(model.id);
    const message =
      freed > 0 ? libraryText.removed(model.id, bytesText(freed)) : libraryText.removedOnly(model.id);
    showToast({ text: message, tone: "good" });
  });
}
