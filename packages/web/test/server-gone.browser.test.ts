// A server that dies and comes back while its page is open, and two tabs with the same chats.
import { freePort, tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { ChatPage } from "./chat-page.ts";
import { Home, IngleProcess, serve } from "./ingle-process.ts";
import { useBrowser, useShared } from "./setup.ts";

const browser = useBrowser();
const home = useShared(async () =>
  Home.make({ "endless.gguf": await tinyModel({ seed: 2, contextLength: 32_768 }) }),
);

it("keeps a reply when the server dies, reports it, and continues when the server is back", async () => {
  const command = ["serve", "--port", String(await freePort()), "--model", "endless"];
  await using opened = await browser.open();
  const { page, chat } = opened;
  let kept: string;
  {
    await using first = await IngleProcess.start(command, { home: home() });
    await page.goto(first.address);
    await chat.ask("Tell me everything");
    await chat.begun(0);
    await first.kill();
    await page.getByText("Ingle is not responding").waitFor();
    await chat.replies.first().getByText("The connection was lost").waitFor();
    kept = await chat.replyText(0);
    expect(kept).not.toBe("");
  }
  await using _second = await IngleProcess.start(command, { home: home() });
  await page.getByText("Ingle is not responding").waitFor({ state: "detached" });
  await chat.replies.first().getByRole("button", { name: "Continue" }).click();
  await expect.poll(async () => (await chat.replyText(0)).length).toBeGreaterThan(kept.length);
  await chat.stop.click();
});

it("shows the chats of one tab in the other, and lets each write its own", async () => {
  await using ingle = await IngleProcess.start([...serve, "--model", "endless"], { home: home() });
  await using opened = await browser.open({ url: ingle.address });
  const first = opened.chat;
  const second = new ChatPage(await opened.tab(ingle.address));
  await first.ask("From the first tab");
  await first.begun(0);
  const row = second.page.getByRole("link", { name: /From the first tab/ });
  await row.click();
  await second.questions.getByText("From the first tab").waitFor();
  await second.page.getByRole("button", { name: "New chat" }).click();
  await second.ask("From the second tab");
  await second.begun(0);
  await first.page.getByRole("link", { name: /From the second tab/ }).waitFor();
  await first.stop.click();
  await second.stop.click();
  await second.send.waitFor();
  await first.send.waitFor();
  expect(opened.problems).toEqual([]);
});
