// Evaluation programs: log probabilities of prompts, as lm-evaluation-harness requests them, over a real socket.
import { promptLogprobsMax } from "@ingle/engine";
import { Completion, CompletionChunk, ErrorBody, Tokenization, type CompletionBody } from "@ingle/protocol";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  generateUntilRequest,
  loglikelihoodRequest,
  readLoglikelihoods,
  rollingWindows,
  type Continuation,
} from "./evaluation-requests.ts";
import { modelId, realServer, type RealServer } from "./real-server.ts";

const architectures = ["llama", "lfm2"] as const;

describe.each(architectures)("with a model of the architecture %s", (architecture) => {
  let server: RealServer;
  beforeAll(async () => {
    server = await realServer({ fixture: { architecture }, load: { contextLength: 512, parallel: 3 } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const post = async (path: string, body: object): Promise<Response> =>
    fetch(`${server.baseUrl}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const complete = async (body: CompletionBody): Promise<Completion> => {
    const response = await post("completions", { model: modelId, ...body });
    expect(response.status).toBe(200);
    return Completion.parse(await response.json());
  };
  const tokenIds = async (content: string, special = false): Promise<number[]> => {
    const response = await post("tokenize", { content, add_special: special });
    return Tokenization.parse(await response.json()).tokens.map(Number);
  };
  /** The log probability of a token after others: it is forced to be the reply, and reported as the model computes it. */
  const exactLogprob = async (before: number[], token: number): Promise<number> => {
    const bias = { [token]: 100 };
    const { choices } = await complete({
      prompt: [before],
      temperature: 0,
      max_tokens: 1,
      logprobs: 0,
      logit_bias: bias,
      echo: false,
    });
    return choices[0]?.logprobs?.token_logprobs[0] ?? Number.NaN;
  };
  const exactSum = async ({ context, continuation }: Continuation): Promise<number> => {
    const all = [...context, ...continuation];
    let sum = 0;
    for (let at = context.length; at < all.length; at += 1)
      sum += await exactLogprob(all.slice(0, at), all[at] ?? -1);
    return sum;
  };

  it("gives the loglikelihood of continuations", async () => {
    const context = await tokenIds("The river carried copper lanterns to the", true);
    const ends = [" sea and further.", " größer als je zuvor 🦆", " a"];
    const batch = await Promise.all(
      ends.map(async (end) => ({ context, continuation: await tokenIds(end) })),
    );
    const response = await complete(loglikelihoodRequest(modelId, batch));
    const found = readLoglikelihoods(response, batch);
    for (const [index, each] of batch.entries()) {
      expect(found[index]?.logprob).toBeCloseTo(await exactSum(each), 3);
      const { tokens = [], token_logprobs = [], top_logprobs = [] } = response.choices[index]?.logprobs ?? {};
      const count = each.context.length + each.continuation.length;
      expect([tokens.length, token_logprobs.length, top_logprobs.length]).toEqual([
        count + 1,
        count + 1,
        count + 1,
      ]);
      expect([token_logprobs[0], top_logprobs[0]]).toEqual([null, null]);
    }
    expect(found.some(({ isGreedy }) => isGreedy)).toBe(false);
  });

  it("recognizes a greedy continuation", async () => {
    const context = await tokenIds("One river", true);
    const { logprobs = [] } = await server.model.generate({
      prompt: context,
      temperature: 0,
      maxTokens: 4,
      logprobs: 0,
      ignoreEos: true,
    });
    const continuation = logprobs.map(({ id }) => id);
    const other = [...continuation.slice(0, 3), (continuation[3] ?? 0) + 1];
    const batch = [continuation, other].map((each) => ({ context, continuation: each }));
    const found = readLoglikelihoods(await complete(loglikelihoodRequest(modelId, batch)), batch);
    expect(found.map(({ isGreedy }) => isGreedy)).toEqual([true, false]);
    const sum = logprobs.reduce((all, { logprob }) => all + logprob, 0);
    expect(found[0]?.logprob).toBeCloseTo(sum, 3);
  });

  it("gives the log probabilities of a prompt without a reply", async () => {
    const prompt = await tokenIds("One river and three ducks", true);
    const batch = [{ context: prompt, continuation: [] }];
    const [{ logprobs: withReply } = { logprobs: null }] = (
      await complete(loglikelihoodRequest(modelId, batch))
    ).choices;
    const alone = await complete({ prompt: [prompt], max_tokens: 0, echo: true, logprobs: 1 });
    expect(alone.choices[0]?.logprobs?.token_logprobs).toEqual(withReply?.token_logprobs.slice(0, -1));
    expect(alone.choices[0]?.finish_reason).toBe("length");
    expect(alone.usage).toMatchObject({ prompt_tokens: prompt.length, completion_tokens: 0 });
  });

  it("gives the rolling loglikelihood of a text", async () => {
    const tokens = await tokenIds("Copper lanterns on a wide river, and three ducks. ".repeat(3));
    const [prefix = 1] = await tokenIds("", true);
    const windows = rollingWindows(tokens, prefix, 16);
    expect(windows.length).toBeGreaterThan(2);
    const found = readLoglikelihoods(await complete(loglikelihoodRequest(modelId, windows)), windows);
    for (const [index, window] of windows.slice(0, 2).entries())
      expect(found[index]?.logprob).toBeCloseTo(await exactSum(window), 3);
  });

  it("generates until a text", async () => {
    const prompts = [await tokenIds("One river", true), await tokenIds("Two lanterns in", true)];
    const free = await complete(generateUntilRequest(modelId, prompts, { until: ["\u0000"], maxTokens: 12 }));
    const until = (free.choices[0]?.text ?? "").slice(5, 7);
    const cut = await complete(generateUntilRequest(modelId, prompts, { until: [until], maxTokens: 12 }));
    for (const [index, { text = "" }] of free.choices.entries()) {
      const [before] = text.split(until);
      expect(cut.choices[index]?.text).toBe(before);
    }
  });

  it("counts the token that ends a reply, so that the harness never cuts off one of the prompt", async () => {
    const prompt = await tokenIds("One river", true);
    const end = endToken(server);
    const ended = await complete({
      ...loglikelihoodRequest(modelId, [{ context: prompt, continuation: [] }]),
      logit_bias: { [end]: 100 },
    });
    expect(ended.choices[0]?.finish_reason).toBe("stop");
    expect(ended.choices[0]?.logprobs?.token_logprobs).toHaveLength(prompt.length + 1);
  });

  it("streams the same, to a text as to token ids, with offsets into the text", async () => {
    const prompt = "Three ducks, größer 🦆 still";
    const body = { prompt, echo: true, logprobs: 2, max_tokens: 3, temperature: 0, ignore_eos: true };
    const whole = await complete(body);
    const client = new OpenAI({ baseURL: server.baseUrl, apiKey: "none" });
    const tokens: string[] = [];
    const logprobs: (number | null)[] = [];
    let text = "";
    for await (const chunk of await client.completions.create({ model: modelId, ...body, stream: true })) {
      const { choices } = CompletionChunk.parse(chunk);
      tokens.push(...(choices[0]?.logprobs?.tokens ?? []));
      logprobs.push(...(choices[0]?.logprobs?.token_logprobs ?? []));
      text += choices[0]?.text ?? "";
    }
    const [choice] = whole.choices;
    expect(text).toBe(choice?.text);
    expect(tokens).toEqual(choice?.logprobs?.tokens);
    expect(logprobs).toEqual(choice?.logprobs?.token_logprobs);
    const fromIds = await complete({ ...body, prompt: await tokenIds(prompt, true) });
    expect(fromIds.choices[0]?.logprobs?.token_logprobs).toEqual(logprobs);
    // The reply begins where the prompt ends.
    const offsets = choice?.logprobs?.text_offset ?? [];
    expect(offsets[logprobs.length - 3]).toBe(Array.from(prompt).length);
  });

  it("refuses more log probabilities than a request may have", async () => {
    const prompt = Array.from({ length: 128 }, () => Array.from({ length: 500 }, () => 100));
    const response = await post("completions", {
      model: modelId,
      prompt,
      echo: true,
      logprobs: 5,
      max_tokens: 0,
    });
    const { error } = ErrorBody.parse(await response.json());
    expect([response.status, error.param]).toEqual([400, "logprobs"]);
    expect(error.message).toContain(String(promptLogprobsMax));
  });
});

function endToken({ model }: RealServer): number {
  return model.info.tokens.eos;
}
