// The whole tree of a conversation: every version of every message, to continue from or to delete.
import { openChat, openPath } from "../conversations/chat-store.ts";
import type { Message } from "../conversations/conversation.ts";
import { chooseMessage } from "../conversations/chat-changes.ts";
import { findChildren, type MessageTree } from "../conversations/message-tree.ts";
import { toTitle } from "../conversations/conversation-text.ts";
import { Badge } from "../design/indicators.tsx";
import { IconButton } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { chatText } from "../strings/chat.ts";
import { prune } from "./message-actions.tsx";
import { treeIsOpen } from "../conversations/current-chat.ts";

import "./chat-dialogs.css";

export function TreeDialog() {
  const chat = openChat.value;
  const close = () => (treeIsOpen.value = false);
  if (!treeIsOpen.value || chat === null) return null;
  return (
    <Dialog title={chatText.tree} size="wide" onClose={close}>
      <p class="small soft">{chatText.treeHint}</p>
      <Branch tree={chat.tree} from={null} onChosen={close} />
    </Dialog>
  );
}

interface BranchProps {
  tree: MessageTree<Message>;
  /** Shows the messages below this one; null for the first messages. */
  from: string | null;
  onChosen: () => void;
}

/** A chain without forks is one list; each fork adds a level. */
function Branch({ tree, from, onChosen }: BranchProps) {
  const chain: Message[] = [];
  let next = findChildren(tree, from);
  while (next.length === 1 && next[0] !== undefined) {
    chain.push(next[0]);
    next = findChildren(tree, next[0].id);
  }
  return (
    <ul class="tree">
      {chain.map((message) => (
        <li key={message.id}>
          <TreeNode message={message} onChosen={onChosen} />
        </li>
      ))}
      {next.map((message) => (
        <li key={message.id} class="fork">
          <TreeNode message={message} onChosen={onChosen} />
          <Branch tree={tree} from={message.id} onChosen={onChosen} />
        </li>
      ))}
    </ul>
  );
}

function TreeNode({ message, onChosen }: { message: Message; onChosen: () => void }) {
  const isShown = openPath.value.some(({ id }) => id === message.id);
  const isEnd = openPath.value.at(-1)?.id === message.id;
  const who = message.role === "user" ? chatText.you : message.reply.model;
  const title = toTitle(message.text);
  return (
    <div class={`tree-node ${isShown ? "shown" : ""}`}>
      <button
        type="button"
        onClick={() => {
          void chooseMessage(message.conversationId, message.id);
          onChosen();
        }}
      >
        <span class="tree-who">{who}</span>
        <span class="row-title">{title === "" ? "…" : title}</span>
        {isEnd && <Badge tone="accent">{chatText.treeHere}</Badge>}
      </button>
      <IconButton icon="trash" size="small" label={chatText.treeDelete} onClick={() => void prune(message)} />
    </div>
  );
}
