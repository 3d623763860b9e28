// A conversation as a tree: an edit or another try makes a sibling, and of the siblings one is chosen. Pure; messages are
// told from each other by their ids alone.
//
//   (root) ── question ─┬─ answer            chosen: root → question', question' → answer'
//          └─ question' ─┬─ answer
//                        └─ answer'          path: question', answer'

/** What the tree has to know of a message. */
export interface TreeNode {
  readonly id: string;
  /** The message that it follows; null for a first one. */
  readonly parentId: string | null;
}

export interface MessageTree<Node extends TreeNode> {
  readonly nodes: ReadonlyMap<string, Node>;
  /** Ids of those that follow a message, in the order of their making; of the first ones under `rootKey`. */
  readonly children: ReadonlyMap<string, readonly string[]>;
  /** Which of them is on the path. A message without an entry goes on with its last one. */
  readonly chosen: ReadonlyMap<string, string>;
}

/** Stands for the place above the first messages: ids are never empty. */
export const rootKey = "";

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

/** The messages from the first to the last along the choices: what is shown, and what a model is told. */
export function linearPath<Node extends TreeNode>(tree: MessageTree<Node>): Node[] {
  const path: Node[] = [];
  for (let next = chosenChild(tree, rootKey); next !== undefined; next = chosenChild(tree, next.id))
    path.push(next);
  return path;
}

/** The messages above this one and itself, from the first on. Empty when it is not there. */
export function pathTo<Node extends TreeNode>(tree: MessageTree<Node>, id: string): Node[] {
  const path: Node[] = [];
  for (let node = tree.nodes.get(id); node !== undefined; node = tree.nodes.get(node.parentId ?? rootKey))
    path.push(node);
  return path.toReversed();
}

/** The message and those beside it, in the order of their making. */
export function siblingsOf<Node extends TreeNode>(tree: MessageTree<Node>, id: string): Node[] {
  const node = tree.nodes.get(id);
  return node === undefined ? [] : childrenOf(tree, node.parentId);
}

/** Those that follow a message; null asks for the first ones. */
export function childrenOf<Node extends TreeNode>(tree: MessageTree<Node>, id: string | null): Node[] {
  return (tree.children.get(id ?? rootKey) ?? []).flatMap((child) => tree.nodes.get(child) ?? []);
}

/** Adds a message, which is chosen then, or puts a newer state of one in its place, which changes no choice. */
export function withNode<Node extends TreeNode>(tree: MessageTree<Node>, node: Node): MessageTree<Node> {
  const nodes = new Map(tree.nodes).set(node.id, node);
  if (tree.nodes.has(node.id)) return { ...tree, nodes };
  const key = node.parentId ?? rootKey;
  const children = new Map(tree.children).set(key, [...(tree.children.get(key) ?? []), node.id]);
  return withChosen({ nodes, children, chosen: tree.chosen }, node.id);
}

/** Puts a message on the path, with everything above it. What is below keeps its choices. */
export function withChosen<Node extends TreeNode>(tree: MessageTree<Node>, id: string): MessageTree<Node> {
  const chosen = new Map(tree.chosen);
  for (const node of pathTo(tree, id)) chosen.set(node.parentId ?? rootKey, node.id);
  return { ...tree, chosen };
}

/** Takes out a message and all below it. The sibling before it is chosen then, or else the one behind it. */
export function withoutBranch<Node extends TreeNode>(
  tree: MessageTree<Node>,
  id: string,
): { tree: MessageTree<Node>; removed: Node[] } {
  const node = tree.nodes.get(id);
  if (node === undefined) return { tree, removed: [] };
  const removed = branchOf(tree, id);
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

/** A message and all below it, each before those that follow it. */
export function branchOf<Node extends TreeNode>(tree: MessageTree<Node>, id: string): Node[] {
  const node = tree.nodes.get(id);
  if (node === undefined) return [];
  const branch = [node];
  // The list grows while it is walked: everything that follows comes behind what it follows.
  for (const { id: parent } of branch) branch.push(...childrenOf(tree, parent));
  return branch;
}

/** The choices in the form in which they are kept. */
export function choicesOf(tree: MessageTree<TreeNode>): Record<string, string> {
  return Object.fromEntries(tree.chosen);
}

function chosenChild<Node extends TreeNode>(tree: MessageTree<Node>, key: string): Node | undefined {
  const siblings = tree.children.get(key) ?? [];
  const wanted = tree.chosen.get(key);
  // The choice may be of a message that another tab has removed.
  const id = wanted !== undefined && siblings.includes(wanted) ? wanted : siblings.at(-1);
  return id === undefined ? undefined : tree.nodes.get(id);
}
