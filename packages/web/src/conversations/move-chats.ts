// Moves the chats that a browser has kept by itself to the app. A chat is removed from the browser once the app has all of it, so that a
// move that was interrupted goes on at the next start.
import type { AppStorage } from "./app-storage.ts";
import type { BrowserStorage } from "./browser-storage.ts";
import type { Conversation } from "./conversation.ts";

interface MoveOptions {
  from: BrowserStorage;
  to: AppStorage;
  /** Called after each chat. */
  onMoved: (conversation: Conversation) => void;
}

/** Resolves with the number of moved chats, without deleted ones. */
export async function moveChats({ from, to, onMoved }: MoveOptions): Promise<number> {
  const { conversations, folders, presets } = await from.all();
  for (const folder of folders) {
    await to.adoptFolder(folder);
    await from.removeFolder(folder.id);
  }
  const hasDefault = (await to.all()).presets.some(({ isDefault }) => isDefault);
  for (const preset of presets) {
    await to.adoptPreset(hasDefault ? { ...preset, isDefault: false } : preset);
    await from.removePreset(preset.id);
  }
  let count = 0;
  for (const conversation of conversations) {
    const { id } = conversation;
    await to.adopt(conversation, await from.readMessages(id), await from.readFiles(id));
    await from.purge(id);
    if (conversation.deletedAt !== null) continue;
    count += 1;
    onMoved(conversation);
  }
  return count;
}

/** Whether there is anything to move. */
export async function hasChats(storage: BrowserStorage): Promise<boolean> {
  const { conversations, folders, presets } = await storage.all();
  return conversations.length + folders.length + presets.length > 0;
}
