// A model that thinks on and on: the longest thought of a chat, and the button that ends one.
import { readFile } from "node:fs/promises";
import path from "node:path";

import { tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { serve } from "./ingle-process.ts";
import { useBrowser, useIngle } from "./setup.ts";

/** Its prompts end inside a thought. */
const template = path.join(
  import.meta.dirname,
  "../../../vendor/llama.cpp/source/models/templates/Qwen-QwQ-32B.jinja",
);

/** It thinks for a minute before that is full. */
const contextLength = 131_072;

const browser = useBrowser();
const ingle = useIngle(
  [...serve, "--model", "ponderer", "--threads", "1", "--ctx", String(contextLength)],
  async () => ({
    "ponderer.gguf": await tinyModel({ chatTemplate: await readFile(template, "utf8"), contextLength }),
  }),
);

it("answers at once when it is told to, and thinks no longer than the chat's settings say", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  await chat.choose("ponderer");
  await chat.ask("Is water wet?");
  const reply = chat.replies.first();
  await reply.getByText("Thinking…").waitFor();
  await reply.getByRole("button", { name: "Answer now" }).click();
  await chat.begun(0);
  await reply.getByText(/^Thought for /).waitFor();
  expect(await reply.getByRole("button", { name: "Answer now" }).count()).toBe(0);
  await chat.stop.click();

  await page.getByRole("button", { name: "Show chat settings" }).click();
  for (const [name, tokens] of [
    ["Longest answer", "40"],
    ["Longest thought", "5"],
  ] as const) {
    const box = page.getByRole("spinbutton", { name });
    await box.fill(tokens);
    await box.blur();
  }
  await chat.askAndWait("And ice?");
  await chat.replies
    .nth(1)
    .getByText(/^Thought for /)
    .waitFor();
  expect((await chat.replyText(1)).length).toBeGreaterThan(0);
  expect(opened.problems).toEqual([]);
});
