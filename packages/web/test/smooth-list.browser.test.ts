// Five hundred conversations: scrolling their list costs less than a frame has, also while an answer is written.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";

import { useBrowser } from "./browser.ts";
import { ChatHands } from "./chat-hands.ts";
import { Home, IngleProcess } from "./ingle-process.ts";
import { longAnswer } from "./long-answer.ts";
import { tasksDuring, type MainThreadTask } from "./main-thread.ts";
import { manyChats } from "./many-chats.ts";

const count = 500;
/** A frame at 60 in a second. */
const frameMs = 1_000 / 60;
/** This share of the tasks fits into a frame, with room for a processor that is shared; no other one is long. */
const fitting = 0.95;
const longTaskMs = 50;
const browser = useBrowser();

/** From the first conversation to the last, a wheel's notch a frame. */
async function scrollThrough(page: Page): Promise<void> {
  const passed = await page.locator(".windowed-list").evaluate(async (list) => {
    let frames = 0;
    while (list.scrollTop + list.clientHeight < list.scrollHeight - 1) {
      list.scrollTop += 120;
      frames += 1;
      await new Promise(requestAnimationFrame);
    }
    return frames;
  });
  expect(passed).toBeGreaterThan(count / 10);
  await page.getByRole("link", { name: `Conversation ${count - 1}`, exact: true }).waitFor();
  await page.locator(".windowed-list").evaluate((list) => list.scrollTo({ top: 0 }));
}

function expectSmooth(tasks: readonly MainThreadTask[]): void {
  const costs = tasks.map(({ cpuMs }) => cpuMs).toSorted((a, b) => a - b);
  expect(costs.length).toBeGreaterThan(100);
  expect(costs[Math.floor(costs.length * fitting)]).toBeLessThan(frameMs);
  expect(costs.at(-1)).toBeLessThan(longTaskMs);
}

it("scrolls through them by frames that keep their time, alone and beside an answer", async () => {
  await using home = await Home.make();
  const SCRIPT_FILE = path.join(home.folder, "script.json");
  await writeFile(SCRIPT_FILE, JSON.stringify({ pieces: longAnswer(20_000), contextLength: 65_536 }));
  await using ingle = await IngleProcess.start(["serve", "--port", "0"], {
    home,
    program: "scripted",
    env: { SCRIPT_FILE },
  });
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  const buffer = Buffer.from(JSON.stringify(manyChats(count)));
  await page
    .locator('input[type="file"][aria-label="Import chats"]')
    .setInputFiles({ name: "chats.json", mimeType: "application/json", buffer });
  await page.getByText(`Imported ${count} conversations.`).waitFor();
  expectSmooth(await tasksDuring(page, () => scrollThrough(page)));

  const chat = new ChatHands(page);
  await chat.ask("Write for a long time");
  await chat.begun(0);
  const tasks = await tasksDuring(page, () => scrollThrough(page));
  // Else it would have been measured alone again.
  expect(await chat.replies.first().getAttribute("aria-busy")).toBe("true");
  expectSmooth(tasks);
  expect(opened.problems).toEqual([]);
}, 90_000);
