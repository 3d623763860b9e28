// A reply of 20,000 tokens, as fast as the server can send it: the page stays responsive.
import { expect, it } from "vitest";

import { IngleProcess, serve } from "./ingle-process.ts";
import { longAnswer } from "./long-answer.ts";
import { tasksDuring } from "./main-thread.ts";
import { useBrowser } from "./setup.ts";

const tokens = 20_000;
/** A noticeable delay, in processor time. */
const longTaskMs = 100;
const browser = useBrowser({ isMeasured: true });

it("renders it without noticeable delays", async () => {
  const script = { pieces: longAnswer(tokens), contextLength: 65_536 };
  await using ingle = await IngleProcess.start(serve, { script });
  await using opened = await browser.open({ url: ingle.address });
  const { page, chat } = opened;
  await chat.composer.waitFor();
  const tasks = await tasksDuring(page, async () => {
    await chat.ask("Write for a long time");
    await chat.wholeReply(0, { timeout: 60_000 });
  });
  expect(await chat.replyText(0)).toContain("A heading of some words");
  expect(tasks.length).toBeGreaterThan(100);
  expect(Math.max(...tasks.map(({ cpuMs }) => cpuMs))).toBeLessThan(longTaskMs);
  expect(opened.problems).toEqual([]);
}, 90_000);
