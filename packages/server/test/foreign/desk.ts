// What the tests with third-party clients share: one question, one tool and one schema, whose replies are finite even with random
// weights.
import { expect } from "vitest";
import { chatTemplate, realServer, type RealServer } from "../real-server.ts";

export const question = "What is the weather in Rome?";
export const cities = ["Rome", "Oslo"] as const;
/** The parameters of the one tool. */
export const weatherParameters = {
  type: "object" as const,
  properties: { city: { type: "string" as const, enum: [...cities] } },
  required: ["city"],
  additionalProperties: false as const,
};
export const weatherText = "Sunny, 21 degrees";

/** How many tool turns an agent of the tests takes before it replies. */
export const toolTurns = 3;

/** For agents, whose conversations grow: with a template that writes tools and their results. */
export async function agentServer(name = "Qwen-Qwen2.5-7B-Instruct"): Promise<RealServer> {
  const template = await chatTemplate(name);
  return realServer({
    fixture: { vocabulary: "qwen2", chatTemplate: template, contextLength: 8192 },
    load: { contextLength: 4096, parallel: 2 },
  });
}

/**
 * Expects that each request of a conversation found the previous one's whole prompt cached. Its last token is computed again:
 * the output of this token is the reply's first one.
 */
export function expectCachedPrompts(requests: readonly { prompt: number; cached: number }[]): void {
  expect(requests.length).toBeGreaterThan(toolTurns);
  for (const [at, { cached }] of requests.entries()) {
    const earlier = requests[at - 1]?.prompt ?? 0;
    if (earlier > 0) expect(cached).toBeGreaterThanOrEqual(earlier - 1);
  }
}

/** With ChatML's template, or another one that llama.cpp includes. */
export async function foreignServer(
  template?: string,
  options: Pick<NonNullable<Parameters<typeof realServer>[0]>, "flags"> = {},
): Promise<RealServer> {
  const own = template === undefined ? {} : { chatTemplate: await chatTemplate(template) };
  return realServer({
    fixture: { vocabulary: "qwen2", ...own },
    load: { contextLength: 2048, parallel: 4 },
    ...options,
  });
}
