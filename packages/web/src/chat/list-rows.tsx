// The rows of the list of conversations: a conversation and a folder, each with its menu.
import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { navigate, linkTo } from "../router.ts";
import {
  deleteConversation,
  moveConversation,
  removeFolder,
  renameConversation,
  renameFolder,
  restoreConversation,
} from "../conversations/chat-changes.ts";
import { folders } from "../conversations/chat-store.ts";
import type { Row } from "../conversations/conversation-rows.ts";
import type { Conversation } from "../conversations/conversation.ts";
import { Icon } from "../design/icon.tsx";
import { Menu, type MenuItem } from "../design/menu.tsx";
import { showToast } from "../design/toast.tsx";
import { appText } from "../strings/app.ts";
import { chatText } from "../strings/chat.ts";
import { saveMarkdown } from "./chat-files.ts";
import { closeDrawers, currentConversation } from "../conversations/current-chat.ts";

interface RowProps {
  conversation: Conversation;
  isInside: boolean;
  excerpt?: string | null;
}

/** Memoized, since scrolling rerenders dozens of rows. */
export function ConversationRow(props: RowProps) {
  return useMemo(() => <PlainRow {...props} />, Object.values(props));
}

function PlainRow({ conversation, isInside, excerpt = null }: RowProps) {
  const [isRenaming, setRenaming] = useState(false);
  const title = titleShown(conversation);
  if (isRenaming) {
    return (
      <NameInput
        label={chatText.newName}
        name={conversation.title}
        onName={(name) => void renameConversation(conversation.id, name)}
        onEnd={() => setRenaming(false)}
      />
    );
  }
  const isCurrent = currentConversation.value?.id === conversation.id;
  return (
    <div class={`conversation-row ${isInside ? "inside" : ""} ${isCurrent ? "current" : ""}`}>
      <a
        href={linkTo("chat", conversation.id)}
        aria-current={isCurrent ? "page" : undefined}
        title={title}
        onClick={closeDrawers}
      >
        <span class="row-title">{title}</span>
        {excerpt !== null && <span class="row-excerpt">{excerpt}</span>}
      </a>
      <Menu
        label={appText.actionsFor(title)}
        icon="more"
        size="small"
        items={conversationMenu(conversation, () => setRenaming(true))}
      />
    </div>
  );
}

function titleShown({ title }: Conversation): string {
  return title === "" ? chatText.untitled : title;
}

function conversationMenu(conversation: Conversation, rename: () => void): MenuItem[] {
  const { id, folderId } = conversation;
  const elsewhere = folders.value.filter((folder) => folder.id !== folderId);
  return [
    { label: chatText.rename, icon: "edit", onSelect: rename },
    ...elsewhere.map((folder): MenuItem => ({
      label: chatText.moveTo(folder.name),
      icon: "folder",
      onSelect: () => void moveConversation(id, folder.id),
    })),
    ...(folderId === null
      ? []
      : [
          {
            label: chatText.noFolder,
            icon: "folder" as const,
            onSelect: () => void moveConversation(id, null),
          },
        ]),
    { label: chatText.exportMarkdown, icon: "download", onSelect: () => void saveMarkdown(conversation) },
    { label: chatText.delete, icon: "trash", isDangerous: true, onSelect: () => void remove(conversation) },
  ];
}

/** Deletes a conversation; the toast offers to undo it. */
async function remove(conversation: Conversation): Promise<void> {
  const isOpen = currentConversation.value?.id === conversation.id;
  await deleteConversation(conversation.id);
  if (isOpen) navigate(linkTo("chat"), { replace: true });
  const restore = async () => {
    await restoreConversation(conversation.id);
    if (isOpen) navigate(linkTo("chat", conversation.id), { replace: true });
  };
  showToast({
    text: chatText.deleted(titleShown(conversation)),
    action: { label: appText.undo, onAction: () => void restore() },
  });
}

const closedKey = "ingle-closed-folders";

/** Ids of collapsed folders. */
export const closedFolders = signal<ReadonlySet<string>>(
  new Set((localStorage.getItem(closedKey) ?? "").split(" ").filter((id) => id !== "")),
);

function toggle(id: string): void {
  const closed = new Set(closedFolders.value);
  if (!closed.delete(id)) closed.add(id);
  closedFolders.value = closed;
  localStorage.setItem(closedKey, [...closed].join(" "));
}

export function FolderRow({ row }: { row: Extract<Row, { kind: "folder" }> }) {
  const [isRenaming, setRenaming] = useState(false);
  const { folder, count, isOpen } = row;
  if (isRenaming) {
    return (
      <NameInput
        label={chatText.folderName}
        name={folder.name}
        onName={(name) => void renameFolder(folder, name)}
        onEnd={() => setRenaming(false)}
      />
    );
  }
  return (
    <div class="folder-row">
      <button
        type="button"
        class="folder-name"
        aria-expanded={isOpen}
        aria-label={chatText.openFolder(folder.name, count)}
        onClick={() => toggle(folder.id)}
      >
        <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={16} />
        <Icon name="folder" size={18} />
        <span class="row-title">{folder.name}</span>
        <span class="folder-count figures">{count}</span>
      </button>
      <Menu
        label={chatText.folderMenu(folder.name)}
        icon="more"
        size="small"
        items={[
          { label: chatText.rename, icon: "edit", onSelect: () => setRenaming(true) },
          { label: chatText.removeFolder, icon: "trash", onSelect: () => void removeFolder(folder.id) },
        ]}
      />
    </div>
  );
}

interface NameInputProps {
  label: string;
  name: string;
  onName: (name: string) => void;
  onEnd: () => void;
}

function NameInput({ label, name, onName, onEnd }: NameInputProps) {
  const box = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);
  useEffect(() => {
    box.current?.select();
  }, []);
  const end = (isSaved: boolean) => {
    if (isOver.current) return;
    isOver.current = true;
    if (isSaved && box.current !== null) onName(box.current.value);
    onEnd();
  };
  return (
    <input
      ref={box}
      type="text"
      class="input name-input"
      aria-label={label}
      defaultValue={name}
      onBlur={() => end(true)}
      onKeyDown={(event) => {
        if (event.key === "Enter") end(true);
        if (event.key === "Escape") end(false);
        event.stopPropagation();
      }}
    />
  );
}
