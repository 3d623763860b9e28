// What a user controls of a chat beyond the usual sampling: seed, stop texts, a JSON schema, XTC and DRY; the text of a reply; and which
// messages a long chat still sends.
import { tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { app } from "./ingle-process.ts";
import { RecordingProxy } from "./recording-proxy.ts";
import { useBrowser, useIngle, useShared } from "./setup.ts";

const chatPath = "/v1/chat/completions";
const browser = useBrowser();
const ingle = useIngle(app, async () => ({
  "tiny.gguf": await tinyModel({ endAfter: 20 }),
  "narrow.gguf": await tinyModel({ endAfter: 20, seed: 3, contextLength: 512 }),
}));
const proxy = useShared(async () => RecordingProxy.start(ingle().address));
const lastBody = () => proxy().requestsTo(chatPath).at(-1)?.body ?? {};

it(
  "sends seed, stop texts, JSON schema, XTC and DRY, and keeps them with the chat",
  { timeout: 60_000 },
  async () => {
    await using opened = await browser.open({ url: proxy().address });
    const { page, chat } = opened;
    await chat.choose("tiny");
    await chat.askAndWait("Without any");
    for (const name of ["seed", "stop", "response_format", "xtc_probability", "dry_multiplier"])
      expect(lastBody()).not.toHaveProperty(name);
    await page.getByRole("button", { name: "Show chat settings" }).click();
    await page.getByRole("spinbutton", { name: "Seed" }).fill("42");
    await page.getByRole("textbox", { name: "Stop texts" }).fill("END\n\\n\\n");
    await page.getByText("More samplers: XTC and DRY").click();
    const numbers = {
      "XTC probability": ["xtc_probability", 0.5],
      "XTC threshold": ["xtc_threshold", 0.2],
      "DRY multiplier": ["dry_multiplier", 0.8],
      "DRY base": ["dry_base", 2],
      "DRY allowed length": ["dry_allowed_length", 3],
      "DRY range": ["dry_penalty_last_n", -1],
    } as const;
    for (const [label, [, value]] of Object.entries(numbers)) {
      const box = page.getByRole("spinbutton", { name: `${label}, number` });
      await box.fill(String(value));
      await box.blur();
    }
    const schema = page.getByRole("textbox", { name: "JSON schema" });

    // What is wrong is told at the field, and nothing is sent.
    await schema.fill('{ "type": ');
    await page.getByText(/^This is not JSON: /).waitFor();
    expect(await schema.getAttribute("aria-invalid")).toBe("true");
    await chat.composer.fill("As JSON");
    await page.getByText("The form of the answer in the chat settings is wrong.").waitFor();
    expect(await chat.send.isDisabled()).toBe(true);
    await schema.fill("[]");
    await page.getByText(/^A schema is an object/).waitFor();
    const wanted = {
      type: "object",
      properties: { a: { enum: [1, 2] } },
      required: ["a"],
      additionalProperties: false,
    };
    await schema.fill(JSON.stringify(wanted));
    const before = proxy().requestsTo(chatPath).length;
    await chat.send.click();
    const reply = await chat.wholeReply(1);
    expect([{ a: 1 }, { a: 2 }]).toContainEqual(JSON.parse(reply));
    expect(proxy().requestsTo(chatPath)).toHaveLength(before + 1);
    expect(lastBody()).toMatchObject({
      seed: 42,
      stop: ["END", "\n\n"],
      response_format: { type: "json_schema", json_schema: { strict: true, schema: wanted } },
      ...Object.fromEntries(Object.values(numbers)),
    });

    await page.reload();
    await expect.poll(() => page.getByRole("spinbutton", { name: "Seed" }).inputValue()).toBe("42");
    expect(await page.getByRole("textbox", { name: "Stop texts" }).inputValue()).toBe("END\n\\n\\n");
    expect(await schema.inputValue()).toBe(JSON.stringify(wanted));
    expect(await page.getByRole("spinbutton", { name: "DRY multiplier, number" }).inputValue()).toBe("0.8");

    // Another chat has its own.
    await chat.beginNew();
    await chat.askAndWait("A new chat");
    expect(lastBody()).not.toHaveProperty("seed");
    expect(lastBody()).not.toHaveProperty("response_format");
    expect(opened.problems).toEqual([]);
  },
);

it("tells what the server cannot enforce of a schema", async () => {
  await using opened = await browser.open({ url: proxy().address });
  const { page, chat } = opened;
  await chat.choose("tiny");
  await page.getByRole("button", { name: "Show chat settings" }).click();
  await page.getByRole("textbox", { name: "JSON schema" }).fill('{"type":"string","format":"regex"}');
  await chat.ask("A pattern");
  await page
    .locator(".reply-failure")
    .getByText(/format/)
    .waitFor();
  expect(lastBody()).toHaveProperty("response_format");
});

it("saves an edited reply as a version without asking again, continues from it, and takes it back", async () => {
  await using opened = await browser.open({ url: proxy().address });
  const { page, chat } = opened;
  await chat.choose("tiny");
  const first = await chat.askAndWait("Once upon a time");
  const asked = proxy().requestsTo(chatPath).length;
  const edit = chat.replies.first().getByRole("button", { name: "Edit the answer" });
  const box = page.getByRole("textbox", { name: "The answer" });

  await edit.click();
  expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "detached" });
  expect(await edit.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await chat.replyText(0)).toBe(first);

  await edit.click();
  await box.fill("There was a lighthouse");
  await page.keyboard.press("Enter");
  await page.getByText("Edited by you.").waitFor();
  await page.getByRole("group", { name: "Version 2 of 2" }).waitFor();
  expect(await chat.replyText(0)).toBe("There was a lighthouse");
  expect(proxy().requestsTo(chatPath)).toHaveLength(asked);

  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("group", { name: "Version 2 of 2" }).waitFor({ state: "detached" });
  expect(await chat.replyText(0)).toBe(first);

  await edit.click();
  await box.fill("There was a lighthouse");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await expect.poll(() => chat.replyText(0)).toMatch(/^There was a lighthouse./);
  await chat.wholeReply(0);
  expect(lastBody()).toMatchObject({
    continue_final_message: true,
    messages: [{ content: "Once upon a time" }, { role: "assistant", content: "There was a lighthouse" }],
  });
  await chat.askAndWait("And then?");
  const { messages } = lastBody();
  expect(messages).toMatchObject([{}, { content: expect.stringMatching(/^There was a lighthouse./) }, {}]);
  expect(opened.problems).toEqual([]);
});

