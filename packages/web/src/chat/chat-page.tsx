// The chat page: conversations on the left, messages in the middle, settings on the right.
import { useEffect } from "preact/hooks";

import { go, linkTo, route } from "../app/router.ts";
import {
  closeConversation,
  conversations,
  openConversation,
  startChats,
  storageState,
} from "../chats/chat-store.ts";
import { Button } from "../design/button.tsx";
import { EmptyState } from "../design/empty-state.tsx";
import { SamplingPanel } from "../sampling/sampling-panel.tsx";
import { strings } from "../strings/strings.ts";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer.tsx";
import { ConversationList } from "./conversation-list.tsx";
import { DropZone } from "./drop-zone.tsx";
import { useShortcuts } from "./shortcut-actions.ts";
import { ShortcutsDialog } from "./shortcuts-dialog.tsx";
import { Thread } from "./thread.tsx";
import { TreeDialog } from "./tree-dialog.tsx";
import { listIsOpen, panelIsOpen } from "./ui-state.ts";

import "./chat-page.css";

export function ChatPage() {
  const { chat, sampling } = strings.value;
  useShortcuts();
  useEffect(() => {
    // The failure is in storageState, which the page shows.
    startChats().catch(() => undefined);
  }, []);
  useOpenConversation();
  if (typeof storageState.value === "object") {
    return <EmptyState icon="error" title={chat.storageFailed(storageState.value.failed)} />;
  }
  return (
    <div class={`chat-page ${panelIsOpen.value ? "with-panel" : ""}`}>
      {storageState.value === "outdated" && <Outdated />}
      <Scrim />
      <aside class={`chat-list ${listIsOpen.value ? "open" : ""}`} aria-label={chat.list}>
        <ConversationList />
      </aside>
      <section class="chat-main" aria-label={chat.thread}>
        <DropZone>
          <ChatHeader />
          <Thread />
          <Composer />
        </DropZone>
      </section>
      {panelIsOpen.value && (
        <aside class="chat-panel" aria-label={sampling.panel}>
          <SamplingPanel />
        </aside>
      )}
      <TreeDialog />
      <ShortcutsDialog />
    </div>
  );
}

/** Opens the conversation that the URL names. An unknown one leads to a new chat. */
function useOpenConversation(): void {
  const [id] = route.value.parts;
  const isKnown = id !== undefined && conversations.value.some((conversation) => conversation.id === id);
  const isReady = storageState.value === "ready";
  useEffect(() => {
    if (!isReady) return;
    if (isKnown) void openConversation(id);
    else {
      closeConversation();
      if (id !== undefined) go(linkTo("chat"), { replace: true });
    }
  }, [id, isKnown, isReady]);
}

/** The backdrop of the drawers on a narrow page: a touch on it closes them. */
function Scrim() {
  const close = () => {
    listIsOpen.value = false;
    panelIsOpen.value = false;
  };
  const isOver = listIsOpen.value || panelIsOpen.value;
  return isOver ? (
    <button type="button" class="scrim" tabIndex={-1} aria-label={strings.value.app.close} onClick={close} />
  ) : null;
}

function Outdated() {
  return (
    <div class="banner" role="alert">
      <span>{strings.value.chat.storageOutdated}</span>
      <Button size="small" onClick={() => location.reload()}>
        {strings.value.chat.reload}
      </Button>
    </div>
  );
}
