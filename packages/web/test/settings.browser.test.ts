// The settings beside a chat, verified by the requests that the server receives: sampling, presets, recommendations, and reloading.
import { tinyModel } from "@ingle/fixtures";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";

import type { ChatPage } from "./chat-page.ts";
import { serve } from "./ingle-process.ts";
import { RecordingProxy } from "./recording-proxy.ts";
import { useBrowser, useIngle, useShared } from "./setup.ts";
import type { TestPage } from "./test-page.ts";

const chatPath = "/v1/chat/completions";
/** A minimal template that knows an effort. */
const thinkingTemplate =
  "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% if not enable_thinking %}(no thinking){% endif %}{% endif %}";

const browser = useBrowser();
const ingle = useIngle([...serve, "--model", "llama", "--ctx", "512", "--threads", "1"], async () => ({
  "llama.gguf": await tinyModel({ endAfter: 20 }),
  "thinker.gguf": await tinyModel({ endAfter: 20, chatTemplate: thinkingTemplate }),
  "lfm2.gguf": await tinyModel({ architecture: "lfm2", endAfter: 20 }),
  "endless.gguf": await tinyModel({ seed: 2, contextLength: 8_192 }),
}));
const proxy = useShared(async () => RecordingProxy.start(ingle().address));

/** A chat with this model and with the settings open. */
async function openSettings(model: string): Promise<TestPage> {
  const opened = await browser.open({ url: proxy().address });
  await opened.chat.choose(model);
  await opened.page.getByRole("button", { name: "Show chat settings" }).click();
  return opened;
}

/** Sends a message, and returns the body of the request that the server accepted. */
async function sendAndReadBody(chat: ChatPage, text: string): Promise<Readonly<Record<string, unknown>>> {
  const before = proxy().requestsTo(chatPath).length;
  await chat.askAndWait(text);
  const request = proxy().requestsTo(chatPath)[before];
  expect(request?.status).toBe(200);
  return request?.body ?? {};
}

async function set(page: Page, name: string, value: string): Promise<void> {
  const box = page.getByRole("spinbutton", { name });
  await box.fill(value);
  await box.blur();
}

it("sends each setting by its wire name, and omits those that are not set", async () => {
  await using test = await openSettings("thinker");
  const { page, chat } = test;
  expect(await sendAndReadBody(chat, "Hello")).toEqual({
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
  const body = await sendAndReadBody(chat, "Hello again");
  expect(body).toMatchObject(settings);
  expect(body["messages"]).toEqual([
    { role: "system", content: "You answer in rhymes." },
    { role: "user", content: "Hello again" },
  ]);

  await page.getByRole("button", { name: "Reset Temperature" }).click();
  const { temperature, ...others } = settings;
  const reset = await sendAndReadBody(chat, "And now?");
  expect(reset).toMatchObject(others);
  expect(reset).not.toHaveProperty("temperature");
  expect(temperature).toBe(0.35);

  await page.getByRole("button", { name: "Reset all" }).click();
  const empty = await sendAndReadBody(chat, "And at the end?");
  for (const name of Object.keys(others).filter((each) => each !== "reasoning_effort"))
    expect(empty).not.toHaveProperty(name);
  expect(empty).toMatchObject({ reasoning_effort: "high" });
  expect(test.problems).toEqual([]);
});

it("saves settings as a preset, starts new chats with it, deletes it, and restores it", async () => {
  await using test = await openSettings("llama");
  const { page, chat } = test;
  await set(page, "Temperature, number", "0.2");
  await page.getByLabel("System prompt").fill("Be brief.");
  const presets = page.getByRole("combobox", { name: "Preset" });
  await page.getByRole("button", { name: "Presets" }).click();
  await page.getByRole("menuitem", { name: "Save as preset" }).click();
  await page.getByLabel("Preset name").fill("Brief");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved the preset “Brief”.").waitFor();

  await presets.selectOption("None");
  const without = await sendAndReadBody(chat, "Without it");
  expect(without).not.toHaveProperty("temperature");
  expect(without["messages"]).toHaveLength(1);
  await presets.selectOption("Brief");
  expect(await sendAndReadBody(chat, "With it")).toMatchObject({ temperature: 0.2 });

  await page.getByRole("button", { name: "Presets" }).click();
  await page.getByRole("menuitemradio", { name: "Use for new chats" }).click();
  await page.reload();
  await chat.beginNew();
  await expect.poll(() => presets.locator("option:checked").innerText()).toBe("Brief");
  const body = await sendAndReadBody(chat, "A new chat");
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
  expect(test.problems).toEqual([]);
});

it("offers LFM2's recommended values only for an LFM2 model, and sends them after a click", async () => {
  await using test = await openSettings("lfm2");
  const { page, chat } = test;
  const offer = page.getByText("Recommended for LFM2");
  await offer.waitFor();
  await chat.choose("llama");
  await offer.waitFor({ state: "detached" });
  await chat.choose("lfm2");
  await page.getByRole("button", { name: "Use them" }).click();
  await offer.waitFor({ state: "detached" });
  expect(await sendAndReadBody(chat, "Hello")).toMatchObject({
    model: "lfm2",
    temperature: 0.3,
    min_p: 0.15,
    repeat_penalty: 1.05,
  });
  expect(test.problems).toEqual([]);
});

it("reloads a model with other KV bits and context after a confirmation", async () => {
  await using test = await openSettings("llama");
  const { page } = test;
  await page.getByRole("combobox", { name: "KV cache bits" }).selectOption("8 bits");
  const length = page.getByRole("spinbutton", { name: "Context length" });
  // Waits for the current context.
  await expect.poll(() => length.inputValue()).toBe("512");
  await page.locator(".estimate .fit-why").waitFor();
  await length.fill("1024");
  // The estimate rerenders the page, and the typed text stays.
  await page.locator(".estimate .fit-why").waitFor();
  expect(await length.inputValue()).toBe("1024");
  await length.blur();
  await page.getByRole("button", { name: "Reload with these settings" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Reload" }).click();
  await page.getByText("llama is ready.").waitFor();
  const load = proxy().requestsTo("/api/v1/models/load").at(-1);
  expect(load).toMatchObject({ status: 200, body: { model: "llama", kv_bits: 8, context_length: 1024 } });
  await page.goto(`${new URL(proxy().address).origin}/#/library`);
  const card = page
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: "llama", exact: true }) });
  await card.getByText(/1,024 tokens of context · .* · KV cache 8 bits/).waitFor();
  expect(test.problems).toEqual([]);
});

