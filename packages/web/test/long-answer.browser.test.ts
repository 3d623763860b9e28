// An answer of 20,000 tokens, as fast as the server can send it: the page stays quick while it is written.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";

import { useBrowser } from "./browser.ts";
import { ChatHands } from "./chat-hands.ts";
import { Home, IngleProcess } from "./ingle-process.ts";
import { longAnswer } from "./long-answer.ts";
import { tasksDuring } from "./main-thread.ts";

const tokens = 20_000;
/** What a person begins to notice, in time of the processor. */
const longTaskMs = 100;
const browser = useBrowser();

it("draws it without a task that a person would notice", async () => {
  await using home = await Home.make();
  const SCRIPT_FILE = path.join(home.folder, "script.json");
  await writeFile(SCRIPT_FILE, JSON.stringify({ pieces: longAnswer(tokens), contextLength: 65_536 }));
  await using ingle = await IngleProcess.start(["serve", "--port", "0"], {
    home,
    program: "scripted",
    env: { SCRIPT_FILE },
  });
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  const chat = new ChatHands(page);
  await chat.composer.waitFor();
  const tasks = await tasksDuring(page, async () => {
    await chat.ask("Write for a long time");
    await chat.wholeReply(0, { timeout: 60_000 });
  });
  expect(await chat.textOf(0)).toContain("A heading of some words");
  expect(tasks.length).toBeGreaterThan(100);
  expect(Math.max(...tasks.map(({ cpuMs }) => cpuMs))).toBeLessThan(longTaskMs);
  expect(opened.problems).toEqual([]);
}, 90_000);
