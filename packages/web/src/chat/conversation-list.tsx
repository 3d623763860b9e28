// The list of conversations, with its search and menu.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";

import { navigate, linkTo } from "../router.ts";
import { addFolder, draft } from "../conversations/chat-changes.ts";
import { chatStorage, conversations, folders } from "../conversations/chat-store.ts";
import { conversationRows, type Row } from "../conversations/conversation-rows.ts";
import { type FoundConversation, searchChats } from "../conversations/search.ts";
import { Button, IconButton } from "../design/button.tsx";
import { FileInput, TextInput } from "../design/field.tsx";
import { Menu } from "../design/menu.tsx";
import { attempt } from "../design/toast.tsx";
import { WindowedList } from "../design/windowed-list.tsx";
import { appText } from "../strings/app.ts";
import { chatText } from "../strings/chat.ts";
import { importText } from "../strings/imports.ts";
import { saveAllChats } from "./chat-files.ts";
import {
  closeDrawers,
  currentConversation,
  listIsOpen,
  shortcutsAreOpen,
} from "../conversations/current-chat.ts";
import { closedFolders, ConversationRow, FolderRow } from "./list-rows.tsx";

import "./conversation-list.css";

/** Waits for a pause in typing, since a search reads every message. */
const searchDelayMs = 150;

const words = signal("");

/** Whether files were chosen to be imported: only then, what reads and reports them is loaded. */
export const hasImported = signal(false);

async function importChats(files: readonly File[]): Promise<void> {
  hasImported.value = true;
  await (await import("./import-chats.ts")).importFiles(files);
}

/** Starts an empty chat. */
export function beginNewChat(): void {
  draft.value = null;
  closeDrawers();
  navigate(linkTo("chat"));
  document.querySelector<HTMLElement>("#composer-text")?.focus();
}

export function ConversationList() {
  return (
    <>
      <div class="list-head">
        <Button kind="primary" icon="plus" onClick={beginNewChat}>
          {chatText.newChat}
        </Button>
        <ListMenu />
        <span class="list-close">
          <IconButton icon="close" label={chatText.closeList} onClick={() => (listIsOpen.value = false)} />
        </span>
      </div>
      <div class="list-search">
        <TextInput
          type="search"
          id="chat-search"
          aria-label={chatText.search}
          placeholder={chatText.searchPlaceholder}
          value={words.value}
          onValue={(value) => (words.value = value)}
        />
      </div>
      {words.value.trim() === "" ? <AllConversations /> : <FoundConversations words={words.value} />}
    </>
  );
}

function AllConversations() {
  const rows = conversationRows({
    conversations: conversations.value,
    folders: folders.value,
    closedFolders: closedFolders.value,
    now: new Date(),
  });
  if (rows.length === 0) return <p class="list-note">{chatText.emptyList}</p>;
  return (
    <WindowedList
      label={chatText.list}
      rows={rows}
      rowKey={({ key }) => key}
      shownKey={currentConversation.value?.id}
    >
      {(row: Row) => {
        if (row.kind === "age") return <span class="list-age">{chatText.ages[row.age]}</span>;
        if (row.kind === "folder") return <FolderRow row={row} />;
        return <ConversationRow conversation={row.conversation} isInside={row.isInside} />;
      }}
    </WindowedList>
  );
}

function FoundConversations({ words: wanted }: { words: string }) {
  const { found, isDone } = useSearch(wanted);
  if (found.length === 0)
    return <p class="list-note">{isDone ? chatText.foundNothing : appText.searching}</p>;
  return (
    <ul class="found-list" aria-label={chatText.list}>
      {found.map(({ conversation, excerpt }) => (
        <li key={conversation.id}>
          <ConversationRow conversation={conversation} isInside={false} excerpt={excerpt} />
        </li>
      ))}
    </ul>
  );
}

function useSearch(wanted: string): { found: readonly FoundConversation[]; isDone: boolean } {
  const [result, setResult] = useState<{ found: readonly FoundConversation[]; isDone: boolean }>({
    found: [],
    isDone: false,
  });
  useEffect(() => {
    const stop = new AbortController();
    const search = async () => {
      const storage = await chatStorage();
      const found: FoundConversation[] = [];
      const options = { words: wanted, conversations: conversations.value, signal: stop.signal };
      for await (const each of searchChats({ ...options, readMessages: (id) => storage.readMessages(id) })) {
        found.push(each);
        setResult({ found: [...found], isDone: false });
      }
      if (!stop.signal.aborted) setResult({ found, isDone: true });
    };
    const timer = setTimeout(() => void search(), searchDelayMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [wanted]);
  return result;
}

function ListMenu() {
  const file = useRef<HTMLInputElement>(null);
  return (
    <>
      <Menu
        label={chatText.listMenu}
        icon="more"
        items={[
          {
            label: chatText.newFolder,
            icon: "folder",
            onSelect: () => void addFolder(freeName(chatText.newFolder)),
          },
          { label: chatText.exportAll, icon: "download", onSelect: () => void saveAllChats() },
          { label: importText.title, icon: "upload", onSelect: () => file.current?.click() },
          { label: chatText.shortcuts, icon: "keyboard", onSelect: () => (shortcutsAreOpen.value = true) },
        ]}
      />
      <FileInput
        input={file}
        label={importText.title}
        accept="application/json,.json"
        multiple
        onFiles={(files) => void attempt(() => importChats(files))}
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
