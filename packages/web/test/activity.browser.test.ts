// The Activity tab of the Server page: requests of other programs one by one, cancel, their bodies while they are kept, and the log. And
// what the page says in German when a request fails.
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";

import { seriousFaults } from "./accessible.ts";
import { useBrowser } from "./browser.ts";
import { ChatHands } from "./chat-hands.ts";
import { Home, IngleProcess } from "./ingle-process.ts";
import type { TestPage } from "./test-page.ts";

const browser = useBrowser();
let home: Home;
beforeAll(async () => {
  home = await Home.make();
});
afterAll(async () => home[Symbol.asyncDispose]());

/** A server over a model that does what this says. */
async function serve(script: object): Promise<IngleProcess> {
  return IngleProcess.start(["serve", "--port", "0"], {
    home,
    program: "scripted",
    env: { SCRIPT: JSON.stringify(script) },
  });
}

/** Asks the server's only model, as another program does. */
async function ask(ingle: IngleProcess, words: string): Promise<Response> {
  const [model] = (await new OpenAI({ baseURL: `${ingle.origin}/v1`, apiKey: "any" }).models.list()).data;
  return await fetch(`${ingle.origin}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: model?.id, stream: true, messages: [{ role: "user", content: words }] }),
  });
}

async function activityOf(opened: TestPage, ingle: IngleProcess) {
  const { page } = opened;
  await page.goto(`${ingle.origin}/#/server`);
  await page.getByRole("tab", { name: "Activity" }).click();
  return page;
}

it("shows a request of another program while it runs, and Cancel ends it", async () => {
  // It would take a quarter of an hour.
  await using ingle = await serve({ pieces: Array.from({ length: 2_000 }, () => "word "), delayMs: 500 });
  await using opened = await browser.open({ url: ingle.address });
  const page = await activityOf(opened, ingle);
  await page.getByText("No program has asked a model for anything since the start.").waitFor();
  const answer = ask(ingle, "a secret question");
  const row = page.getByRole("row").filter({ hasText: "/v1/chat/completions" });
  await row.getByText("Answering").waitFor();
  await row.getByRole("button", { name: /^Cancel the request/ }).click();
  await row.getByText("Cancelled").waitFor();
  expect(await row.getByRole("button", { name: /^Cancel the request/ }).count()).toBe(0);
  const text = await (await answer).text();
  expect(text).toContain('"code":"cancelled"');
  expect(text).not.toContain("[DONE]");

  const log = page.getByRole("log");
  await log.getByText("/v1/chat/completions").waitFor();
  await log.getByText("code=cancelled").waitFor();
  expect(await seriousFaults(page)).toEqual([]);
  await row.getByRole("button", { name: /^Details/ }).click();
  await page.getByRole("dialog").getByText("Bodies are not kept.").waitFor();
  expect(await page.content()).not.toContain("secret");
  expect(opened.problems).toEqual([]);
});

it("shows bodies once a person has agreed, and forgets them when the switch is off", async () => {
  await using ingle = await serve({ pieces: ["a secret answer"] });
  await using opened = await browser.open({ url: ingle.address });
  const page = await activityOf(opened, ingle);
  const keep = page.getByRole("switch", { name: "Keep bodies" });
  await keep.click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  expect(await keep.isChecked()).toBe(false);
  await keep.click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep bodies" }).click();
  await expect.poll(() => keep.isChecked()).toBe(true);

  await (await ask(ingle, "a secret question")).text();
  await page.getByRole("button", { name: /^Details/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("region", { name: "Body" }).getByText("a secret question").waitFor();
  await dialog.getByRole("region", { name: "Answer" }).getByText("a secret answer").waitFor();
  await page.keyboard.press("Escape");
  await keep.click();
  await expect.poll(() => keep.isChecked()).toBe(false);
  await page.getByRole("button", { name: /^Details/ }).click();
  await dialog.getByText("Bodies are not kept.").waitFor();
  expect(await page.content()).not.toContain("secret");
  expect(opened.problems).toEqual([]);
});

it("says in German what went wrong, with the server's own sentence below", async () => {
  const failure = { code: "engine_failed", message: "The device is gone." };
  await using ingle = await serve({ pieces: [], failure });
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  const chat = new ChatHands(page);
  await chat.ask("Hello");
  const reply = chat.replies.first();
  await reply.getByText("The model could not be loaded, or could not answer.").waitFor();
  await page.evaluate(() => localStorage.setItem("ingle-language", "de"));
  await page.reload();
  await reply.getByText("Das Modell konnte nicht geladen werden oder nicht antworten.").waitFor();
  expect(await reply.innerText()).toContain("The device is gone.");
});
