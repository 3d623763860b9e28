// The chat page: conversations on the left, messages in the middle, settings on the right.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { navigate, linkTo, route } from "../router.ts";
import {
  closeConversation,
  conversations,
  openConversation,
  startChats,
  storageState,
} from "../conversations/chat-store.ts";
import { Button } from "../design/button.tsx";
import { EmptyState } from "../design/empty-state.tsx";
import { Icon } from "../design/icon.tsx";
import { useLoaded } from "../design/use-loaded.ts";
import { appText } from "../strings/app.ts";
import { chatText } from "../strings/chat.ts";
import { samplingText } from "../strings/sampling.ts";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer.tsx";
import { ConversationList, hasImported } from "./conversation-list.tsx";
import { closeDrawers, currentConversation, listIsOpen, panelIsOpen } from "../conversations/current-chat.ts";
import { attachFiles } from "./drafts.ts";
import { ShortcutsDialog, useShortcuts } from "./shortcuts-dialog.tsx";
import { Thread } from "./thread.tsx";
import { ToolsDialog } from "./tools-dialog.tsx";
import { TreeDialog } from "./tree-dialog.tsx";

import "./chat-page.css";

export function ChatPage() {
  useShortcuts();
  useEffect(() => {
    // The failure is in storageState, which the page shows.
    startChats().catch(() => undefined);
  }, []);
  useOpenConversation();
  if (typeof storageState.value === "object") {
    return <EmptyState icon="error" title={chatText.storageFailed(storageState.value.failed)} />;
  }
  return (
    <div class={`chat-page ${listIsOpen.value ? "with-list" : ""} ${panelIsOpen.value ? "with-panel" : ""}`}>
      {storageState.value === "outdated" && <Outdated />}
      <Scrim />
      <aside class={`chat-list ${listIsOpen.value ? "open" : ""}`} aria-label={chatText.list}>
        <ConversationList />
      </aside>
      <section class="chat-main" aria-label={chatText.thread}>
        <DropZone>
          <ChatHeader />
          <Thread />
          <Composer />
        </DropZone>
      </section>
      {panelIsOpen.value && (
        <aside class="chat-panel" aria-label={samplingText.panel}>
          <LoadedPanel />
        </aside>
      )}
      {hasImported.value && <LoadedImportDialog />}
      <ToolsDialog />
      <TreeDialog />
      <ShortcutsDialog />
    </div>
  );
}

/** The settings, which many chats do without: they are loaded when they are first opened. */
function LoadedPanel() {
  const Panel = useLoaded(async () => (await import("../sampling/sampling-panel.tsx")).SamplingPanel, []);
  return Panel === undefined ? null : <Panel />;
}

function LoadedImportDialog() {
  const Loaded = useLoaded(async () => (await import("./import-dialog.tsx")).ImportDialog, []);
  return Loaded === undefined ? null : <Loaded />;
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
      if (id !== undefined) navigate(linkTo("chat"), { replace: true });
    }
  }, [id, isKnown, isReady]);
}

/** The backdrop of the drawers on a narrow page: a touch on it closes them. */
function Scrim() {
  const isOver = listIsOpen.value || panelIsOpen.value;
  return isOver ? (
    <button type="button" class="scrim" tabIndex={-1} aria-label={appText.close} onClick={closeDrawers} />
  ) : null;
}

function Outdated() {
  return (
    <div class="banner" role="alert">
      <span>{chatText.storageOutdated}</span>
      <Button size="small" onClick={() => location.reload()}>
        {chatText.reload}
      </Button>
    </div>
  );
}

function DropZone({ children }: { children: ComponentChildren }) {
  const [isOver, setOver] = useState(false);
  // Every element inside fires its own enter and leave events; the pointer is outside when they balance.
  const depth = useRef(0);
  const move = (event: DragEvent, step: number) => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    depth.current = Math.max(0, depth.current + step);
    setOver(depth.current > 0);
  };
  return (
    <div
      class="drop-zone"
      role="presentation"
      onDragEnter={(event) => move(event, 1)}
      onDragLeave={(event) => move(event, -1)}
      onDragOver={(event) => move(event, 0)}
      onDrop={(event) => {
        depth.current = 0;
        setOver(false);
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        void attachFiles(currentConversation.value?.id ?? "", files);
      }}
    >
      {children}
      {isOver && (
        <div class="drop-here">
          <Icon name="upload" size={32} />
          <span>{chatText.dropHere}</span>
        </div>
      )}
    </div>
  );
}
