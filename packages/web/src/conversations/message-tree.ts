// A conversation as a tree: an edit or a retry adds a sibling, and one of the siblings is chosen. Pure.
//
//   (root) ── question ─┬─ answer            chosen: root → question', question' → answer'
//          └─ question' ─┬─ answer
//                        └─ answer'          path: question', answer'

/** The part of a message that the tree needs. */
export interface TreeNode {
  readonly id: string;
  /** The message above; null for a first message. */
  readonly parentId: string | null;
}

export interface MessageTree<Node extends TreeNode> {
  readonly nodes: ReadonlyMap<string, Node>;
  /** Ids of the messages below each message, the oldest first. First messages are under `rootKey`. */
  readonly children: ReadonlyMap<string, readonly string[]>;
  /** Which of them is on the path. Without an entry, it is the last one. */
  readonly chosen: ReadonlyMap<string, string>;
}

/** The key of the place above the first messages; ids are never empty. */
const rootKey = "";

export function makeTree<Node extends TreeNode>(
  nodes: readonly Node[],
  chosen: Readonly<Record<string, string>> = {},
): MessageTree<Node> {
  const children = new Map<string, string[]>();
  for (const { id, parentId } of nodes) {
    const key = parentId ?? rootKey;
    const siblings = children.get(key);
    if (siblings === undefined) children.set(key, [id]);
    else siblings.push(id);
  }
  return {
    nodes: new Map(nodes.map((node) => [node.id, node])),
    children,
    chosen: new Map(Object.entries(chosen)),
  };
}

/** The chosen messages from the first to the last: what the page shows and a model reads. */
export function linearPath<Node extends TreeNode>(tree: MessageTree<Node>): Node[] {
  const path: Node[] = [];
  for (let next = chosenChild(tree, rootKey); next !== undefined; next = chosenChild(tree, next.id))
    path.push(next);
  return path;
}

/** The messages from the first down to this one; empty if it does not exist. */
export function pathTo<Node extends TreeNode>(tree: MessageTree<Node>, id: string): Node[] {
  const path: Node[] = [];
  for (let node = tree.nodes.get(id); node !== undefined; node = tree.nodes.get(node.parentId ?? rootKey))
    path.push(node);
  return path.toReversed();
}

/** The message and its siblings, the oldest first. */
export function findSiblings<Node extends TreeNode>(tree: MessageTree<Node>, id: string): Node[] {
  const node = tree.nodes.get(id);
  return node === undefined ? [] : findChildren(tree, node.parentId);
}

/** The messages below a message; `null` returns the first messages. */
export function findChildren<Node extends TreeNode>(tree: MessageTree<Node>, id: string | null): Node[] {
  return (tree.children.get(id ?? rootKey) ?? []).flatMap((child) => tree.nodes.get(child) ?? []);
}

/** Adds a message and chooses it, or replaces a message without changing any choice. */
export function withNode<Node extends TreeNode>(tree: MessageTree<Node>, node: Node): MessageTree<Node> {
  const nodes = new Map(tree.nodes).set(node.id, node);
  if (tree.nodes.has(node.id)) return { ...tree, nodes };
  const key = node.parentId ?? rootKey;
  const children = new Map(tree.children).set(key, [...(tree.children.get(key) ?? []), node.id]);
  return withChosen({ nodes, children, chosen: tree.chosen }, node.id);
}

/** Puts a message and everything above it on the path. The choices below it stay. */
export function withChosen<Node extends TreeNode>(tree: MessageTree<Node>, id: string): MessageTree<Node> {
  const chosen = new Map(tree.chosen);
  for (const node of pathTo(tree, id)) chosen.set(node.parentId ?? rootKey, node.id);
  return { ...tree, chosen };
}

/** Removes a message and all below it. Its previous sibling is chosen in its place, or else the next one. */
export function withoutBranch<Node extends TreeNode>(
  tree: MessageTree<Node>,
  id: string,
): { tree: MessageTree<Node>; removed: Node[] } {
  const node = tree.nodes.get(id);
  if (node === undefined) return { tree, removed: [] };
  const removed = collectBranch(tree, id);
  const nodes = new Map(tree.nodes);
  const children = new Map(tree.children);
  const chosen = new Map(tree.chosen);
  for (const gone of removed) {
    nodes.delete(gone.id);
    children.delete(gone.id);
    chosen.delete(gone.id);
  }
  const key = node.parentId ?? rootKey;
  const siblings = tree.children.get(key) ?? [];
  const left = siblings.filter((sibling) => sibling !== id);
  if (left.length === 0) children.delete(key);
  else children.set(key, left);
  if (tree.chosen.get(key) === id) {
    const neighbour = left[Math.max(0, siblings.indexOf(id) - 1)];
    if (neighbour === undefined) chosen.delete(key);
    else chosen.set(key, neighbour);
  }
  return { tree: { nodes, children, chosen }, removed };
}

/** A message and all below it, parents first. */
export function collectBranch<Node extends TreeNode>(tree: MessageTree<Node>, id: string): Node[] {
  const node = tree.nodes.get(id);
  if (node === undefined) return [];
  const branch = [node];
  // The loop also visits what it appends.
  for (const { id: parent } of branch) branch.push(...findChildren(tree, parent));
  return branch;
}

/** The choices as they are stored in `Conversation.chosen`. */
export function toStoredChoices(tree: MessageTree<TreeNode>): Record<string, string> {
  return Object.fromEntries(tree.chosen);
}

function chosenChild<Node extends TreeNode>(tree: MessageTree<Node>, key: string): Node | undefined {
  const siblings = tree.children.get(key) ?? [];
  const wanted = tree.chosen.get(key);
  // The choice may be of a message that another tab has removed.
  const id = wanted !== undefined && siblings.includes(wanted) ? wanted : siblings.at(-1);
  return id === undefined ? undefined : tree.nodes.get(id);
}
