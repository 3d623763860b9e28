// Chats from exports of other programs: their progress, their branches, and what is told about the rest.
import { tinyModel } from "@ingle/fixtures";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";

import { chatGptConversation, lmStudioConversation, openWebUiRow } from "./foreign-exports.ts";
import { app } from "./ingle-process.ts";
import { useBrowser, useIngle } from "./setup.ts";

const count = 300;
/** Enough to stop in between. */
const many = 1_000;
const browser = useBrowser();
const ingle = useIngle(app, async () => ({ "tiny.gguf": await tinyModel({ endAfter: 20 }) }));

async function pick(page: Page, files: Readonly<Record<string, object>>): Promise<void> {
  await page
    .locator('input[type="file"][accept*="json"]')
    .first()
    .setInputFiles(
      Object.entries(files).map(([name, data]) => ({
        name,
        mimeType: "application/json",
        buffer: Buffer.from(JSON.stringify(data)),
      })),
    );
}

it(
  "imports 300 chats of ChatGPT with their progress and branches, and tells what was left out",
  { timeout: 120_000 },
  async () => {
    await using opened = await browser.open({ url: ingle().address });
    const { page, chat } = opened;
    const all = Array.from({ length: count }, (_nothing, number) => chatGptConversation(number));
    await page.evaluate((total) => {
      const seen = new Set<string>();
      Reflect.set(globalThis, "seenProgress", seen);
      new MutationObserver(() => {
        for (const { textContent } of document.querySelectorAll("dialog [role=status]"))
          seen.add(textContent ?? "");
        const bar = document.querySelector<HTMLProgressElement>("dialog progress");
        if (bar !== null && bar.value > 0 && bar.value < 1) seen.add(`a share of ${total}`);
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    }, count);
    await pick(page, { "conversations.json": all });
    const dialog = page.getByRole("dialog", { name: "Import chats" });
    await dialog.getByText(`Imported ${count} conversations from ChatGPT.`).waitFor({ timeout: 60_000 });
    const seen = await page.evaluate(() => [...(Reflect.get(globalThis, "seenProgress") as Set<string>)]);
    expect(seen).toContain(`150 of ${count} conversations`);
    expect(seen).toContain(`a share of ${count}`);
    await dialog.getByText(`${count} images`, { exact: true }).waitFor();
    await dialog.getByText(`${2 * count} calls and results of tools`, { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Close" }).last().click();

    await page.getByRole("link", { name: "Piers 299", exact: true }).click();
    await chat.questions.getByText("How long is Southend Pier? (299)").waitFor();
    await page.getByText("2,158 metres.", { exact: true }).waitFor();
    await chat.replies.first().getByRole("button", { name: "Next version" }).click();
    await page.getByText("It is 2,158 m long.").waitFor();
    await chat.questions.getByText("Thank you!").waitFor();

    // It goes on with a model that there is, also from a reply of one that there is not.
    await chat.askAndWait("And now?");
    await chat.replies.first().getByRole("button", { name: "Try again", exact: true }).click();
    await page.getByRole("group", { name: "Version 4 of 4" }).waitFor();
    expect(await chat.wholeReply(0)).not.toBe("");
    expect(opened.problems).toEqual([]);
  },
);

it("imports several files of LM Studio and one of Open WebUI at once, with an image", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page } = opened;
  await pick(page, {
    "1.conversation.json": lmStudioConversation("Lamps"),
    "2.conversation.json": lmStudioConversation("Lenses"),
    "chat-export.json": [openWebUiRow()],
    "package.json": { name: "x" },
  });
  const dialog = page.getByRole("dialog", { name: "Import chats" });
  await dialog.getByText("Imported 3 conversations.").waitFor();
  await dialog.getByText("package.json contains no chats that Ingle can read.").waitFor();
  await dialog.getByText("3 images", { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("link", { name: "Harbour", exact: true }).click();
  await page.getByText("notes.md").waitFor();
  await page.getByRole("button", { name: "Enlarge image" }).waitFor();
  await page.getByRole("link", { name: "Lenses", exact: true }).click();
  await page.getByText("Probably Smeaton's Tower.").waitFor();
  await page.getByRole("button", { name: "Show chat settings" }).click();
  await expect
    .poll(() => page.getByRole("textbox", { name: "System prompt" }).inputValue())
    .toBe("You know lighthouses.");
  expect(opened.problems).toEqual([]);
});

it("stops an import, and keeps what is there", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page } = opened;
  await pick(page, {
    "conversations.json": Array.from({ length: many }, (_nothing, number) => chatGptConversation(number)),
  });
  const dialog = page.getByRole("dialog", { name: "Import chats" });
  await dialog.getByText(/^[1-9]\d* of 1000 conversations$/).waitFor();
  await dialog.getByRole("button", { name: "Stop" }).click();
  const told = await dialog.getByText(/^Stopped: \d+ of 1000 conversations were imported\.$/).innerText();
  const imported = Number(/\d+/.exec(told)?.[0]);
  expect(imported).toBeGreaterThan(0);
  expect(imported).toBeLessThan(many);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("searchbox", { name: "Search chats" }).fill("Piers 5");
  await page
    .getByRole("link", { name: /^Piers 5/ })
    .first()
    .waitFor();
  expect(opened.problems).toEqual([]);
});
