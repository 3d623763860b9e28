// The library: loading, pinning, removing, importing and quantizing models.
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { tinyModel } from "@ingle/fixtures";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";

import { app, Home, IngleProcess } from "./ingle-process.ts";
import { useBrowser, useShared } from "./setup.ts";
import type { TestPage } from "./test-page.ts";

/** A lock with a time in the future does not count as abandoned. */
const lockedUntil = new Date(Date.now() + 3_600_000);

const browser = useBrowser();
const home = useShared(async () =>
  Home.make({ "tiny.gguf": await tinyModel(), "unwanted.gguf": await tinyModel({ seed: 2 }) }),
);
const holdFile = () => path.join(home().folder, "continue");
const ingle = useShared(async () => {
  const hold = pathToFileURL(path.join(import.meta.dirname, "hold-quantization.js")).href;
  const env = { NODE_OPTIONS: `--import=${hold}`, HOLD_FILE: holdFile() };
  return IngleProcess.start(app, { home: home(), env });
});

async function openLibrary(): Promise<TestPage> {
  const opened = await browser.open({ url: ingle().address });
  await opened.page.goto(`${ingle().origin}/#/library`);
  return opened;
}

function card(page: Page, model: string): Locator {
  return page
    .getByRole("list", { name: "Models on this machine" })
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: model, exact: true }) });
}

async function chooseInMenu(page: Page, model: string, item: string): Promise<void> {
  await card(page, model)
    .getByRole("button", { name: `Actions for ${model}` })
    .click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

it("loads a model with an estimate, pins it, and unloads it", async () => {
  await using test = await openLibrary();
  const { page } = test;
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
  expect(test.problems).toEqual([]);
});

it("keeps settings with a model, which its chats and its next load have", async () => {
  await using test = await openLibrary();
  const { page } = test;
  await chooseInMenu(page, "tiny", "Settings…");
  const dialog = page.getByRole("dialog", { name: "Settings of tiny" });
  await dialog.getByLabel("Context length in tokens").fill("512");
  await dialog.getByLabel("KV cache").selectOption("8");
  await dialog.getByLabel("System prompt").fill("Be brief.");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const text = await readFile(path.join(home().folder, "config", "models.jsonc"), "utf8");
  expect(text).toContain('"system_prompt": "Be brief."');
  await chooseInMenu(page, "tiny", "Settings…");
  await expect.poll(() => dialog.getByLabel("Context length in tokens").inputValue()).toBe("512");
  await dialog.getByLabel("System prompt").fill("");
  await dialog.getByLabel("Context length in tokens").fill("");
  await dialog.getByLabel("KV cache").selectOption("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await readFile(path.join(home().folder, "config", "models.jsonc"), "utf8")).not.toContain("tiny");
  expect(test.problems).toEqual([]);
});

it("removes a model only after a confirmation", async () => {
  await using test = await openLibrary();
  const { page } = test;
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
  expect(test.problems).toEqual([]);
});

it("imports a file of this machine, and quantizes it with the server's progress", async () => {
  await using test = await openLibrary();
  const { page } = test;
  const file = path.join(home().folder, "mine-F32.gguf");
  await copyFile(await tinyModel({ weights: "f32" }), file);
  await page.getByRole("button", { name: "Import…" }).click();
  await page.getByLabel("Path on the server's machine").fill(file);
  // Holds the lock of another process, so that the import waits and can be seen running.
  const lock = path.join(home().folder, "library.json.lock");
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
  await dialog.getByText(home().modelsFolder).waitFor();
  await dialog.getByRole("radio", { name: /^Q8_0/ }).check();
  await dialog.getByRole("button", { name: "Quantize", exact: true }).click();
  const quantizing = page.locator("li.job").filter({ hasText: "mine-F32 to Q8_0" });
  await quantizing.getByText(/^Quantizing · \d+\s?% · .+ of .+/).waitFor();
  const bar = quantizing.getByRole("progressbar");
  const share = () => bar.evaluate((element: HTMLProgressElement) => element.value);
  await expect.poll(share).toBeGreaterThan(0);
  expect(await share()).toBeLessThan(1);
  await writeFile(holdFile(), "");
  await card(page, "mine-Q8_0")
    .getByText(/Q8_0 · GGUF/)
    .waitFor();
  await page.getByText("mine-Q8_0 is on this machine now.").waitFor();

  // What Ingle made is in Ingle's folder, and is deleted with its model; the imported file stays.
  const made = path.join(home().modelsFolder, "mine-Q8_0.gguf");
  expect(existsSync(made)).toBe(true);
  expect((await readdir(home().folder)).filter((name) => name.endsWith(".gguf"))).toEqual(["mine-F32.gguf"]);
  for (const [name, promise] of [
    ["mine-Q8_0", "This deletes its files in Ingle's models folder"],
    ["mine-F32", "It was imported, so its file stays where it is."],
  ] as const) {
    await chooseInMenu(page, name, "Remove…");
    const question = page.getByRole("dialog", { name: `Remove ${name}?` });
    await question.getByText(promise).waitFor();
    await question.getByRole("button", { name: "Remove", exact: true }).click();
    await card(page, name).waitFor({ state: "detached" });
  }
  expect([existsSync(made), existsSync(file)]).toEqual([false, true]);
  expect(test.problems).toEqual([]);
});
