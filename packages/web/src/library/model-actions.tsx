// The buttons of an installed model, with a menu for the rarer actions.
import type { ManagedModel } from "@ingle/protocol";
import { useState } from "preact/hooks";

import { go, linkTo } from "../app/router.ts";
import { currentDraft, draft } from "../chats/chat-changes.ts";
import { useAttempt } from "../connection/attempt.ts";
import { canManage, client } from "../connection/client.ts";
import { live } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { Menu, type MenuItem } from "../design/menu.tsx";
import { ask } from "../design/question.tsx";
import { showToast } from "../design/toast.tsx";
import { bytesText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
import { LoadDialog } from "./load-dialog.tsx";
import { actionsOf, type ModelAction } from "./model-view.ts";
import { NamesDialog, QuantizeDialog } from "./model-dialogs.tsx";

type OpenDialog = "load" | "names" | "quantize" | null;

export function ModelActions({ model }: { model: ManagedModel }) {
  const text = strings.value.library;
  const [isBusy, attempt] = useAttempt();
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const actions = actionsOf(model, live.value?.jobs ?? []);
  const close = () => setDialog(null);
  if (!canManage.value) return null;
  return (
    <>
      {actions.includes("chat") && (
        <Button
          size="small"
          icon="chat"
          aria-label={text.chatWith(model.id)}
          onClick={() => chatWith(model.id)}
        >
          {text.chat}
        </Button>
      )}
      {actions.includes("load") && (
        <Button size="small" isBusy={isBusy} onClick={() => setDialog("load")}>
          {text.loadOptions}
        </Button>
      )}
      {actions.includes("unload") && (
        <Button size="small" isBusy={isBusy} onClick={() => void unload(model, attempt)}>
          {text.unload}
        </Button>
      )}
      <Menu
        icon="more"
        size="small"
        label={text.more(model.id)}
        items={menuItems(model, actions, { attempt, open: setDialog })}
      />
      {dialog === "load" && <LoadDialog model={model} onClose={close} />}
      {dialog === "names" && <NamesDialog model={model} onClose={close} />}
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
  const text = strings.value.library;
  const pin = (pinned: boolean) => void attempt(() => client.library.pin(model.id, pinned));
  const items: Record<Exclude<ModelAction, "chat" | "load" | "unload">, MenuItem> = {
    pin: { label: text.pin, icon: "pin", onSelect: () => pin(true) },
    unpin: { label: text.unpin, icon: "pin", onSelect: () => pin(false) },
    quantize: { label: text.quantize, icon: "archive", onSelect: () => open("quantize") },
    remove: {
      label: text.remove,
      icon: "trash",
      isDangerous: true,
      onSelect: () => void remove(model, attempt),
    },
  };
  const names: MenuItem = { label: text.names, icon: "edit", onSelect: () => open("names") };
  return [
    ...actions.filter((action) => action === "pin" || action === "unpin").map((action) => items[action]),
    names,
    ...actions
      .filter((action) => action === "quantize" || action === "remove")
      .map((action) => items[action]),
  ];
}

/** Opens a new chat with this model. */
function chatWith(model: string): void {
  draft.value = { ...currentDraft.value, models: [model] };
  go(linkTo("chat"));
}

/** Asks first if requests are in flight; the server finishes them before it unloads. */
async function unload(model: ManagedModel, attempt: Attempt): Promise<void> {
  const text = strings.value.library;
  if (model.running > 0) {
    const question = {
      title: text.unloadTitle(model.id),
      text: text.unloadText(model.running),
      action: text.unload,
    };
    if (!(await ask(question))) return;
  }
  await attempt(() => client.library.unload(model.id, { wait: false }));
}

async function remove(model: ManagedModel, attempt: Attempt): Promise<void> {
  const text = strings.value.library;
  const isSure = await ask({
    title: text.removeTitle(model.id),
    text: model.size_bytes === null ? text.removeTextUnknown : text.removeText(bytesText(model.size_bytes)),
    action: text.removeAction,
    isDangerous: true,
  });
  if (!isSure) return;
  await attempt(async () => {
    const { freed_bytes: freed } = await client.library.remove(model.id);
    const message = freed > 0 ? text.removed(model.id, bytesText(freed)) : text.removedOnly(model.id);
    showToast({ text: message, tone: "good" });
  });
}
