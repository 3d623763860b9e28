import { describe, expect, it } from "vitest";

import { exampleReplyMessage } from "../../test/examples.ts";
import type { Message } from "../conversations/conversation.ts";
import { countLeftOut } from "./rolling-context.ts";

const perMessage = 100;

/** Questions and replies in turn, ending with a question; the reply at `cutAt` was written without the first `cut` messages. */
function makePath(length: number, { cutAt, cut }: { cutAt?: number; cut?: number } = {}): Message[] {
  return Array.from({ length }, (_nothing, at): Message => {
    const place = {
      id: `${at}`,
      conversationId: "c",
      parentId: at === 0 ? null : `${at - 1}`,
      createdAt: at,
    };
    if (at % 2 === 0) return { ...place, role: "user", text: "?", attachments: [] };
    return exampleReplyMessage(place, at === cutAt && cut !== undefined ? { leftOut: cut } : {});
  });
}

function withCount(path: readonly Message[], contextLength: number, maxTokens: number | null = null) {
  let counted = 0;
  const count = async (messages: readonly Message[]) => {
    counted += 1;
    return 50 + messages.length * perMessage;
  };
  return { leftOut: countLeftOut({ path, count, contextLength, maxTokens }), counted: () => counted };
}

describe("countLeftOut", () => {
  it("leaves nothing out if all fits", async () => {
    const { leftOut, counted } = withCount(makePath(5), 1_000);
    expect(await leftOut).toBe(0);
    expect(counted()).toBe(1);
  });

  it("cuts at a question, and leaves space for the reply and the next turns", async () => {
    // 51 messages have 5,150 tokens; three quarters of 4,096, less 1,024 for the reply, are 2,048: 19 messages.
    expect(await withCount(makePath(51), 4_096).leftOut).toBe(32);
    expect(await withCount(makePath(51), 4_096, 100).leftOut).toBe(22);
  });

  it("cuts where it has cut before, while that fits", async () => {
    const path = makePath(55, { cutAt: 51, cut: 32 });
    expect(await withCount(path, 4_096).leftOut).toBe(32);
    expect(await withCount(makePath(81, { cutAt: 51, cut: 32 }), 4_096).leftOut).toBe(62);
  });

  it("keeps the last question, even if that alone is too long", async () => {
    expect(await withCount(makePath(9), 100).leftOut).toBe(8);
    expect(await withCount(makePath(1), 100).leftOut).toBe(0);
  });

  it("counts few times", async () => {
    const { leftOut, counted } = withCount(makePath(2_001), 4_096);
    expect(await leftOut).toBe(1_982);
    expect(counted()).toBeLessThan(12);
  });
});