it(
  "offers to leave out the oldest messages when the context is full, and says how many",
  { timeout: 120_000 },
  async () => {
    await using opened = await browser.open({ url: proxy().address });
    const { page, chat } = opened;
    await chat.choose("narrow");
    await page.getByRole("button", { name: "Show chat settings" }).click();
    await page.getByRole("textbox", { name: "System prompt" }).fill("You keep this.");
    await page.getByRole("button", { name: "Hide chat settings" }).first().click();
    const words = (number: number) => `Message ${number}: ${"harbour ".repeat(20)}`;
    let number = 0;
    const offer = page.getByRole("button", { name: "Go on without the oldest messages" });
    while ((await offer.count()) === 0) {
      await chat.ask(words(number));
      await chat.wholeReply(number);
      number += 1;
      expect(number).toBeLessThan(30);
    }
    await offer.click();
    const note = page.getByText(/^Answered without the \d+ oldest messages? of this chat\.$/);
    await note.waitFor();
    const leftOut = Number(/\d+/.exec(await note.innerText())?.[0]);
    expect(leftOut % 2).toBe(0);
    const { messages } = lastBody();
    expect(messages).toContainEqual({ role: "system", content: "You keep this." });
    const texts = JSON.stringify(messages);
    expect(texts).not.toContain(`Message ${leftOut / 2 - 1}:`);
    expect(texts).toContain(`Message ${leftOut / 2}:`);
    expect(texts).toContain(`Message ${number - 1}:`);
    await page.reload();
    await note.waitFor();
  },
);
