// Two hundred conversations: the list scrolls, the search reads titles and messages, and nothing gets slow.
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, expect, it } from "vitest";

import { useBrowser } from "./browser.ts";
import { Home, IngleProcess } from "./ingle-process.ts";
import { manyChats } from "./many-chats.ts";

const count = 200;
const browser = useBrowser();
let home: Home;
let ingle: IngleProcess;
beforeAll(async () => {
  home = await Home.make({ "tiny.gguf": await tinyModel({ endAfter: 20 }) });
  ingle = await IngleProcess.start(["serve", "--port", "0", "--model", "tiny"], { home });
});
afterAll(async () => {
  await ingle[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

it("imports, scrolls, searches and opens them", async () => {
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  const buffer = Buffer.from(JSON.stringify(manyChats(count)));
  await page
    .locator('input[type="file"][aria-label="Import chats"]')
    .setInputFiles({ name: "chats.json", mimeType: "application/json", buffer });
  await page.getByText(`Imported ${count} conversations.`).waitFor();
  await page.reload();

  await page.getByRole("link", { name: /^Conversation 0\b/ }).waitFor();
  // Far from all of them are in the document, and the last one is reached by scrolling.
  expect(await page.getByRole("link", { name: /^Conversation / }).count()).toBeLessThan(80);
  const list = page.getByRole("complementary", { name: "Conversations" });
  await list.hover();
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 3_000);
      return page.getByRole("link", { name: `Conversation ${count - 1}` }).count();
    })
    .toBe(1);

  await page.getByRole("searchbox", { name: "Search chats" }).fill("number137word");
  const found = page.getByRole("link", { name: /Conversation 137/ });
  await found.waitFor();
  expect(await list.getByRole("link", { name: /^Conversation/ }).count()).toBe(1);
  await found.click();
  await page.getByText("Question 137", { exact: true }).waitFor();
  await page.getByRole("searchbox", { name: "Search chats" }).fill("Conversation 42");
  await page.getByRole("link", { name: /Conversation 42/ }).waitFor();
  expect(opened.problems).toEqual([]);
});
