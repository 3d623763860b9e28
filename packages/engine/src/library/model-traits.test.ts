import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { GgufMetadata } from "@ingle/gguf";
import { expect, onTestFinished, test } from "vitest";
import { modelTraits, toModelTraits } from "./model-traits.ts";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";

function metadata(template: string, more: Record<string, string> = {}): GgufMetadata {
  const texts = { "general.architecture": "lfm2", "tokenizer.chat_template": template, ...more };
  return new Map(Object.entries(texts).map(([key, value]) => [key, { type: "string", value }]));
}

const turn = "{% for message in messages %}<|im_start|>{{ message.content }}{% endfor %}";
const begins = (reply: string): string => `${turn}{% if add_generation_prompt %}${reply}{% endif %}`;

test.each([
  ["a template that writes tools", `{% if tools %}{{ tools | tojson }}{% endif %}${turn}`, true],
  [
    "one that calls its list otherwise",
    "{%- for tool in tools -%}{{ tool.function.name }}{%- endfor -%}",
    true,
  ],
  ["a word in the text around", `You have no tools.${turn}`, false],
  ["no template", "", false],
])("%s knows tools: %s", (_what, template, isSo) => {
  expect(toModelTraits("it", metadata(template)).knowsTools).toBe(isSo);
});

test.each([
  [
    "a switch",
    `${turn}{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}`,
    true,
  ],
  ["a switch of another name", `{% if thinking %}Think.{% endif %}${turn}`, true],
  ["an effort", `{{ reasoning_effort | default("medium") }}${turn}`, true],
  ["a reply that begins with it", begins("<|im_start|>assistant\n<think>\n"), true],
  [
    "old thoughts that are left out",
    `{{ content.split("</think>")[-1] }}${begins("<|im_start|>assistant\n")}`,
    false,
  ],
  ["a reply like any other", begins("<|im_start|>assistant\n"), false],
  ["no template", "", false],
])("%s knows thinking: %s", (_what, template, isSo) => {
  expect(toModelTraits("it", metadata(template)).knowsThinking).toBe(isSo);
});

test("a model that is named for its thinking thinks", () => {
  const named = { "general.name": "LFM2.5 1.2B Thinking" };
  expect(toModelTraits("it", metadata(begins(""), named)).knowsThinking).toBe(true);
  expect(toModelTraits("it", metadata("", named)).knowsThinking).toBe(false);
});

test("an embedding model has no chat traits, whatever its template says", () => {
  const embedder = new Map(metadata("{% if tools %}{{ enable_thinking }}{% endif %}"));
  embedder.set("lfm2.pooling_type", { type: "uint32", value: 1 });
  const expected = {
    architecture: "lfm2",
    isEmbedder: true,
    knowsTools: false,
    knowsThinking: false,
    sampling: {},
  };
  expect(toModelTraits("it", embedder)).toEqual(expected);
});

async function inFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-traits-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return path.join(folder, "model.gguf");
}

test("a file is read once, and again if it has changed", async () => {
  const file = await inFolder();
  await writeFile(file, fakeGguf({ architecture: "lfm2" }));
  const first = await modelTraits(file);
  expect(first).toMatchObject({ architecture: "lfm2" });
  expect(await modelTraits(file)).toBe(first);
  await writeFile(file, fakeGguf({ architecture: "lama" }));
  await utimes(file, new Date(), new Date(Date.now() + 5_000));
  expect(await modelTraits(file)).toMatchObject({ architecture: "lama" });
});

test("a file that is not a model has no traits, and is not an error", async () => {
  const file = await inFolder();
  expect(await modelTraits(file)).toBeUndefined();
  for (const bytes of [Buffer.from("not a model"), fakeGguf().subarray(0, 90), Buffer.alloc(0)]) {
    await writeFile(file, bytes);
    expect(await modelTraits(file)).toBeUndefined();
  }
});
