// Actions of both kinds of messages: stepping through versions, retrying with another model, and deleting.
import { openChat } from "../chats/chat-store.ts";
import type { Message } from "../chats/conversation.ts";
import { chooseMessage, pruneBranch } from "../chats/message-changes.ts";
import { branchOf } from "../chats/message-tree.ts";
import { IconButton } from "../design/button.tsx";
import { Menu, type MenuItem } from "../design/menu.tsx";
import { showToast } from "../design/toast.tsx";
import { retryReply, stopReplies } from "../replies/ask.ts";
import { strings } from "../strings/strings.ts";
import { chatModels } from "./current-chat.ts";

export function SiblingSwitch({ message, siblings }: { message: Message; siblings: readonly Message[] }) {
  if (siblings.length < 2) return null;
  const text = strings.value.chat;
  const at = siblings.findIndex(({ id }) => id === message.id);
  const choose = (step: number) => {
    const sibling = siblings[at + step];
    if (sibling !== undefined) void chooseMessage(message.conversationId, sibling.id);
  };
  return (
    <span class="sibling-switch" role="group" aria-label={text.sibling(at + 1, siblings.length)}>
      <IconButton
        icon="chevronLeft"
        size="small"
        label={text.previousSibling}
        disabled={at <= 0}
        onClick={() => choose(-1)}
      />
      <span class="figures" aria-hidden="true">
        {at + 1} / {siblings.length}
      </span>
      <IconButton
        icon="chevronRight"
        size="small"
        label={text.nextSibling}
        disabled={at === siblings.length - 1}
        onClick={() => choose(1)}
      />
    </span>
  );
}

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
