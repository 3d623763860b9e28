// Chats belong to the app: every browser, address and start shows the same ones, and those that a browser had by itself are moved.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { freePort, tinyModel } from "@ingle/fixtures";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";

import { ChatPage } from "./chat-page.ts";
import { app, Home, IngleProcess } from "./ingle-process.ts";
import { useBrowser, useShared } from "./setup.ts";

const browser = useBrowser();
const home = useShared(async () =>
  Home.make({
    "short.gguf": await tinyModel({ endAfter: 20 }),
    "endless.gguf": await tinyModel({ seed: 2, contextLength: 32_768 }),
  }),
);

const row = (page: Page, title: string) => page.getByRole("link", { name: new RegExp(title) });

/** The console also reports each request to a server that is being restarted. */
const isUnexpected = (problem: string) => !problem.startsWith("Failed to load resource");

/** How many records the browser itself has. */
const recordsHere = (page: Page) =>
  page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open("ingle-chats");
      opening.addEventListener("success", () => resolve(opening.result));
      opening.addEventListener("error", () => reject(new Error("no database")));
    });
    const counts: number[] = [];
    for (const name of database.objectStoreNames)
      counts.push(
        await new Promise<number>((resolve) => {
          const counting = database.transaction(name).objectStore(name).count();
          counting.addEventListener("success", () => resolve(counting.result));
        }),
      );
    database.close();
    return counts.reduce((sum, count) => sum + count, 0);
  });

it("shows the same chats in another browser, with their branches, and follows it", async () => {
  await using ingle = await IngleProcess.start(app, { home: home() });
  await using one = await browser.open({ url: ingle.address });
  await using other = await browser.open({ url: ingle.address });
  await one.chat.choose("short");
  const reply = await one.chat.askAndWait("Two browsers");
  await one.chat.replies.first().getByRole("button", { name: "Try again" }).first().click();
  await one.page.getByRole("button", { name: "Previous version" }).waitFor();
  await one.chat.send.waitFor();
  await row(other.page, "Two browsers").click();
  await other.chat.questions.getByText("Two browsers").waitFor();
  await other.chat.begun(0);
  await other.page.getByRole("button", { name: "Previous version" }).click();
  await expect.poll(() => other.chat.replyText(0)).toBe(reply);
  await other.page.getByRole("button", { name: "Next version" }).click();
  await one.chat.choose("endless");
  await one.chat.ask("And on");
  await other.page.getByText("And on").first().waitFor();
  await other.page.getByText("Another tab is writing this answer.").waitFor();
  await one.chat.stop.click();
  await other.page.getByText("Another tab is writing this answer.").waitFor({ state: "detached" });
  expect([...one.problems, ...other.problems]).toEqual([]);
});

it("shows them after a restart at another port, and in no other home", async () => {
  await using other = await Home.make();
  await using opened = await browser.open();
  {
    await using first = await IngleProcess.start(app, { home: home() });
    await opened.page.goto(first.address);
    await opened.chat.choose("short");
    await opened.chat.askAndWait("At the first port");
  }
  await using second = await IngleProcess.start(app, { home: home() });
  await opened.page.goto(second.address);
  await row(opened.page, "At the first port").click();
  await opened.chat.questions.getByText("At the first port").waitFor();
  await using elsewhere = await IngleProcess.start(app, { home: other });
  await opened.page.goto(elsewhere.address);
  await opened.page.getByRole("heading", { name: "Choose your first model" }).waitFor();
  expect(await row(opened.page, "At the first port").count()).toBe(0);
  expect(opened.problems.filter(isUnexpected)).toEqual([]);
});

it("moves the chats, attachments and folders that a browser has kept, once", async () => {
  const command = ["app", "--no-open", "--port", String(await freePort())];
  await using own = await Home.make({ "short.gguf": await tinyModel({ endAfter: 20 }) });
  await using opened = await browser.open();
  const { page, chat } = opened;
  {
    await using before = await IngleProcess.start([...command, "--chat-store", "browser"], { home: own });
    await page.goto(before.address);
    await chat.choose("short");
    await chat.attach("notes.txt", "text/plain", "What was attached");
    await chat.askAndWait("From the browser");
    expect(await recordsHere(page)).toBeGreaterThan(2);
    await page.goto(`${before.origin}/#/settings`);
    await page.getByText("Chats are stored in this browser only.").waitFor();
  }
  await using after = await IngleProcess.start(command, { home: own });
  await page.goto(after.address);
  await page.getByText("Ingle now keeps the chat of this browser").waitFor();
  await row(page, "From the browser").click();
  await page.getByText("notes.txt").waitFor();
  expect(await recordsHere(page)).toBe(0);
  await using other = await browser.open({ url: after.address });
  await row(other.page, "From the browser").click();
  await other.page.getByText("notes.txt").waitFor();
  expect((await readFile(path.join(own.folder, "config/chats.db"))).subarray(0, 6).toString()).toBe("SQLite");
  await page.reload();
  await row(page, "From the browser").waitFor();
  expect(await page.getByText("Ingle now keeps").count()).toBe(0);
  expect([...opened.problems, ...other.problems].filter(isUnexpected)).toEqual([]);
});

it("leads from localhost to the one host, with the chat that the address names", async () => {
  await using ingle = await IngleProcess.start(app, { home: home() });
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  await opened.chat.choose("short");
  await opened.chat.askAndWait("Under one name");
  const place = page.url();
  await page.goto(place.replace("127.0.0.1", "localhost"));
  expect(page.url()).toBe(place);
  await new ChatPage(page).questions.getByText("Under one name").waitFor();
  const fresh = await browser.open();
  await using _fresh = fresh;
  await fresh.page.goto(ingle.address.replace("127.0.0.1", "localhost"));
  expect(new URL(fresh.page.url()).host).toBe(new URL(ingle.origin).host);
  await row(fresh.page, "Under one name").waitFor();
});
