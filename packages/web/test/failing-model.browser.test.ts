// A model whose file is damaged beside one that is whole: the page says why it does not load and what to do, and goes on.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, expect, it } from "vitest";

import { useBrowser } from "./browser.ts";
import { ChatHands } from "./chat-hands.ts";
import { Home, IngleProcess } from "./ingle-process.ts";

const whyAndWhatToDo = /not within the file bounds.* The file may be cut short or damaged; fetch it again\./;

const browser = useBrowser();
let home: Home;
let ingle: IngleProcess;
beforeAll(async () => {
  const file = await tinyModel({ endAfter: 20 });
  home = await Home.make({ "whole.gguf": file });
  const bytes = await readFile(file);
  // As a download that broke: the header is whole, and half of the weights are missing.
  await writeFile(path.join(home.modelsFolder, "damaged.gguf"), bytes.subarray(0, bytes.length / 2));
  ingle = await IngleProcess.start(["app", "--no-open", "--port", "0"], { home });
});
afterAll(async () => {
  await ingle[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

it("says at once why a damaged model does not answer, and lets another one answer the same question", async () => {
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  const chat = new ChatHands(page);
  await chat.choose("damaged");
  await chat.ask("Hello");
  const failure = chat.replies.first().getByRole("group", { name: "No answer" });
  await failure.getByText(whyAndWhatToDo).waitFor();
  // The same stands above the chat, with the way to the library, for as long as the model is chosen.
  const note = page.locator(".model-states");
  await note.getByText(whyAndWhatToDo).waitFor();
  await note.getByRole("link", { name: "Library" }).click();
  const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "damaged" }) });
  await card.getByText(whyAndWhatToDo).waitFor();
  await card.getByRole("button", { name: "More for damaged" }).click();
  await page.getByRole("menuitem", { name: "Remove…" }).waitFor();
  await page.keyboard.press("Escape");

  await page.goBack();
  await chat.replies.first().getByRole("button", { name: "More for this message" }).click();
  await page.getByRole("menuitem", { name: "Try again with whole" }).click();
  await page.getByRole("article", { name: "whole" }).waitFor();
  expect(await chat.wholeReply(0)).not.toBe("");
  await chat.choose("whole");
  await note.getByText(whyAndWhatToDo).waitFor({ state: "detached" });
  expect(await chat.askAndWait("And then?")).not.toBe("");
  expect(opened.problems.filter((problem) => !problem.includes("500"))).toEqual([]);
});

it("waits for a model that the server refuses while it loads", async () => {
  const command = ["serve", "--port", "0", "--model", "whole"];
  await using rejecting = await IngleProcess.start(command, { home, env: { INGLE_ON_LOADING: "reject" } });
  await using opened = await browser.open({ url: rejecting.address });
  const chat = new ChatHands(opened.page);
  expect(await chat.askAndWait("Hello")).not.toBe("");
  expect(opened.problems.filter((problem) => !problem.includes("503"))).toEqual([]);
});
