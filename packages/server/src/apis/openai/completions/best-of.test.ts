import type { TokenLogprobs } from "@ingle/engine";
import { expect, test } from "vitest";
import { bestOfEach } from "./response.ts";

function reply(...logprobs: number[]) {
  return {
    logprobs: logprobs.map((logprob): TokenLogprobs => ({
      id: 0,
      bytes: new Uint8Array(),
      logprob,
      top: [],
    })),
  };
}

test("the replies with the likeliest tokens on average are returned for each prompt, best first", () => {
  const [long, short, middle] = [reply(-1, -1, -1, -1), reply(-3), reply(-2, -2)];
  const [none, some, likely] = [reply(), reply(-9), reply(-0.5)];
  const replies = [short, long, middle, none, some, likely];
  expect(bestOfEach(replies, 3, 1)).toEqual([long, likely]);
  expect(bestOfEach(replies, 3, 2)).toEqual([long, middle, likely, some]);
  expect(bestOfEach(replies, 3, 3)).toBe(replies);
});
