// Answers that do not come to their end: the page is loaded again, another tab is closed, the database refuses.
import { tinyModel } from "@ingle/fixtures";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";

import { useBrowser } from "./browser.ts";
import { ChatHands } from "./chat-hands.ts";
import { Home, IngleProcess } from "./ingle-process.ts";

const browser = useBrowser();
let home: Home;
let ingle: IngleProcess;
beforeAll(async () => {
  home = await Home.make({
    "short.gguf": await tinyModel({ endAfter: 20 }),
    "endless.gguf": await tinyModel({ seed: 2, contextLength: 32_768 }),
  });
  ingle = await IngleProcess.start(["app", "--no-open", "--port", "0"], { home });
});
afterAll(async () => {
  await ingle[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const elsewhere = "Another tab is writing this answer.";

/** Remembers every text that the page shows, however shortly. */
async function rememberNotes(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    const seen = new Set<string>();
    Reflect.set(globalThis, "seenNotes", seen);
    new MutationObserver(() => {
      for (const note of document.querySelectorAll(".reply-note")) seen.add(note.textContent ?? "");
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
  return () => page.evaluate(() => [...(Reflect.get(globalThis, "seenNotes") as Set<string>)]);
}

it("keeps what was seen of an answer when the page is loaded again right after its first words, and goes on with it", async () => {
  await using opened = await browser.open({});
  const { page } = opened;
  const notes = await rememberNotes(page);
  await page.goto(ingle.address);
  const chat = new ChatHands(page);
  await chat.choose("endless");
  await chat.ask("Tell me everything");
  await chat.begun(0);
  const seen = await chat.textOf(0);
  expect(await notes()).not.toContain(elsewhere);
  await page.reload();
  await chat.replies.first().getByRole("button", { name: "Continue" }).waitFor();
  const kept = await chat.textOf(0);
  expect(kept.length).toBeGreaterThanOrEqual(seen.length);
  expect(kept.startsWith(seen.slice(0, 10))).toBe(true);
  expect(await notes()).not.toContain(elsewhere);
  await chat.replies.first().getByRole("button", { name: "Continue" }).click();
  await expect.poll(async () => (await chat.textOf(0)).length).toBeGreaterThan(kept.length);
  await chat.stop.click();
  await chat.send.waitFor();
  expect(opened.problems).toEqual([]);
});

it("ends an answer in the tabs that look on when the tab that writes it is closed", async () => {
  await using opened = await browser.open({ url: ingle.address });
  const writer = new ChatHands(await opened.tab(ingle.address));
  const reader = new ChatHands(opened.page);
  await writer.choose("endless");
  await writer.ask("For two tabs");
  await writer.begun(0);
  await reader.page.getByRole("link", { name: /For two tabs/ }).click();
  await reader.page.getByText(elsewhere).waitFor();
  await writer.page.close({ runBeforeUnload: false });
  await reader.page.getByText("The page was closed in the middle of this answer.").waitFor();
  expect(await reader.textOf(0)).not.toBe("");
  expect(opened.problems).toEqual([]);
});

it("shows a whole answer that the database refuses, says so, and keeps it for the next start", async () => {
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  const chat = new ChatHands(page);
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
