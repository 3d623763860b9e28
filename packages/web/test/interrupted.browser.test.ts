// Replies that are interrupted: the page is reloaded, another tab is closed, the database fails.
import { tinyModel } from "@ingle/fixtures";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";

import { app } from "./ingle-process.ts";
import { ChatPage } from "./chat-page.ts";
import { useBrowser, useIngle } from "./setup.ts";

const browser = useBrowser();
const ingle = useIngle(app, async () => ({
  "short.gguf": await tinyModel({ endAfter: 20 }),
  "endless.gguf": await tinyModel({ seed: 2, contextLength: 32_768 }),
}));
const withoutStore = useIngle([...app, "--chat-store", "browser"], async () => ({
  "short.gguf": await tinyModel({ endAfter: 20 }),
}));

const elsewhere = "Another tab is writing this answer.";

/** Without signs, which may be Markdown, and then are hidden once the text after them is known. */
const onlyLetters = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, "");

/** Records every note that the page shows, however briefly. */
async function recordNotes(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    const seen = new Set<string>();
    Reflect.set(globalThis, "seenNotes", seen);
    new MutationObserver(() => {
      for (const note of document.querySelectorAll(".reply-note")) seen.add(note.textContent ?? "");
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
  return () => page.evaluate(() => [...(Reflect.get(globalThis, "seenNotes") as Set<string>)]);
}

it("keeps the visible text of a reply if the page is reloaded after the first words, and continues it", async () => {
  await using opened = await browser.open();
  const { page, chat } = opened;
  const notes = await recordNotes(page);
  await page.goto(ingle().address);
  await chat.choose("endless");
  await chat.ask("Tell me everything");
  await chat.begun(0);
  const seen = await chat.replyText(0);
  expect(await notes()).not.toContain(elsewhere);
  await page.reload();
  await chat.replies.first().getByRole("button", { name: "Continue" }).waitFor();
  const kept = await chat.replyText(0);
  expect(onlyLetters(kept).length).toBeGreaterThanOrEqual(onlyLetters(seen).length);
  expect(kept.startsWith(seen.slice(0, 10))).toBe(true);
  expect(await notes()).not.toContain(elsewhere);
  await chat.replies.first().getByRole("button", { name: "Continue" }).click();
  await expect.poll(async () => (await chat.replyText(0)).length).toBeGreaterThan(kept.length);
  await chat.stop.click();
  await chat.send.waitFor();
  expect(opened.problems).toEqual([]);
});

it("ends a reply in other tabs when the tab that writes it is closed", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const writer = new ChatPage(await opened.tab(ingle().address));
  const reader = opened.chat;
  await writer.choose("endless");
  await writer.ask("For two tabs");
  await writer.begun(0);
  await reader.page.getByRole("link", { name: /For two tabs/ }).click();
  await reader.page.getByText(elsewhere).waitFor();
  await writer.page.close({ runBeforeUnload: false });
  await reader.page.getByText("The page was closed before this answer was finished.").waitFor();
  expect(await reader.replyText(0)).not.toBe("");
  expect(opened.problems).toEqual([]);
});

it("shows a reply that the database cannot store, reports it, and recovers it at the next start", async () => {
  await using opened = await browser.open({ url: withoutStore().address });
  const { page, chat } = opened;
  await chat.choose("short");
  await page.evaluate(() => {
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function refuse(
      this: IDBObjectStore,
      value: { role?: string; text?: string },
      key,
    ) {
      const isReply = value.role === "assistant" && value.text !== "";
      if (isReply) throw new DOMException("The disk is full.", "QuotaExceededError");
      return put.call(this, value, key);
    };
  });
  const text = await chat.askAndWait("Hello");
  expect(text).not.toBe("");
  await page.getByText("The disk is full.").waitFor();
  expect(await page.getByText(elsewhere).count()).toBe(0);
  await page.reload();
  await chat.begun(0);
  expect(await chat.wholeReply(0)).toBe(text);
  await expect
    .poll(() => page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("unsaved"))))
    .toEqual([]);
  expect(opened.problems).toEqual([]);
});
