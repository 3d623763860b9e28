// A page whose server dies under it and comes back, and two pages over the same chats.
import { once } from "node:events";
import { createServer } from "node:net";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, expect, it } from "vitest";

import { useBrowser } from "./browser.ts";
import { ChatHands } from "./chat-hands.ts";
import { Home, IngleProcess } from "./ingle-process.ts";

const browser = useBrowser();
let home: Home;
beforeAll(async () => {
  home = await Home.make({ "endless.gguf": await tinyModel({ seed: 2, contextLength: 32_768 }) });
});
afterAll(async () => home[Symbol.asyncDispose]());

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

it("keeps the answer that a dying server began, says what happened, and goes on when it is back", async () => {
  const serve = ["serve", "--port", String(await freePort()), "--model", "endless"];
  await using opened = await browser.open({});
  const { page } = opened;
  const chat = new ChatHands(page);
  let kept: string;
  {
    await using first = await IngleProcess.start(serve, { home });
    await page.goto(first.address);
    await chat.ask("Tell me everything");
    await chat.begun(0);
    await first.kill();
    await page.getByText("Ingle is not answering").waitFor();
    await chat.replies.first().getByText("The connection broke").waitFor();
    kept = await chat.textOf(0);
    expect(kept).not.toBe("");
  }
  await using _second = await IngleProcess.start(serve, { home });
  await page.getByText("Ingle is not answering").waitFor({ state: "detached" });
  await chat.replies.first().getByRole("button", { name: "Continue" }).click();
  await expect.poll(async () => (await chat.textOf(0)).length).toBeGreaterThan(kept.length);
  await chat.stop.click();
});

it("shows a chat of one tab in the other, and lets each write its own", async () => {
  await using ingle = await IngleProcess.start(["serve", "--port", "0", "--model", "endless"], { home });
  await using opened = await browser.open({ url: ingle.address });
  const first = new ChatHands(opened.page);
  const second = new ChatHands(await opened.tab(ingle.address));
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