it("reports a full context, and reloads the model with a larger one with one click", async () => {
  await using test = await openSettings("endless");
  const { page, chat } = test;
  await chat.askAndWait("Tell me everything");
  const reply = chat.replies.first();
  await reply.getByText("The context is full.").waitFor();
  const text = await chat.replyText(0);
  await reply.getByRole("button", { name: "Reload with 1,024 tokens" }).click();
  await page.getByText("endless is ready.").waitFor();
  // What was full then is not told anew.
  await reply.getByText("The context is full.").waitFor();
  await reply.getByText("0 of 512 context tokens left").waitFor();
  await reply.getByRole("button", { name: "Continue" }).click();
  await expect.poll(async () => (await chat.replyText(0)).length).toBeGreaterThan(text.length);
  await chat.wholeReply(0);

  // The same works for a message that is too long by itself, of which the page warns before.
  await chat.beginNew();
  await chat.composer.fill("word ".repeat(1_500));
  await page
    .getByText(/This message has about 1,\d{3} tokens, but 1,024 of the model's context of 1,024 are left/)
    .waitFor();
  await chat.ask("word ".repeat(1_500));
  const failed = chat.replies.first();
  const loads = proxy().requestsTo("/api/v1/models/load").length;
  await failed.getByRole("button", { name: "Reload with 2,048 tokens" }).click();
  await expect.poll(() => proxy().requestsTo("/api/v1/models/load").length).toBe(loads + 1);
  await failed.getByRole("group", { name: "No answer" }).getByRole("button", { name: "Try again" }).click();
  await chat.begun(0);
  await chat.wholeReply(0);

  // Nothing is offered to a text that no context of this model can hold.
  await chat.beginNew();
  await chat.composer.fill("word ".repeat(18_000));
  await page.getByText(/The model cannot answer it like this\.$/).waitFor();
  await chat.send.click();
  await failed.getByText(/this model can have a context of at most 8,192 on this machine/).waitFor();
  expect(await failed.getByRole("button", { name: /^Reload with/ }).count()).toBe(0);
  expect(test.problems.filter((problem) => !problem.includes("400"))).toEqual([]);
});
