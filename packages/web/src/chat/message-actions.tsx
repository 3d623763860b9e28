// Actions of both kinds of messages: stepping through versions, retrying with another model, and deleting.
import { openChat } from "../conversations/chat-store.ts";
import type { Message } from "../conversations/conversation.ts";
import { chooseMessage, pruneBranch } from "../conversations/chat-changes.ts";
import { collectBranch } from "../conversations/message-tree.ts";
import { IconButton } from "../design/button.tsx";
import { Menu, type MenuItem } from "../design/menu.tsx";
import { showToast } from "../design/toast.tsx";
import { retryReply, stopReplies } from "../replies/request-replies.ts";
import { appText } from "../strings/app.ts";
import { chatText } from "../strings/chat.ts";
import { chatModels } from "../conversations/current-chat.ts";

export function SiblingSwitch({ message, siblings }: { message: Message; siblings: readonly Message[] }) {
  if (siblings.length < 2) return null;
  const at = siblings.findIndex(({ id }) => id === message.id);
  const choose = (step: number) => {
    const sibling = siblings[at + step];
    if (sibling !== undefined) void chooseMessage(message.conversationId, sibling.id);
  };
  return (
    <span class="sibling-switch" role="group" aria-label={chatText.sibling(at + 1, siblings.length)}>
      <IconButton
        icon="chevronLeft"
        size="small"
        label={chatText.previousSibling}
        disabled={at <= 0}
        onClick={() => choose(-1)}
      />
      <span class="figures" aria-hidden="true">
        {at + 1} / {siblings.length}
      </span>
      <IconButton
        icon="chevronRight"
        size="small"
        label={chatText.nextSibling}
        disabled={at === siblings.length - 1}
        onClick={() => choose(1)}
      />
    </span>
  );
}

export function MessageMenu({ message }: { message: Message }) {
  return <Menu label={chatText.messageMenu} icon="more" size="small" items={() => messageActions(message)} />;
}

function messageActions(message: Message): MenuItem[] {
  const others =
    message.role === "assistant" ? chatModels.value.filter(({ id }) => id !== message.reply.model) : [];
  return [
    ...others.map(({ id }): MenuItem => ({
      label: chatText.retryModel(id),
      icon: "retry",
      onSelect: () => message.role === "assistant" && void retryReply(message, id),
    })),
    { label: chatText.prune, icon: "trash", isDangerous: true, onSelect: () => void prune(message) },
  ];
}

/** Deletes a message and all below it; the toast offers to undo it. */
export async function prune(message: Message): Promise<void> {
  const branch = openChat.value === null ? [] : collectBranch(openChat.value.tree, message.id);
  stopReplies(branch);
  const restore = await pruneBranch(message.conversationId, message.id);
  showToast({
    text: chatText.pruned(branch.length),
    action: { label: appText.undo, onAction: () => void restore() },
  });
}
