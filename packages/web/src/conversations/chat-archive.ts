// The export file: all chats as JSON, including their images.
import { newId } from "./chat-storage.ts";
import type { ArchivedChat, Attachment, ChatArchive, Folder, Preset } from "./conversation.ts";

export function makeArchive(
  chats: ArchivedChat[],
  folders: readonly Folder[],
  presets: readonly Preset[],
): ChatArchive {
  return { format: "ingle-chats", version: 1, chats, folders: [...folders], presets: [...presets] };
}

/** A copy with new ids, so that an import never overwrites anything. An import turns no tools on either. */
export function withNewIds({ conversation: imported, messages, images }: ArchivedChat): ArchivedChat {
  const { toolServers: _toolServers, ...conversation } = imported;
  const ids = new Map<string, string>();
  const renew = (id: string) => {
    const known = ids.get(id) ?? newId();
    ids.set(id, known);
    return known;
  };
  const id = newId();
  return {
    conversation: {
      ...conversation,
      id,
      chosen: Object.fromEntries(
        Object.entries(conversation.chosen).map(([key, child]) => [
          key === "" ? "" : renew(key),
          renew(child),
        ]),
      ),
    },
    messages: messages.map((message) => {
      const moved = {
        id: renew(message.id),
        conversationId: id,
        parentId: message.parentId === null ? null : renew(message.parentId),
      };
      if (message.role === "assistant") return { ...message, ...moved };
      const attachments = message.attachments.map((each): Attachment => ({ ...each, id: renew(each.id) }));
      return { ...message, ...moved, attachments };
    }),
    images: Object.fromEntries(Object.entries(images).map(([image, url]) => [renew(image), url])),
  };
}
