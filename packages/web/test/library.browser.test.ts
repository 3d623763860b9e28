// The library: what is done with a model that is here, and how others come in from this machine.
import { copyFile, mkdir, rm, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { tinyModel } from "@ingle/fixtures";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";

import { useBrowser } from "./browser.ts";
import { Home, IngleProcess } from "./ingle-process.ts";

/** A lock that is touched in the future is taken from nobody as abandoned. */
const lockedUntil = new Date(Date.now() + 3_600_000);

const browser = useBrowser();
let home: Home;
let ingle: IngleProcess;
let holdFile: string;
beforeAll(async () => {
  home = await Home.make({ "tiny.gguf": await tinyModel(), "unwanted.gguf": await tinyModel({ seed: 2 }) });
  holdFile = path.join(home.folder, "go-on");
  const hold = pathToFileURL(path.join(import.meta.dirname, "hold-quantization.js")).href;
  const env = { NODE_OPTIONS: `--import=${hold}`, HOLD_FILE: holdFile };
  ingle = await IngleProcess.start(["app", "--no-open", "--port", "0"], { home, env });
});
afterAll(async () => {
  await ingle[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

async function openLibrary() {
  const opened = await browser.open({ url: ingle.address });
  await opened.page.goto(`${ingle.origin}/#/library`);
  return { opened, page: opened.page, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

function card(page: Page, model: string): Locator {
  return page
    .getByRole("list", { name: "Models on this machine" })
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: model, exact: true }) });
}

async function chooseInMenu(page: Page, model: string, item: string): Promise<void> {
  await card(page, model)
    .getByRole("button", { name: `More for ${model}` })
    .click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

it("loads a model with an estimate, pins it while it is in memory, and unloads it", async () => {
  await using test = await openLibrary();
  const { page, opened } = test;
  const model = card(page, "tiny");
  await model.getByRole("button", { name: /^Load/ }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Longest context that fits").waitFor();
  await dialog.getByRole("button", { name: "Load", exact: true }).click();
  await model.getByText("Loaded").waitFor();

  await chooseInMenu(page, "tiny", "Pin");
  await model.getByText("Pinned", { exact: true }).waitFor();
  await page.reload();
  await model.getByText("Pinned", { exact: true }).waitFor();
  await chooseInMenu(page, "tiny", "Unpin");
  await model.getByText("Pinned", { exact: true }).waitFor({ state: "detached" });

  await model.getByRole("button", { name: "Unload" }).click();
  await model.getByText("On disk").waitFor();
  expect(opened.problems).toEqual([]);
});

it("removes a model after a question, and not without", async () => {
  await using test = await openLibrary();
  const { page, opened } = test;
  const model = card(page, "unwanted");
  await chooseInMenu(page, "unwanted", "Remove…");
  const question = page.getByRole("dialog", { name: "Remove unwanted?" });
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "detached" });
  await model.waitFor();
  await chooseInMenu(page, "unwanted", "Remove…");
  await question.getByRole("button", { name: "Remove" }).click();
  await model.waitFor({ state: "detached" });
  await page.locator(".toast").filter({ hasText: "unwanted was removed" }).waitFor();
  await page.reload();
  await card(page, "tiny").waitFor();
  expect(await model.count()).toBe(0);
  expect(opened.problems).toEqual([]);
});

it("imports a file of this machine, and quantizes it with the progress that the server tells", async () => {
  await using test = await openLibrary();
  const { page, opened } = test;
  const file = path.join(home.folder, "mine-F32.gguf");
  await copyFile(await tinyModel({ weights: "f32" }), file);
  await page.getByRole("button", { name: "Import…" }).click();
  await page.getByLabel("Path on the server's machine").fill(file);
  // As another process that changes the library does: the import waits for it, and is seen under way.
  const lock = path.join(home.folder, "library.json.lock");
  await mkdir(lock);
  await utimes(lock, lockedUntil, lockedUntil);
  await page.getByRole("dialog").getByRole("button", { name: "Import", exact: true }).click();
  const job = page.locator("li.job").filter({ hasText: `Import of ${file}` });
  await job.getByText("Running").waitFor();
  await job.getByRole("progressbar").waitFor();
  await rm(lock, { recursive: true });
  await job.getByText("Done").waitFor();
  await card(page, "mine-F32")
    .getByText(/F32 · GGUF/)
    .waitFor();

  await chooseInMenu(page, "mine-F32", "Quantize…");
  const dialog = page.getByRole("dialog", { name: "Quantize mine-F32" });
  await dialog.getByRole("radio", { name: /^Q8_0/ }).check();
  await dialog.getByRole("button", { name: "Quantize", exact: true }).click();
  const quantizing = page.locator("li.job").filter({ hasText: "mine-F32 to Q8_0" });
  await quantizing.getByText(/^Quantizing · \d+\s?% · .+ of .+/).waitFor();
  const bar = quantizing.getByRole("progressbar");
  const share = () => bar.evaluate((element: HTMLProgressElement) => element.value);
  await expect.poll(share).toBeGreaterThan(0);
  expect(await share()).toBeLessThan(1);
  await writeFile(holdFile, "");
  await card(page, "mine-Q8_0")
    .getByText(/Q8_0 · GGUF/)
    .waitFor();
  await page.getByText("mine-Q8_0 is on this machine now.").waitFor();
  expect(opened.problems).toEqual([]);
});
