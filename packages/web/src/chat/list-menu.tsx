// What concerns all conversations: folders, export and import, the list of shortcuts.
import { useRef } from "preact/hooks";

import { addFolder } from "../chats/chat-changes.ts";
import { folders } from "../chats/chat-store.ts";
import { Menu } from "../design/menu.tsx";
import { strings } from "../strings/strings.ts";
import { importFile, saveAllChats } from "./chat-files.ts";
import { shortcutsAreOpen } from "./ui-state.ts";

export function ListMenu() {
  const text = strings.value.chat;
  const file = useRef<HTMLInputElement>(null);
  const chosen = (input: HTMLInputElement) => {
    const [first] = input.files ?? [];
    if (first !== undefined) void importFile(first);
    input.value = "";
  };
  return (
    <>
      <Menu
        label={text.listMenu}
        icon="more"
        items={[
          { label: text.newFolder, icon: "folder", onSelect: () => void addFolder(freeName(text.newFolder)) },
          { label: text.exportAll, icon: "download", onSelect: () => void saveAllChats() },
          { label: text.importChats, icon: "upload", onSelect: () => file.current?.click() },
          { label: text.shortcuts, icon: "keyboard", onSelect: () => (shortcutsAreOpen.value = true) },
        ]}
      />
      <input
        ref={file}
        type="file"
        hidden
        accept="application/json,.json"
        aria-label={text.importChats}
        onChange={(event) => chosen(event.currentTarget)}
      />
    </>
  );
}

/** The name, or with a number behind it where it is taken. */
function freeName(name: string): string {
  const taken = new Set(folders.value.map((folder) => folder.name));
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name} ${number}`;
  return free;
}
