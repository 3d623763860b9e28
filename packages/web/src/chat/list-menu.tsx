// The menu of the whole list: new folder, export, import, keyboard shortcuts.
import { useRef } from "preact/hooks";

import { addFolder } from "../chats/chat-changes.ts";
import { folders } from "../chats/chat-store.ts";
import { FileInput } from "../design/field.tsx";
import { Menu } from "../design/menu.tsx";
import { strings } from "../strings/strings.ts";
import { importFile, saveAllChats } from "./chat-files.ts";
import { shortcutsAreOpen } from "./ui-state.ts";

export function ListMenu() {
  const text = strings.value.chat;
  const file = useRef<HTMLInputElement>(null);
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
      <FileInput
        input={file}
        label={text.importChats}
        accept="application/json,.json"
        onFiles={([first]) => first !== undefined && void importFile(first)}
      />
    </>
  );
}

/** The name, with a number if it is taken. */
function freeName(name: string): string {
  const taken = new Set(folders.value.map((folder) => folder.name));
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name} ${number}`;
  return free;
}
