// Two hundred conversations: importing, scrolling, searching and opening them.
import { tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { serve } from "./ingle-process.ts";
import { manyChats } from "./many-chats.ts";
import { useBrowser, useIngle } from "./setup.ts";

const count = 200;
const browser = useBrowser();
const ingle = useIngle([...serve, "--model", "tiny"], async () => ({
  "tiny.gguf": await tinyModel({ endAfter: 20 }),
}));

it("imports, scrolls, searches and opens them", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  await chat.importChats(manyChats(count));
  await page.getByText(`Imported ${count} conversations.`).waitFor();
  await page.reload();

  await page.getByRole("link", { name: /^Conversation 0\b/ }).waitFor();
  // Only the visible ones are in the document; the last one appears by scrolling.
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
