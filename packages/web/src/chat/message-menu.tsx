// The menu of a message: retry with another model, delete the branch.
import type { Message } from "../chats/conversation.ts";
import { pruneBranch } from "../chats/message-changes.ts";
import { openChat } from "../chats/chat-store.ts";
import { branchOf } from "../chats/message-tree.ts";
import { Menu, type MenuItem } from "../design/menu.tsx";
import { showToast } from "../design/toast.tsx";
import { retryReply, stopReplies } from "../replies/ask.ts";
import { strings } from "../strings/strings.ts";
import { chatModels } from "./current-chat.ts";

export function MessageMenu({ message }: { message: Message }) {
  const text = strings.value.chat;
  const others =
    message.role === "assistant" ? chatModels.value.filter(({ id }) => id !== message.reply.model) : [];
  return (
    <Menu
      label={text.messageMenu}
      icon="more"
      size="small"
      items={[
        ...others.map(({ id }): MenuItem => ({
          label: text.retryWith(id),
          icon: "retry",
          onSelect: () => message.role === "assistant" && void retryReply(message, id),
        })),
        { label: text.prune, icon: "trash", isDangerous: true, onSelect: () => void prune(message) },
      ]}
    />
  );
}

/** Deletes a message and all below it; the toast offers to undo it. */
export async function prune(message: Message): Promise<void> {
  const { chat, app } = strings.value;
  const branch = openChat.value === null ? [] : branchOf(openChat.value.tree, message.id);
  stopReplies(branch);
  const restore = await pruneBranch(message.conversationId, message.id);
  showToast({
    text: chat.pruned(branch.length),
    action: { label: app.undo, onAction: () => void restore() },
  });
}
