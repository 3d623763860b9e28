// A model with a damaged file beside an intact one: the page reports why it does not load and what to do.
import { readFile } from "node:fs/promises";
import { tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { app, IngleProcess, serve } from "./ingle-process.ts";
import { useBrowser, useIngle } from "./setup.ts";

const whyAndWhatToDo =
  /not within the file bounds.* The file may be incomplete or damaged; download it again\./;

const browser = useBrowser();
const ingle = useIngle(app, async () => {
  const file = await tinyModel({ endAfter: 200 });
  const bytes = await readFile(file);
  // Like an aborted download: the header is complete, but half of the weights are missing.
  return { "whole.gguf": file, "damaged.gguf": bytes.subarray(0, bytes.length / 2) };
});

it("reports at once why a damaged model does not reply, and retries with another one", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  await chat.choose("damaged");
  await chat.ask("Hello");
  const failure = chat.replies.first().getByRole("group", { name: "No answer" });
  await failure.getByText(whyAndWhatToDo).waitFor();
  // It is also shown above the chat, with a link to the library, for as long as the model is chosen.
  const note = page.locator(".model-states");
  await note.getByText(whyAndWhatToDo).waitFor();
  await note.getByRole("link", { name: "Library" }).click();
  const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "damaged" }) });
  await card.getByText(whyAndWhatToDo).waitFor();
  await card.getByRole("button", { name: "Actions for damaged" }).click();
  await page.getByRole("menuitem", { name: "Remove…" }).waitFor();
  await page.keyboard.press("Escape");

  await page.goBack();
  await chat.replies.first().getByRole("button", { name: "Message actions" }).click();
  await page.getByRole("menuitem", { name: "Try again with whole" }).click();
  await page.getByRole("article", { name: "whole" }).waitFor();
  expect(await chat.wholeReply(0)).not.toBe("");
  await chat.choose("whole");
  await note.getByText(whyAndWhatToDo).waitFor({ state: "detached" });
  expect(await chat.askAndWait("And then?")).not.toBe("");
  expect(opened.problems.filter((problem) => !problem.includes("500"))).toEqual([]);
});

it("reports it in German, with the server's own sentence", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  await chat.choose("damaged");
  await chat.ask("Hallo");
  await chat.replies.first().getByRole("group", { name: "No answer" }).waitFor();
  await page.evaluate(() => localStorage.setItem("ingle-language", "de"));
  await page.reload();
  const german = "Das Modell konnte nicht geladen werden oder nicht antworten.";
  await page.locator(".model-states").getByText(german).waitFor();
  await page.getByRole("link", { name: "Bibliothek" }).first().click();
  const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "damaged" }) });
  await card.getByText(german).waitFor();
  await card.getByText(whyAndWhatToDo).waitFor();
  expect(await card.getByText("The model could not be loaded").count()).toBe(0);
});

it("waits for a model while the server rejects requests until it is loaded", async () => {
  const { home } = ingle();
  const env = { INGLE_ON_LOADING: "reject" };
  await using rejecting = await IngleProcess.start([...serve, "--model", "whole"], { home, env });
  await using opened = await browser.open({ url: rejecting.address });
  expect(await opened.chat.askAndWait("Hello")).not.toBe("");
  expect(opened.problems.filter((problem) => !problem.includes("503"))).toEqual([]);
});
