// Adds messages to a conversation, chooses among siblings, and prunes and restores branches.
import { chatStorage, openChat, showTree } from "./chat-store.ts";
import { changeConversation } from "./chat-changes.ts";
import { attachmentsOf } from "./chat-storage.ts";
import type { Message, StoredFile } from "./conversation.ts";
import { choicesOf, withChosen, withNode, withoutBranch } from "./message-tree.ts";

/** Adds messages below their parents and puts them on the path. Of several siblings, the first is chosen. */
export async function addMessages(
  conversationId: string,
  messages: readonly Message[],
  files: readonly StoredFile[] = [],
): Promise<void> {
  await (await chatStorage()).addMessages(conversationId, messages, files);
  showTree(conversationId, (tree) => messages.reduce(withNode, tree));
  const firsts = messages.filter(
    (message, at) => messages.findIndex(({ parentId }) => parentId === message.parentId) === at,
  );
  await chooseAll(
    conversationId,
    firsts.map(({ id }) => id),
  );
}

/** Puts a message on the path. */
export async function chooseMessage(conversationId: string, id: string): Promise<void> {
  await chooseAll(conversationId, [id]);
}

async function chooseAll(conversationId: string, ids: readonly string[]): Promise<void> {
  showTree(conversationId, (tree) => ids.reduce(withChosen, tree));
  await saveChoices(conversationId);
}

/** Removes a message and all below it. Resolves with a function that restores them. */
export async function pruneBranch(conversationId: string, id: string): Promise<() => Promise<void>> {
  const storage = await chatStorage();
  const chat = openChat.value;
  if (chat?.id !== conversationId) return async () => {};
  const { tree, removed } = withoutBranch(chat.tree, id);
  const ids = new Set(
    removed.flatMap((message) => attachmentsOf(message)).map((attachment) => attachment.id),
  );
  const files =
    ids.size === 0 ? [] : (await storage.filesOf(conversationId)).filter((file) => ids.has(file.id));
  showTree(conversationId, () => tree);
  await storage.removeMessages(conversationId, removed);
  await saveChoices(conversationId);
  return () => addMessages(conversationId, removed, files);
}

async function saveChoices(conversationId: string): Promise<void> {
  const chat = openChat.value;
  if (chat?.id !== conversationId) return;
  const chosen = choicesOf(chat.tree);
  await changeConversation(conversationId, (before) => ({ ...before, chosen }));
}
