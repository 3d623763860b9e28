// An answer of 20,000 tokens, as fast as the server can send it: the page stays quick while it is written.
import { writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";

import { useBrowser } from "./browser.ts";
import { ChatHands } from "./chat-hands.ts";
import { Home, IngleProcess } from "./ingle-process.ts";

const tokens = 20_000;
/** What a person begins to notice; on a machine that other work keeps busy, what is still no standstill. */
const longTaskMs = (loadavg()[0] ?? 0) < 1 ? 100 : 1_000;
const browser = useBrowser();

/** Markdown of all kinds, a token at a time. */
function pieces(): string[] {
  const block = [
    ..."## A heading of some words\n\n".split(/(?<= )/),
    ..."A paragraph with **bold words**, `code` and a [link](https://example.org) that goes on for a while. "
      .repeat(3)
      .split(/(?<= )/),
    ..."\n\n- one item\n- another item\n\n```js\nconst answer = 6 * 7;\nconsole.log(answer);\n```\n\n".split(
      /(?<=[ \n])/,
    ),
    ..."| a | b |\n|---|---|\n| 1 | 2 |\n\n".split(/(?<=[ |\n])/),
  ];
  return Array.from({ length: tokens }, (_nothing, at) => block[at % block.length] ?? "");
}

it("draws it without a task that a person would notice", async () => {
  await using home = await Home.make();
  const SCRIPT_FILE = path.join(home.folder, "script.json");
  await writeFile(SCRIPT_FILE, JSON.stringify({ pieces: pieces(), contextLength: 65_536 }));
  await using ingle = await IngleProcess.start(["serve", "--port", "0"], {
    home,
    program: "scripted",
    env: { SCRIPT_FILE },
  });
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  const chat = new ChatHands(page);
  await page.evaluate(() => {
    const durations: number[] = [];
    Reflect.set(globalThis, "longTasks", durations);
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) durations.push(duration);
    }).observe({ type: "longtask" });
  });
  await chat.ask("Write for a long time");
  const text = await chat.wholeReply(0, { timeout: 60_000 });
  const durations: number[] = await page.evaluate(() => Reflect.get(globalThis, "longTasks"));
  expect(text).toContain("A heading of some words");
  expect(Math.max(0, ...durations)).toBeLessThan(longTaskMs);
  expect(opened.problems).toEqual([]);
}, 90_000);
