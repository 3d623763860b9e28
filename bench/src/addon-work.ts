// What compare-addons.ts measures of an addon.

export interface Work {
  readonly promptTokens: number;
  readonly replyTokens: number;
}

/** By name: nearly all of a prompt, and nearly all of a reply. */
export const addonWork: Readonly<Record<string, Work>> = {
  "prompt of 256 tokens": { promptTokens: 256, replyTokens: 1 },
  "reply of 32 tokens": { promptTokens: 1, replyTokens: 32 },
};
