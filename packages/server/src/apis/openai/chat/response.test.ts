import { scriptedModel } from "../../../../test/harness/scripted-model.ts";
import type { Script } from "@ingle/fixtures/scripted-addon";
import { ChatCompletionChunk } from "@ingle/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StreamOptions } from "../../../generation/choice-chunks.ts";
import { toChunks } from "./response.ts";

const head = { id: "chatcmpl-1", created: 7, model: "m", system_fingerprint: "f" };

async function events(script: Script, options: Partial<StreamOptions> = {}): Promise<string[]> {
  const { model } = await scriptedModel(script);
  const generation = model.generate({ messages: [{ role: "user", content: "Hi" }] });
  const seen: string[] = [];
  const shown = { hasLogprobs: true, hasTokens: false };
  const all = { includeUsage: false, timingsPerToken: false, ...shown, ...options };
  for await (const event of toChunks(head, [generation], all)) seen.push(event);
  return seen;
}

function parse(event: string): ChatCompletionChunk {
  expect(event).toMatch(/^data: \{[^\n]*\}\n\n$/);
  return JSON.parse(event.slice(6));
}

describe("toChunks", () => {
  it("opens with the role, closes with the reason, and ends with [DONE]", async () => {
    const seen = await events({ pieces: ["Hel", "lo"] });
    expect(seen.pop()).toBe("data: [DONE]\n\n");
    const chunks = seen.map(parse);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta)).toEqual([
      { role: "assistant", content: null },
      { content: "Hel" },
      { content: "lo" },
      {},
    ]);
    expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason)).toEqual([null, null, null, "stop"]);
  });

  it("writes chunks of the published schema, all with the same head", async () => {
    const seen = await events({}, { includeUsage: true });
    for (const event of seen.slice(0, -1)) {
      const chunk = ChatCompletionChunk.parse(parse(event));
      expect(chunk).toMatchObject({ ...head, object: "chat.completion.chunk" });
    }
  });

  it("adds one chunk without choices but with the usage, only when asked", async () => {
    const isUsage = (event: string): boolean => event.includes('"choices":[]');
    expect((await events({})).some(isUsage)).toBe(false);
    const asked = (await events({ pieces: ["a", "b"] }, { includeUsage: true })).filter(isUsage);
    expect(asked.map((event) => parse(event).usage?.completion_tokens)).toEqual([2]);
  });

  it("tells in the last chunk how many tokens were guessed, and nothing where none were", async () => {
    const last = async (script: Script): Promise<ChatCompletionChunk["timings"]> =>
      parse((await events(script)).at(-2) ?? "").timings;
    expect(await last({ drafts: { drafted: 9, accepted: 7 } })).toMatchObject({
      draft_n: 9,
      draft_n_accepted: 7,
    });
    expect(await last({})).not.toHaveProperty("draft_n");
  });

  it("counts tokens and time so far in each chunk with timings_per_token", async () => {
    let clock = 0;
    const seen = await events(
      { pieces: ["a", "b", "c"] },
      { timingsPerToken: true, now: () => (clock += 5) },
    );
    const timings = seen.slice(1, 4).map((event) => parse(event).timings);
    expect(timings.map((timing) => timing?.predicted_n)).toEqual([1, 2, 3]);
    expect(timings[2]?.predicted_ms).toBeGreaterThan(0);
  });

  it("is whole for a reply without text", async () => {
    const seen = await events({ pieces: [] });
    expect(seen).toHaveLength(3);
    expect(parse(seen[0]!).choices[0]?.delta.role).toBe("assistant");
  });

  it("keeps every text as it is, whatever characters it has", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: "grapheme", minLength: 1 }), { maxLength: 5 }),
        async (pieces) => {
          const seen = await events({ pieces });
          const text = seen.slice(1, -2).map((event) => parse(event).choices[0]?.delta.content);
          expect(text).toEqual(pieces);
        },
      ),
      { numRuns: 30 },
    );
  });
});
