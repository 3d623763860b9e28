// Conversations with a real tiny model behind the real server.
import { tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { app } from "./ingle-process.ts";
import { useBrowser, useIngle } from "./setup.ts";
import type { TestPage } from "./test-page.ts";

const browser = useBrowser();
const ingle = useIngle(app, async () => ({
  // Ends its replies by itself. The other one never does, and its context lasts for minutes.
  "short.gguf": await tinyModel({ endAfter: 20 }),
  "endless.gguf": await tinyModel({ seed: 2, contextLength: 32_768 }),
}));

async function openChat(model: string): Promise<TestPage> {
  const opened = await browser.open({ url: ingle().address });
  await opened.chat.choose(model);
  return opened;
}

it("replies, shows figures, and keeps everything over a reload", async () => {
  await using test = await openChat("short");
  const { page, chat } = test;
  const first = await chat.askAndWait("Hello");
  expect(first).not.toBe("");
  await chat.replies
    .first()
    .getByText(/tokens\/s/)
    .waitFor();
  const second = await chat.askAndWait("And then?");
  await page.reload();
  await chat.begun(1);
  expect([await chat.replyText(0), await chat.replyText(1)]).toEqual([first, second]);
  expect(test.problems).toEqual([]);
});

it("stops a reply, keeps its text, and continues it", async () => {
  await using test = await openChat("endless");
  const { chat } = test;
  await chat.ask("Tell me everything");
  await chat.begun(0);
  await chat.stop.click();
  const stopped = await chat.wholeReply(0);
  expect(stopped).not.toBe("");
  await chat.replies.first().getByText("Stopped.").waitFor();
  await chat.replies.first().getByRole("button", { name: "Continue" }).click();
  await chat.stop.waitFor();
  await expect.poll(async () => (await chat.replyText(0)).length).toBeGreaterThan(stopped.length);
  await chat.stop.click();
  const continued = await chat.wholeReply(0);
  expect(continued.startsWith(stopped.slice(0, 10))).toBe(true);
  expect(await chat.replies.count()).toBe(1);
  expect(test.problems).toEqual([]);
});

it("retries and edits in branches, steps between them, and deletes one", async () => {
  await using test = await openChat("short");
  const { page, chat } = test;
  const first = await chat.askAndWait("Hello");
  await chat.replies.first().getByRole("button", { name: "Try again", exact: true }).click();
  await page.getByRole("group", { name: "Version 2 of 2" }).waitFor();
  await chat.wholeReply(0);
  await page.getByRole("button", { name: "Previous version" }).click();
  await page.getByRole("group", { name: "Version 1 of 2" }).waitFor();
  expect(await chat.replyText(0)).toBe(first);

  await chat.questions.first().getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Your message" }).fill("Good evening");
  await page.getByRole("button", { name: "Ask again" }).click();
  await chat.questions.first().getByText("Good evening").waitFor();
  await chat.wholeReply(0);
  await chat.questions.first().getByRole("group", { name: "Version 2 of 2" }).waitFor();
  await chat.questions.first().getByRole("button", { name: "Previous version" }).click();
  await chat.questions.first().getByText("Hello").waitFor();
  expect(await chat.replyText(0)).toBe(first);

  await chat.questions.first().getByRole("button", { name: "Message actions" }).click();
  await page.getByRole("menuitem", { name: "Delete from here on" }).click();
  await chat.questions.first().getByText("Good evening").waitFor();
  expect(await page.getByRole("group", { name: /^Version/ }).count()).toBe(0);
  expect(test.problems).toEqual([]);
});

it("shows all branches in the tree, opens one, deletes one, and restores it", async () => {
  await using test = await openChat("short");
  const { page, chat } = test;
  const first = await chat.askAndWait("Hello");
  await chat.askAndWait("And then?");
  await chat.questions.first().getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Your message" }).fill("Good evening");
  await page.getByRole("button", { name: "Ask again" }).click();
  await chat.questions.first().getByText("Good evening").waitFor();
  await chat.wholeReply(0);

  await page.getByRole("button", { name: "Branches" }).click();
  const tree = page.getByRole("dialog", { name: "Branches" });
  const nodes = tree.locator(".tree-node");
  // Two questions with replies, and the edited first one with its reply.
  await expect.poll(() => nodes.count()).toBe(6);
  await nodes.filter({ hasText: "And then?" }).getByRole("button").first().click();
  await tree.waitFor({ state: "detached" });
  await chat.questions.nth(1).getByText("And then?").waitFor();
  expect(await chat.replyText(0)).toBe(first);

  await page.clock.install();
  await page.getByRole("button", { name: "Branches" }).click();
  await nodes.filter({ hasText: "Good evening" }).getByRole("button", { name: "Delete this branch" }).click();
  await expect.poll(() => nodes.count()).toBe(4);
  // The toast is behind the dialog, and waits until that is closed.
  const deleted = page.locator(".toast").filter({ hasText: "Deleted 2 messages." });
  await deleted.waitFor();
  await page.clock.runFor(60_000);
  await page.keyboard.press("Escape");
  expect(await page.getByRole("group", { name: /^Version/ }).count()).toBe(0);
  await deleted.getByRole("button", { name: "Undo" }).click();
  await chat.questions.first().getByText("Good evening").waitFor();
  await chat.questions.first().getByRole("group", { name: "Version 2 of 2" }).waitFor();
  expect(test.problems).toEqual([]);
});

it("asks two models at once, and continues with the chosen reply", async () => {
  await using test = await openChat("short");
  const { page, chat } = test;
  await page.getByRole("button", { name: "Compare with another model" }).click();
  await page.getByRole("menuitem", { name: /endless/ }).click();
  await chat.ask("Hello");
  const [left, right] = [
    page.getByRole("article", { name: "short" }),
    page.getByRole("article", { name: "endless" }),
  ];
  await left.locator(".reply-text").waitFor();
  await right.locator(".reply-text").waitFor();
  await chat.stop.click();
  await chat.send.waitFor();
  await right.getByRole("button", { name: "Continue with this answer" }).click();
  await right.getByText("Continues from here").waitFor();
  expect(test.problems).toEqual([]);
});
