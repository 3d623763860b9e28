// Arrows to step through the versions of a message.
import type { Message } from "../chats/conversation.ts";
import { chooseMessage } from "../chats/message-changes.ts";
import { IconButton } from "../design/button.tsx";
import { strings } from "../strings/strings.ts";

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
