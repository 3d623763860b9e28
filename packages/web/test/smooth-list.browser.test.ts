// Five hundred conversations: scrolling their list fits into a frame, also while a reply is written.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";

import { IngleProcess, serve } from "./ingle-process.ts";
import { longAnswer } from "./long-answer.ts";
import { tasksDuring, type MainThreadTask } from "./main-thread.ts";
import { manyChats } from "./many-chats.ts";
import { useBrowser } from "./setup.ts";

const count = 500;
/** A frame at 60 per second. */
const frameMs = 1_000 / 60;
/** The share of tasks that must fit into a frame, with a margin for a shared processor. None may be long. */
const fitting = 0.95;
const longTaskMs = 50;
const triesMax = 3;
const browser = useBrowser({ isMeasured: true });

/** Scrolls from the first conversation to the last, one wheel notch per frame. */
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

interface Costs {
  tasks: number;
  fittingMs: number;
  longestMs: number;
}

/**
 * What others do on the machine lengthens tasks even in processor time, by a cache that is shared and a core that is taken away, and never
 * shortens them. So of a few tries the smoothest one counts.
 */
async function smoothest(measure: () => Promise<readonly MainThreadTask[]>): Promise<Costs> {
  const tries: Costs[] = [];
  while (tries.length < triesMax && !tries.some(isSmooth)) tries.push(toCosts(await measure()));
  const [best] = tries.toSorted((one, other) => one.longestMs - other.longestMs);
  if (best === undefined) throw new Error("Nothing was measured.");
  return tries.find(isSmooth) ?? best;
}

function toCosts(tasks: readonly MainThreadTask[]): Costs {
  const costs = tasks.map(({ cpuMs }) => cpuMs).toSorted((a, b) => a - b);
  const fittingMs = costs[Math.floor(costs.length * fitting)] ?? Infinity;
  return { tasks: costs.length, fittingMs, longestMs: costs.at(-1) ?? Infinity };
}

function isSmooth({ fittingMs, longestMs }: Costs): boolean {
  return fittingMs < frameMs && longestMs < longTaskMs;
}

function expectSmooth({ tasks, fittingMs, longestMs }: Costs): void {
  expect(tasks).toBeGreaterThan(100);
  expect(fittingMs).toBeLessThan(frameMs);
  expect(longestMs).toBeLessThan(longTaskMs);
}

it("scrolls through them within the time of a frame, alone and beside a reply", async () => {
  const script = { pieces: longAnswer(20_000), contextLength: 65_536 };
  await using ingle = await IngleProcess.start(serve, { script });
  await using opened = await browser.open({ url: ingle.address });
  const { page, chat } = opened;
  await chat.importChats(manyChats(count));
  await page.getByText(`Imported ${count} conversations.`).waitFor();
  expectSmooth(await smoothest(() => tasksDuring(page, () => scrollThrough(page))));

  const besideReply = async (): Promise<readonly MainThreadTask[]> => {
    await chat.beginNew();
    await chat.ask("Write for a long time");
    await chat.begun(0);
    const tasks = await tasksDuring(page, () => scrollThrough(page));
    // Otherwise this would have measured scrolling alone again.
    expect(await chat.replies.first().getAttribute("aria-busy")).toBe("true");
    await chat.stop.click();
    await chat.send.waitFor();
    return tasks;
  };
  expectSmooth(await smoothest(besideReply));
  expect(opened.problems).toEqual([]);
}, 180_000);
