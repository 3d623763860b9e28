// A chat template in place of the one in a model's file: given as text, as a file, or by llama.cpp's name, and hostile ones.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { load, type LoadOptions } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { expect, it, onTestFinished } from "vitest";

const bare = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}";
const messages = [{ role: "user", content: "Hi" }];

async function renderPrompt(options: LoadOptions, chatTemplate?: string | null): Promise<string> {
  const file = await tinyModel(chatTemplate === undefined ? {} : { chatTemplate });
  await using loaded = await load(file, { threads: 1, contextLength: 256, ...options });
  expect(loaded.model.info.hasChatTemplate).toBe(true);
  return await loaded.model.promptText({ messages });
}

async function templateFile(text: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-template-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, "own.jinja");
  await writeFile(file, text);
  return file;
}

it.each(["in-process", "process"] as const)(
  "formats the prompts of a model whose engine is %s",
  async (engine) => {
    expect(await renderPrompt({ chatTemplate: bare, engine })).toBe("[user] Hi\n");
    expect(await renderPrompt({ engine })).toContain("<|im_start|>");
  },
);

it("comes from a file, unless it is given as text too, and serves a model without one", async () => {
  const chatTemplateFile = await templateFile("{% for m in messages %}<{{ m.content }}>{% endfor %}");
  expect(await renderPrompt({ chatTemplateFile })).toBe("<Hi>");
  expect(await renderPrompt({ chatTemplateFile, chatTemplate: bare }, null)).toBe("[user] Hi\n");
});

it("may be chatml by name", async () => {
  expect(await renderPrompt({ chatTemplate: "chatml" }, "{{ messages[0].content }}")).toContain(
    "<|im_start|>user\nHi",
  );
});

it.each([
  ["no template", { chatTemplate: "llama3" }, "chatTemplate"],
  ["empty", { chatTemplate: "" }, "chatTemplate"],
  ["too long", { chatTemplate: `{{ 1 }}${"é".repeat(33_000)}` }, "chatTemplate"],
  ["cut short", { chatTemplate: "{% for m in messages %}{{ m" }, "chatTemplate"],
  [
    "endless",
    {
      chatTemplate:
        "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}{{ messages[0].content }}",
    },
    "chatTemplate",
  ],
  ["not there", { chatTemplateFile: "/no/such/file.jinja" }, "chatTemplateFile"],
])("is refused by name if it is %s", async (_, options, param) => {
  const file = await tinyModel();
  await expect(load(file, { threads: 1, contextLength: 256, ...options })).rejects.toMatchObject({
    code: "invalid_request",
    details: { param },
  });
});

it("is refused if its file is too long, without reading all of it", async () => {
  const chatTemplateFile = await templateFile(`{{ 1 }}${"x".repeat(10_000_000)}`);
  const file = await tinyModel();
  await expect(load(file, { threads: 1, contextLength: 256, chatTemplateFile })).rejects.toMatchObject({
    code: "invalid_request",
    details: { param: "chatTemplateFile" },
  });
});
