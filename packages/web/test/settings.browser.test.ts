// Settings beside a chat, held against the requests that the server receives: sampling, presets, recommendations, and what a
// model is loaded with.
import { tinyModel } from "@ingle/fixtures";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";

import { useBrowser } from "./browser.ts";
import { ChatHands } from "./chat-hands.ts";
import { Home, IngleProcess } from "./ingle-process.ts";
import { RecordingProxy } from "./recording-proxy.ts";

const chatPath = "/v1/chat/completions";
/** Enough of a template to be told of an effort. */
const thinkingTemplate =
  "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% if not enable_thinking %}(no thinking){% endif %}{% endif %}";

const browser = useBrowser();
let home: Home;
let ingle: IngleProcess;
let proxy: RecordingProxy;
beforeAll(async () => {
  home = await Home.make({
    "llama.gguf": await tinyModel({ endAfter: 20 }),
    "thinker.gguf": await tinyModel({ endAfter: 20, chatTemplate: thinkingTemplate }),
    "lfm2.gguf": await tinyModel({ architecture: "lfm2", endAfter: 20 }),
    "endless.gguf": await tinyModel({ seed: 2, contextLength: 8_192 }),
  });
  const serve = ["serve", "--port", "0", "--model", "llama", "--ctx", "512", "--threads", "1"];
  ingle = await IngleProcess.start(serve, { home });
  proxy = await RecordingProxy.start(ingle.address);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await ingle[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** A chat with this model, with its settings open. */
async function settingsOf(model: string) {
  const opened = await browser.open({ url: proxy.address });
  const chat = new ChatHands(opened.page);
  await chat.choose(model);
  await opened.page.getByRole("button", { name: "Show chat settings" }).click();
  return { opened, chat, page: opened.page, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

/** The body of a question as the server received and accepted it. */
async function bodyOf(chat: ChatHands, text: string): Promise<Readonly<Record<string, unknown>>> {
  const before = proxy.requestsTo(chatPath).length;
  await chat.askAndWait(text);
  const request = proxy.requestsTo(chatPath)[before];
  expect(request?.status).toBe(200);
  return request?.body ?? {};
}

async function set(page: Page, name: string, value: string): Promise<void> {
  const box = page.getByRole("spinbutton", { name });
  await box.fill(value);
  await box.blur();
}

it("sends each setting under its own name, and nothing that was not set", async () => {
  await using test = await settingsOf("thinker");
  const { page, chat, opened } = test;
  expect(await bodyOf(chat, "Hello")).toEqual({
    model: "thinker",
    messages: [{ role: "user", content: "Hello" }],
    stream: true,
    stream_options: expect.anything(),
    timings_per_token: true,
  });

  await chat.beginNew();
  await page.getByLabel("System prompt").fill("You answer in rhymes.");
  await set(page, "Temperature, number", "0.35");
  await set(page, "Top P, number", "0.9");
  await set(page, "Top K, number", "12");
  await set(page, "Min P, number", "0.07");
  await set(page, "Repeat penalty, number", "1.2");
  await set(page, "Longest answer", "7");
  await page.getByRole("combobox", { name: "Thinking" }).selectOption("Think hard");
  const settings = {
    temperature: 0.35,
    top_p: 0.9,
    top_k: 12,
    min_p: 0.07,
    repeat_penalty: 1.2,
    max_tokens: 7,
    reasoning_effort: "high",
  };
  const body = await bodyOf(chat, "Hello again");
  expect(body).toMatchObject(settings);
  expect(body["messages"]).toEqual([
    { role: "system", content: "You answer in rhymes." },
    { role: "user", content: "Hello again" },
  ]);

  await page.getByRole("button", { name: "Reset Temperature" }).click();
  const { temperature, ...others } = settings;
  const reset = await bodyOf(chat, "And now?");
  expect(reset).toMatchObject(others);
  expect(reset).not.toHaveProperty("temperature");
  expect(temperature).toBe(0.35);

  await page.getByRole("button", { name: "Reset all" }).click();
  const empty = await bodyOf(chat, "And at the end?");
  for (const name of Object.keys(others).filter((each) => each !== "reasoning_effort"))
    expect(empty).not.toHaveProperty(name);
  expect(empty).toMatchObject({ reasoning_effort: "high" });
  expect(opened.problems).toEqual([]);
});

it("saves settings as a preset, begins new chats with it, and deletes it with a way back", async () => {
  await using test = await settingsOf("llama");
  const { page, chat, opened } = test;
  await set(page, "Temperature, number", "0.2");
  await page.getByLabel("System prompt").fill("Be brief.");
  const presets = page.getByRole("combobox", { name: "Preset" });
  await page.getByRole("button", { name: "Presets" }).click();
  await page.getByRole("menuitem", { name: "Save as preset" }).click();
  await page.getByLabel("Name of the preset").fill("Brief");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved the preset “Brief”.").waitFor();

  await presets.selectOption("None");
  const without = await bodyOf(chat, "Without it");
  expect(without).not.toHaveProperty("temperature");
  expect(without["messages"]).toHaveLength(1);
  await presets.selectOption("Brief");
  expect(await bodyOf(chat, "With it")).toMatchObject({ temperature: 0.2 });

  await page.getByRole("button", { name: "Presets" }).click();
  await page.getByRole("menuitemradio", { name: "Use for new chats" }).click();
  await page.reload();
  await chat.beginNew();
  await expect.poll(() => presets.locator("option:checked").innerText()).toBe("Brief");
  const body = await bodyOf(chat, "A new chat");
  expect(body).toMatchObject({ temperature: 0.2 });
  expect(body["messages"]).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "A new chat" },
  ]);

  await page.getByRole("button", { name: "Presets" }).click();
  await page.getByRole("menuitem", { name: "Delete preset" }).click();
  const deleted = page.locator(".toast").filter({ hasText: "Deleted the preset “Brief”." });
  await deleted.waitFor();
  expect(await presets.locator("option").allInnerTexts()).not.toContain("Brief");
  await deleted.getByRole("button", { name: "Undo" }).click();
  await expect.poll(() => presets.locator("option").allInnerTexts()).toContain("Brief");
  expect(opened.problems).toEqual([]);
});

it("offers LFM2's recommended values for an LFM2 model only, and sends them once they are taken", async () => {
  await using test = await settingsOf("lfm2");
  const { page, chat, opened } = test;
  const offer = page.getByText("Recommended for LFM2");
  await offer.waitFor();
  await chat.choose("llama");
  await offer.waitFor({ state: "detached" });
  await chat.choose("lfm2");
  await page.getByRole("button", { name: "Use them" }).click();
  await offer.waitFor({ state: "detached" });
  expect(await bodyOf(chat, "Hello")).toMatchObject({
    model: "lfm2",
    temperature: 0.3,
    min_p: 0.15,
    repeat_penalty: 1.05,
  });
  expect(opened.problems).toEqual([]);
});

it("loads a model again with the KV bits and the context that were chosen, after a question", async () => {
  await using test = await settingsOf("llama");
  const { page, opened } = test;
  await page.getByRole("combobox", { name: "Bits of the KV cache" }).selectOption("8 bits");
  const length = page.getByRole("spinbutton", { name: "Context length" });
  // What the model has now is there before anybody types.
  await expect.poll(() => length.inputValue()).toBe("512");
  await page.getByText(/^Takes .+ of memory\.$/).waitFor();
  await length.fill("1024");
  // The page is drawn anew with the estimate, and what is typed stays.
  await page.getByText(/^Takes .+ of memory\.$/).waitFor();
  expect(await length.inputValue()).toBe("1024");
  await length.blur();
  await page.getByRole("button", { name: "Load again with these" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Load again" }).click();
  await page.getByText("llama is ready.").waitFor();
  const load = proxy.requestsTo("/api/v1/models/load").at(-1);
  expect(load).toMatchObject({ status: 200, body: { model: "llama", kv_bits: 8, context_length: 1024 } });
  await page.goto(`${new URL(proxy.address).origin}/#/library`);
  const card = page
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: "llama", exact: true }) });
  await card.getByText(/1,024 tokens of context · .* · KV cache 8 bits/).waitFor();
  expect(opened.problems).toEqual([]);
});

it("says that the context is full, and loads the model with a larger one by one click", async () => {
  await using test = await settingsOf("endless");
  const { page, chat, opened } = test;
  await chat.askAndWait("Tell me everything");
  const reply = chat.replies.first();
  await reply.getByText("The context is full.").waitFor();
  const text = await chat.textOf(0);
  await reply.getByRole("button", { name: "Reload with 1,024 tokens" }).click();
  await page.getByText("endless is ready.").waitFor();
  await reply.getByRole("button", { name: "Continue" }).click();
  await expect.poll(async () => (await chat.textOf(0)).length).toBeGreaterThan(text.length);
  await chat.wholeReply(0);

  // A question that is too long as it stands has the same way out, and then its answer.
  await chat.beginNew();
  await chat.ask("word ".repeat(1_500));
  const failed = chat.replies.first();
  await failed.getByRole("button", { name: "Reload with 2,048 tokens" }).click();
  await failed.getByRole("group", { name: "No answer" }).getByRole("button", { name: "Try again" }).click();
  await chat.begun(0);
  await chat.wholeReply(0);
  expect(opened.problems.filter((problem) => !problem.includes("400"))).toEqual([]);
});
