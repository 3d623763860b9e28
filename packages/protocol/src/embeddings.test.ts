import { describe, expect, it } from "vitest";

import { embeddingInputsMax, EmbeddingsRequest, embeddingTokensMax } from "./embeddings.ts";
import { firstIssue } from "./request-issue.ts";

function findProblem(body: object): { message: string; param: string | null } | undefined {
  const { success, error } = EmbeddingsRequest.safeParse({ model: "m", input: "a text", ...body });
  return success ? undefined : firstIssue(error);
}

describe("an embeddings request", () => {
  it.each([
    ["a text", "one"],
    ["several texts", ["one", "two"]],
    ["token ids", [1, 2, 3]],
    ["several texts as token ids", [[1, 2], [3]]],
    ["as many texts as there may be", Array.from({ length: embeddingInputsMax }, () => "a")],
  ])("may have %s", (_, input) => {
    const parsed = EmbeddingsRequest.parse({ model: "m", input }).input;
    expect(JSON.parse(JSON.stringify(parsed, tokensAsArrays))).toEqual(input);
  });

  it.each([
    ["nothing", undefined],
    ["an empty text", ""],
    ["no texts", []],
    ["an empty text among others", ["one", ""]],
    ["no tokens", [[]]],
    ["a negative token", [[1], [2, -1]]],
    ["a token beyond 32 bits", [2 ** 32 + 5]],
    ["half a token", [[1.5]]],
    ["texts and tokens", ["one", [1]]],
    ["a list of lists of lists", [[[1]]]],
    ["a number", 5],
    ["more texts than there may be", Array.from({ length: embeddingInputsMax + 1 }, () => "a")],
  ])("may not have %s", (_, input) => {
    const problem = findProblem({ input });
    expect(problem?.param).toBe("input");
    expect(problem?.message).toMatch(/^input must be/);
  });

  it("is refused at once when millions of its tokens are wrong", () => {
    const wrong = Array.from({ length: embeddingTokensMax }, () => -1);
    const inputs = [wrong, [...wrong, 0], [wrong], [wrong, [0]], Array.from({ length: 2_000_000 }, () => "")];
    const before = performance.now();
    for (const input of inputs) {
      const issues = EmbeddingsRequest.safeParse({ model: "m", input }).error?.issues;
      expect(issues).toMatchObject([{ path: ["input"] }]);
    }
    expect(performance.now() - before).toBeLessThan(1000);
  });

  it("reads null as absent, and passes unknown fields", () => {
    const body = { model: "m", input: "a", encoding_format: null, dimensions: null, user: null, more: 1 };
    expect(EmbeddingsRequest.parse(body)).toMatchObject({ input: "a", more: 1 });
    expect(EmbeddingsRequest.parse(body).dimensions).toBeUndefined();
  });

  it.each([
    ["encoding_format", "float64"],
    ["dimensions", 0],
    ["dimensions", 1.5],
    ["user", 5],
  ])("names %s when it breaks its rule", (param, value) => {
    expect(findProblem({ [param]: value })?.param).toBe(param);
  });
});

/** Token ids are one typed array behind the schema. */
function tokensAsArrays(_key: string, value: unknown): unknown {
  return value instanceof Int32Array ? [...value] : value;
}
