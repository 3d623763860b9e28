import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  collectBranch,
  findChildren,
  toStoredChoices,
  linearPath,
  makeTree,
  pathTo,
  findSiblings,
  withChosen,
  withNode,
  withoutBranch,
  type MessageTree,
  type TreeNode,
} from "./message-tree.ts";

const node = (id: string, parentId: string | null = null): TreeNode => ({ id, parentId });
const ids = (nodes: readonly TreeNode[]) => nodes.map(({ id }) => id).join(" ");

/** q1 ─ a1 ─ q2 ─ a2, with a second reply to q1 (b1 ─ q3) and another first question (r1). The newest are chosen. */
const grown = [
  node("q1"),
  node("a1", "q1"),
  node("q2", "a1"),
  node("a2", "q2"),
  node("b1", "q1"),
  node("q3", "b1"),
  node("r1"),
].reduce<MessageTree<TreeNode>>(withNode, makeTree<TreeNode>([]));

describe("linearPath", () => {
  it("is empty without messages", () => {
    expect(linearPath(makeTree([]))).toEqual([]);
  });

  it("follows the choices", () => {
    expect(ids(linearPath(grown))).toBe("r1");
    expect(ids(linearPath(withChosen(grown, "q1")))).toBe("q1 b1 q3");
    expect(ids(linearPath(withChosen(grown, "a1")))).toBe("q1 a1 q2 a2");
  });

  it("takes the last message if none was chosen or the choice is gone", () => {
    expect(ids(linearPath(makeTree([...grown.nodes.values()])))).toBe("r1");
    expect(ids(linearPath(makeTree([node("a"), node("b", "a"), node("c", "a")], { a: "gone" })))).toBe("a c");
  });

  it("omits messages whose parent is gone", () => {
    expect(ids(linearPath(makeTree([node("a"), node("b", "gone")])))).toBe("a");
  });
});

describe("withNode", () => {
  it("adds an edited question as a sibling and chooses it", () => {
    const tree = withNode(withChosen(grown, "a1"), node("q2b", "a1"));
    expect(ids(linearPath(tree))).toBe("q1 a1 q2b");
    expect(ids(findSiblings(tree, "q2"))).toBe("q2 q2b");
  });

  it("replaces a message without changing a choice", () => {
    const before = withChosen(grown, "a1");
    const renewed = { ...node("b1", "q1"), text: "more" };
    const tree = withNode<TreeNode>(before, renewed);
    expect(tree.nodes.get("b1")).toBe(renewed);
    expect(ids(linearPath(tree))).toBe(ids(linearPath(before)));
    expect(ids(findChildren(tree, "q1"))).toBe("a1 b1");
  });

  it("does not change the tree it is given", () => {
    const before = ids(linearPath(grown));
    withNode(grown, node("x", "r1"));
    expect(ids(linearPath(grown))).toBe(before);
    expect(grown.nodes.has("x")).toBe(false);
  });
});

describe("withChosen", () => {
  it("keeps the choices below", () => {
    const other = withChosen(withChosen(grown, "a2"), "r1");
    expect(ids(linearPath(withChosen(other, "q1")))).toBe("q1 a1 q2 a2");
  });

  it("changes nothing for an unknown message", () => {
    expect(linearPath(withChosen(grown, "gone"))).toEqual(linearPath(grown));
  });

  it("can be stored and restored", () => {
    const tree = withChosen(grown, "a2");
    const read = makeTree([...tree.nodes.values()], toStoredChoices(tree));
    expect(ids(linearPath(read))).toBe("q1 a1 q2 a2");
  });
});

describe("pathTo", () => {
  it("lists the messages above a message, chosen or not", () => {
    expect(ids(pathTo(grown, "a2"))).toBe("q1 a1 q2 a2");
    expect(ids(pathTo(grown, "r1"))).toBe("r1");
    expect(pathTo(grown, "gone")).toEqual([]);
  });
});

describe("withoutBranch", () => {
  it("removes a message with all below it", () => {
    const { tree, removed } = withoutBranch(grown, "a1");
    expect(ids(removed)).toBe("a1 q2 a2");
    expect([...tree.nodes.keys()].join(" ")).toBe("q1 b1 q3 r1");
    expect(ids(findChildren(tree, "q1"))).toBe("b1");
  });

  it("chooses the previous sibling, or else the next one", () => {
    const three = [node("q"), node("a", "q"), node("b", "q"), node("c", "q")];
    const pruned = (chosen: string) =>
      ids(linearPath(withoutBranch(makeTree(three, { q: chosen }), chosen).tree));
    expect(pruned("c")).toBe("q b");
    expect(pruned("b")).toBe("q a");
    expect(pruned("a")).toBe("q b");
  });

  it("changes no choice if the branch was not on the path", () => {
    expect(ids(linearPath(withoutBranch(grown, "q1").tree))).toBe("r1");
  });

  it("leaves nothing after removing the only branch", () => {
    const { tree } = withoutBranch(makeTree([node("a"), node("b", "a")]), "a");
    expect(tree.nodes.size + tree.children.size + tree.chosen.size).toBe(0);
  });

  it("removes nothing for an unknown message", () => {
    expect(withoutBranch(grown, "gone")).toEqual({ tree: grown, removed: [] });
  });
});

/** Each step adds below one of the messages so far, chooses one, or prunes one. */
const steps = fc.array(
  fc.record({ kind: fc.constantFrom("add", "add", "add", "choose", "prune"), at: fc.nat(1_000) }),
  { maxLength: 60 },
);

describe("any sequence of changes", () => {
  it("keeps a path from a first message to a last one, each below the one before", () => {
    fc.assert(
      fc.property(steps, (history) => {
        let tree = makeTree<TreeNode>([]);
        let made = 0;
        for (const { kind, at } of history) {
          const known = [...tree.nodes.keys()];
          const target = known.length === 0 ? undefined : known[at % known.length];
          if (kind === "add")
            tree = withNode(tree, node(`m${(made += 1)}`, at % 5 === 0 ? null : (target ?? null)));
          else if (kind === "choose" && target !== undefined) tree = withChosen(tree, target);
          else if (kind === "prune" && target !== undefined) tree = withoutBranch(tree, target).tree;
          const path = linearPath(tree);
          expect(path.map(({ parentId }) => parentId)).toEqual(
            [null, ...path.map(({ id }) => id)].slice(0, path.length),
          );
          expect(path.length === 0).toBe(tree.nodes.size === 0);
          const reachable = findChildren(tree, null).flatMap(({ id }) => collectBranch(tree, id));
          expect(reachable.length).toBe(tree.nodes.size);
        }
      }),
    );
  });
});
