// Chats of many messages: a key costs as little as in an empty one, and messages can be found, scrolled to and continued.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";

import { serve } from "./ingle-process.ts";
import { longChat } from "./long-chat.ts";
import { longAnswer } from "./long-answer.ts";
import { tasksDuring } from "./main-thread.ts";
import { useBrowser, useIngle } from "./setup.ts";
import type { TestPage } from "./test-page.ts";

const manyMessages = 1_000;
/** Enough that most are out of sight. */
const someMessages = 200;
/** A frame at 60 per second. */
const frameMs = 1_000 / 60;
/** How much more a key may cost than in an empty chat, on a machine that is too busy for the time of a frame. */
const factorMax = 3;
const keys = 40;
/** For rendering all messages, on a busy machine. */
const allMs = 60_000;

const browser = useBrowser({ isMeasured: true });
const ingle = useIngle(serve, async () => ({}), {
  script: { pieces: longAnswer(400), delayMs: 2, contextLength: 65_536 },
});

async function openLongChat({ page, chat }: TestPage, count: number): Promise<void> {
  await chat.importChats(longChat(count));
  await page.getByText("Imported 1 conversation.").waitFor();
  await page.getByRole("link", { name: "A long chat", exact: true }).click();
  // The end is shown first, the beginning last. Searching the page for words would take longer than rendering it.
  await page.getByText(`Answer ${count - 1}`, { exact: true }).waitFor();
  const isWhole = (all: number) => document.querySelectorAll(".thread-inner > .message").length === all;
  await page.waitForFunction(isWhole, count, { polling: 250, timeout: allMs });
}

/** Processor time of the page for each key, in milliseconds. Some keys begin a new line, which moves the messages. */
async function msPerKey(page: Page): Promise<number> {
  const tasks = await tasksDuring(page, async () => {
    for (let at = 0; at < keys; at += 1) await page.keyboard.press(at % 8 === 7 ? "Shift+Enter" : "a");
  });
  return tasks.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / keys;
}

/** How far the end of the messages is below what is shown. */
function pxBelow(page: Page): Promise<number> {
  return page
    .locator(".thread")
    .evaluate((thread) => thread.scrollHeight - thread.scrollTop - thread.clientHeight);
}

it("takes keys within the time of a frame", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  await chat.composer.focus();
  const empty = await msPerKey(page);
  await chat.composer.fill("");
  await openLongChat(opened, manyMessages);
  await chat.composer.focus();
  const long = await msPerKey(page);
  expect(long).toBeLessThan(Math.max(frameMs, factorMax * empty));
  expect(opened.problems).toEqual([]);
}, 120_000);

it("shows its end, finds words far away, returns to the end, and follows a reply there", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  await openLongChat(opened, someMessages);
  await expect.poll(() => pxBelow(page)).toBeLessThan(2);
  const found = page.getByText("Answer 101", { exact: true });
  const isShown = () => found.evaluate((words) => words.checkVisibility({ contentVisibilityAuto: true }));
  expect(await isShown()).toBe(false);
  // As the browser's own search does: it selects the words and scrolls to them.
  const isFound = await page.evaluate(() => {
    getSelection()?.removeAllRanges();
    const isThere: unknown = Reflect.apply(Reflect.get(window, "find"), window, ["Answer 101"]);
    getSelection()?.focusNode?.parentElement?.scrollIntoView({ block: "center" });
    return isThere;
  });
  expect(isFound).toBe(true);
  await expect.poll(isShown).toBe(true);
  await page.getByRole("button", { name: "Scroll to the end" }).click();
  await expect.poll(() => pxBelow(page)).toBeLessThan(2);
  await chat.ask("One more?");
  await chat.begun(someMessages / 2);
  await expect.poll(() => pxBelow(page)).toBeLessThan(2);
  await chat.wholeReply(someMessages / 2);
  await expect.poll(() => pxBelow(page)).toBeLessThan(2);
  expect(await chat.questions.count()).toBe(someMessages / 2 + 1);
  expect(opened.problems).toEqual([]);
}, 120_000);
