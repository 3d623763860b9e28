import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { samplingMetadata } from "./generation-config.ts";

async function writeFolder(text: string | undefined): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-generation-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  if (text !== undefined) await writeFile(path.join(folder, "generation_config.json"), text);
  return folder;
}

test("becomes llama.cpp's keys", async () => {
  const config = {
    temperature: 0.3,
    top_k: 50,
    top_p: 0.9,
    min_p: 0.15,
    repetition_penalty: 1.05,
    eos_token_id: 7,
  };
  expect(await samplingMetadata(await writeFolder(JSON.stringify(config)))).toEqual([
    ["general.sampling.temp", { type: "float32", value: 0.3 }],
    ["general.sampling.top_k", { type: "int32", value: 50 }],
    ["general.sampling.top_p", { type: "float32", value: 0.9 }],
    ["general.sampling.min_p", { type: "float32", value: 0.15 }],
    ["general.sampling.penalty_repeat", { type: "float32", value: 1.05 }],
  ]);
});

test("becomes llama.cpp's list of tokens that are never sampled", async () => {
  const made = async (suppressed: unknown) =>
    samplingMetadata(await writeFolder(JSON.stringify({ suppress_tokens: suppressed })));
  expect(await made([258883, 258882])).toEqual([
    ["tokenizer.ggml.suppress_tokens", { type: "int32", values: [258883, 258882] }],
  ]);
  expect(await made([])).toEqual([]);
  expect(await made(null)).toEqual([]);
  for (const wrong of ["7", [1.5], [-1], [2 ** 31], {}])
    await expect(made(wrong)).rejects.toMatchObject({ code: "mlx_malformed" });
});

test.each([undefined, "{}", "[]", '{"temperature": null, "top_k": 1.5, "top_p": "high"}'])(
  "%s says nothing",
  async (text) => {
    expect(await samplingMetadata(await writeFolder(text))).toEqual([]);
  },
);

test("that is not JSON is an error", async () => {
  await expect(samplingMetadata(await writeFolder("{"))).rejects.toMatchObject({ code: "mlx_malformed" });
});
