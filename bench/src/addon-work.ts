// The measurements that compare-addons.ts takes of an addon.

export interface Work {
  readonly promptTokens: number;
  readonly replyTokens: number;
}

/** By name. The prompt is nearly all prefill, the reply nearly all decoding. */
export const addonWork: Readonly<Record<string, Work>> = {
  "prompt of 256 tokens": { promptTokens: 256, replyTokens: 1 },
  "reply of 32 tokens": { promptTokens: 1, replyTokens: 32 },
};
