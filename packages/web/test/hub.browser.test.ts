// The model hub, from an empty models folder: search, fit, downloads, and a chat with a downloaded model. The hub holds back its bytes
// until the test releases them, so that every state lasts long enough.
import { readFile } from "node:fs/promises";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import { tinyModel } from "@ingle/fixtures";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";

import { app, IngleProcess } from "./ingle-process.ts";
import { useBrowser } from "./setup.ts";

const [kept, other] = ["acme/tiny-chat-GGUF", "acme/tiny-other-GGUF"];
const files = { kept: "tiny-chat-Q4_K_M.gguf", other: "tiny-other-Q8_0.gguf", huge: "tiny-chat-F16.gguf" };
/** More than the memory of any machine. */
const hugeBytes = 900e12;
/** Each file is held back after this many bytes, far from its end. */
const holdAfterBytes = 100_000;
/** The server retries several times before it reports that the hub does not respond. */
const hubFailureMs = 25_000;

const browser = useBrowser();

/** The row of a download in the library. */
function jobRow(page: Page, model: string): Locator {
  return page.locator("li.job").filter({ hasText: model });
}

async function readProgress(row: Locator): Promise<number> {
  return row.getByRole("progressbar").evaluate((bar: HTMLProgressElement) => bar.value);
}

it("searches, shows what fits, downloads two at once, pauses, resumes, cancels, and chats", async () => {
  const bytes = await readFile(await tinyModel({ endAfter: 200 }));
  const otherBytes = await readFile(await tinyModel({ endAfter: 200, seed: 3 }));
  await using hub = await FakeHub.start(
    {
      repo: kept,
      files: { [files.kept]: bytes, [files.huge]: Buffer.from("never fetched") },
      announcedBytes: { [files.huge]: hugeBytes },
    },
    { repo: other, files: { [files.other]: otherBytes } },
  );
  await using ingle = await IngleProcess.start(app, { env: { HF_ENDPOINT: hub.url } });
  await using opened = await browser.open({ url: ingle.address });
  const { page, chat } = opened;

  await page.getByRole("link", { name: "Other models" }).click();
  await page.getByRole("searchbox", { name: "Search the model hub" }).fill("tiny");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.getByRole("button", { name: /tiny-other-GGUF/ }).click();
  await page.getByRole("button", { name: `Download ${other}:Q8_0` }).waitFor();
  await page.getByRole("button", { name: /tiny-chat-GGUF/ }).click();
  const offers = page.getByRole("list", { name: `Models in ${kept}` }).getByRole("listitem");
  const fitting = offers.filter({ hasText: /^Q4_K_M/ });
  await fitting.getByText("Fits", { exact: true }).waitFor();
  await fitting.getByText(/Needs about .+ is free now\./).waitFor();
  const tooLarge = offers.filter({ hasText: /^F16/ });
  await tooLarge.getByText("Too large", { exact: true }).waitFor();
  await tooLarge.getByText(/Needs about .+; this machine has .+\. Q4_K_M would fit\./).waitFor();

  const release = {
    kept: hub.hold(kept, files.kept, holdAfterBytes),
    other: hub.hold(other, files.other, holdAfterBytes),
  };
  const jobs = { kept: jobRow(page, `${kept}:Q4_K_M`), other: jobRow(page, `${other}:Q8_0`) };
  await page.getByRole("button", { name: `Download ${kept}:Q4_K_M` }).click();
  await page.getByRole("button", { name: /tiny-other-GGUF/ }).click();
  await page.getByRole("button", { name: `Download ${other}:Q8_0` }).click();
  for (const job of [jobs.kept, jobs.other]) {
    await job.getByText("Running").waitFor();
    await job.getByText(/Downloading · \d+\s?% · .+ of .+/).waitFor();
    await expect.poll(() => readProgress(job)).toBeGreaterThan(0);
    expect(await readProgress(job)).toBeLessThan(0.5);
  }

  await jobs.kept.getByRole("button", { name: /^Pause: / }).click();
  await jobs.kept.getByText("Paused").waitFor();
  await jobs.other.getByText("Running").waitFor();
  const asked = hub.byteRequests.length;
  release.kept();
  await page.reload();
  await jobs.kept.getByText("Paused").waitFor();
  const askedForPaused = hub.byteRequests
    .slice(asked)
    .filter(({ url }) => url?.includes(files.kept) ?? false);
  expect(askedForPaused.map(({ url }) => url)).toEqual([]);

  await jobs.kept.getByRole("button", { name: /^Resume: / }).click();
  await jobs.kept.getByText("Done").waitFor();
  expect(hub.byteRequests.at(-1)?.headers.range).toMatch(/^bytes=[1-9]/);

  await jobs.other.getByRole("button", { name: /^Cancel: / }).click();
  const question = page.getByRole("dialog", { name: "Cancel this download?" });
  await question.getByRole("button", { name: "Cancel", exact: true }).click();
  await jobs.other.getByText("Running").waitFor();
  await jobs.other.getByRole("button", { name: /^Cancel: / }).click();
  await question.getByRole("button", { name: "Cancel the download" }).click();
  await jobs.other.getByText("Cancelled").waitFor();

  // The downloaded bytes are not requested again.
  release.other();
  await page.getByRole("button", { name: `Download ${other}:Q8_0` }).click();
  await expect.poll(() => jobs.other.getByText("Done").count()).toBe(1);
  expect(hub.byteRequests.at(-1)?.headers.range).toMatch(/^bytes=[1-9]/);

  await page.getByRole("tab", { name: "On this machine (2)" }).click();
  await page.getByRole("button", { name: `Chat with ${kept}:Q4_K_M` }).click();
  expect(await chat.askAndWait("Hello")).not.toBe("");
  await page.getByRole("article", { name: `${kept}:Q4_K_M` }).waitFor();
  expect(opened.problems).toEqual([]);
}, 90_000);

it("reports that the hub is unreachable, while installed models work", async () => {
  const models = { "tiny.gguf": await tinyModel({ endAfter: 200 }) };
  await using ingle = await IngleProcess.start(app, { models });
  await using opened = await browser.open({ url: ingle.address });
  const { page, chat } = opened;
  await page.goto(`${ingle.origin}/#/library/hub/lfm2`);
  await page.getByText("Searching…").waitFor();
  await page.getByRole("tab", { name: "On this machine (1)" }).click();
  await page.getByRole("button", { name: "Chat with tiny" }).click();
  expect(await chat.askAndWait("Hello")).not.toBe("");
  await page.goto(`${ingle.origin}/#/library/hub/lfm2`);
  const note = page.getByRole("alert").filter({ hasText: "The model hub cannot be reached" });
  await note.getByText("Models on this machine still work.").waitFor({ timeout: hubFailureMs });
  expect(opened.problems.filter((problem) => !problem.includes("Failed to load resource"))).toEqual([]);
});
