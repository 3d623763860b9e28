// The first start, on a machine without models.
import { readFile } from "node:fs/promises";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import { tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { app, IngleProcess } from "./ingle-process.ts";
import { useBrowser } from "./setup.ts";

const browser = useBrowser();

/** A hub with the repositories that Ingle recommends; their models are tiny ones. */
async function recommendingHub(): Promise<FakeHub> {
  const bytes = await readFile(await tinyModel({ architecture: "lfm2", endAfter: 20 }));
  return FakeHub.start(
    ...["2.6B", "1.2B", "700M", "350M"].map((size) => ({
      repo: `LiquidAI/LFM2-${size}-GGUF`,
      files: { [`LFM2-${size}-Q4_K_M.gguf`]: bytes },
      tags: ["gguf", "license:other"],
    })),
  );
}

it("takes three clicks from an empty machine to a reply", async () => {
  await using hub = await recommendingHub();
  await using ingle = await IngleProcess.start(app, { env: { HF_ENDPOINT: hub.url } });
  await using opened = await browser.open();
  const { page, chat } = opened;
  await page.addInitScript(() => {
    Reflect.set(globalThis, "clicks", 0);
    addEventListener("click", ({ isTrusted }) => {
      if (isTrusted) Reflect.set(globalThis, "clicks", Number(Reflect.get(globalThis, "clicks")) + 1);
    });
  });
  await page.goto(ingle.address);
  expect(page.url()).not.toContain("token");

  await page.getByRole("button", { name: /^Download LiquidAI\/LFM2-/ }).click();
  await page.getByRole("button", { name: "Start chatting" }).click();
  await page.keyboard.type("What is the capital of France?"); // the composer already has the focus
  await chat.send.click();
  await chat.begun(0);
  expect(await page.evaluate(() => Reflect.get(globalThis, "clicks"))).toBe(3);
  expect(await chat.wholeReply(0)).not.toBe("");
  expect(opened.problems).toEqual([]);
});

it("reports that the hub is unreachable, and searches again on request", async () => {
  await using hub = await recommendingHub();
  let isReachable = false;
  hub.intercept = (_request, response) => {
    if (!isReachable) response.destroy();
    return !isReachable;
  };
  await using ingle = await IngleProcess.start(app, { env: { HF_ENDPOINT: hub.url } });
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  await page
    .getByText(/did not respond|can be recommended right now|offers none/)
    .first()
    .waitFor({ timeout: 25_000 });
  await page.goto(`${ingle.origin}/#/library/hub/lfm2`);
  await page.getByText("The model hub cannot be reached").waitFor();
  isReachable = true;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("list", { name: "Matching repositories" }).waitFor();
  expect(opened.problems.filter((problem) => !problem.includes("Failed to load resource"))).toEqual([]);
});
