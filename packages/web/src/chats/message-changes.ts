// What happens to the messages of a conversation: they are added, chosen among their siblings, pruned and brought back.
import { chatStorage, openChat, showTree } from "./chat-store.ts";
import { changeConversation } from "./chat-changes.ts";
import { attachmentsOf } from "./chat-storage.ts";
import type { KeptFile, Message } from "./conversation.ts";
import { choicesOf, siblingsOf, withChosen, withNode, withoutBranch } from "./message-tree.ts";

/** Adds messages, each below the one that it names; the path goes through the first of them and what is below it. */
export async function addMessages(
  conversationId: string,
  messages: readonly Message[],
  files: readonly KeptFile[] = [],
): Promise<void> {
  await (await chatStorage()).addMessages(conversationId, messages, files);
  showTree(conversationId, (tree) => messages.reduce(withNode, tree));
  // Of answers that were added together, the first is the one that the conversation goes on with.
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
  await keepChoices(conversationId);
}

/** The sibling so many steps away; undefined at the ends. */
export function siblingAt(id: string, step: number): Message | undefined {
  const chat = openChat.value;
  if (chat === null) return undefined;
  const siblings = siblingsOf(chat.tree, id);
  return siblings[siblings.findIndex((sibling) => sibling.id === id) + step];
}

/** Removes a message and all below it. Resolves with what brings them back. */
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
  await keepChoices(conversationId);
  return () => addMessages(conversationId, removed, files);
}

async function keepChoices(conversationId: string): Promise<void> {
  const chat = openChat.value;
  if (chat?.id !== conversationId) return;
  const chosen = choicesOf(chat.tree);
  await changeConversation(conversationId, (before) => ({ ...before, chosen }));
}
