// A folder in the list of conversations, with its menu. A click opens or closes it.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";

import { removeFolder, renameFolder } from "../chats/chat-changes.ts";
import type { Row } from "../chats/conversation-rows.ts";
import { Icon } from "../design/icon.tsx";
import { Menu } from "../design/menu.tsx";
import { strings } from "../strings/strings.ts";
import { NameInput } from "./name-input.tsx";

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
  const text = strings.value.chat;
  const { folder, count, isOpen } = row;
  if (isRenaming) {
    return (
      <NameInput
        label={text.folderName}
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
        aria-label={text.openFolder(folder.name, count)}
        onClick={() => toggle(folder.id)}
      >
        <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={16} />
        <Icon name="folder" size={18} />
        <span class="row-title">{folder.name}</span>
        <span class="folder-count figures">{count}</span>
      </button>
      <Menu
        label={text.folderMenu(folder.name)}
        icon="more"
        size="small"
        items={[
          { label: text.rename, icon: "edit", onSelect: () => setRenaming(true) },
          { label: text.removeFolder, icon: "trash", onSelect: () => void removeFolder(folder.id) },
        ]}
      />
    </div>
  );
}
