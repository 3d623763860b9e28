// The Activity tab of the Server page: requests of other programs, cancelling them, their bodies, and the log. Also, errors in German.
import OpenAI from "openai";
import { expect, it } from "vitest";

import { seriousViolations } from "./accessible.ts";
import { IngleProcess, serve } from "./ingle-process.ts";
import { useBrowser } from "./setup.ts";
import type { TestPage } from "./test-page.ts";

const browser = useBrowser();

/** Sends a request to the server's only model, as another program would. */
async function ask(ingle: IngleProcess, words: string): Promise<Response> {
  const [model] = (await new OpenAI({ baseURL: `${ingle.origin}/v1`, apiKey: "any" }).models.list()).data;
  return await fetch(`${ingle.origin}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: model?.id, stream: true, messages: [{ role: "user", content: words }] }),
  });
}

async function openActivity(opened: TestPage, ingle: IngleProcess) {
  const { page } = opened;
  await page.goto(`${ingle.origin}/#/server`);
  await page.getByRole("tab", { name: "Activity" }).click();
  return page;
}

it("shows a running request of another program, and cancels it", async () => {
  // Generating all of it would take a quarter of an hour.
  const script = { pieces: Array.from({ length: 2_000 }, () => "word "), delayMs: 500 };
  await using ingle = await IngleProcess.start(serve, { script });
  await using opened = await browser.open({ url: ingle.address });
  const page = await openActivity(opened, ingle);
  await page.getByText("No program has sent a request yet.").waitFor();
  const answer = ask(ingle, "a secret question");
  const row = page.getByRole("row").filter({ hasText: "/v1/chat/completions" });
  await row.getByText("Answering").waitFor();
  await row.getByRole("button", { name: /^Cancel request/ }).click();
  await row.getByText("Cancelled").waitFor();
  expect(await row.getByRole("button", { name: /^Cancel request/ }).count()).toBe(0);
  const text = await (await answer).text();
  expect(text).toContain('"code":"cancelled"');
  expect(text).not.toContain("[DONE]");

  const log = page.getByRole("log");
  await log.getByText("/v1/chat/completions").waitFor();
  await log.getByText("code=cancelled").waitFor();
  expect(await seriousViolations(page)).toEqual([]);
  await row.getByRole("button", { name: /^Details/ }).click();
  await page.getByRole("dialog").getByText("Prompts and answers are not kept.").waitFor();
  expect(await page.content()).not.toContain("secret");
  expect(opened.problems).toEqual([]);
});

it("shows bodies after a confirmation, and deletes them when the switch is turned off", async () => {
  await using ingle = await IngleProcess.start(serve, { script: { pieces: ["a secret answer"] } });
  await using opened = await browser.open({ url: ingle.address });
  const page = await openActivity(opened, ingle);
  const keep = page.getByRole("switch", { name: "Keep prompts and answers" });
  await keep.click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  expect(await keep.isChecked()).toBe(false);
  await keep.click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep them" }).click();
  await expect.poll(() => keep.isChecked()).toBe(true);

  await (await ask(ingle, "a secret question")).text();
  await page.getByRole("button", { name: /^Details/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("region", { name: "Prompt as sent" }).getByText("a secret question").waitFor();
  await dialog.getByRole("region", { name: "Answer" }).getByText("a secret answer").waitFor();
  await page.keyboard.press("Escape");
  await keep.click();
  await expect.poll(() => keep.isChecked()).toBe(false);
  await page.getByRole("button", { name: /^Details/ }).click();
  await dialog.getByText("Prompts and answers are not kept.").waitFor();
  expect(await page.content()).not.toContain("secret");
  expect(opened.problems).toEqual([]);
});

it("shows an error in German, with the server's own sentence below", async () => {
  const failure = { code: "engine_failed", message: "The device is gone." };
  await using ingle = await IngleProcess.start(serve, { script: { pieces: [], failure } });
  await using opened = await browser.open({ url: ingle.address });
  const { page, chat } = opened;
  await chat.ask("Hello");
  const reply = chat.replies.first();
  await reply.getByText("The model could not be loaded or could not answer.").waitFor();
  await page.evaluate(() => localStorage.setItem("ingle-language", "de"));
  await page.reload();
  await reply.getByText("Das Modell konnte nicht geladen werden oder nicht antworten.").waitFor();
  await expect.poll(() => reply.innerText()).toContain("The device is gone.");
});
