// The page without a mouse: write, send, stop, search, and reach every page.
import { tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { app } from "./ingle-process.ts";
import { useBrowser, useIngle } from "./setup.ts";

const browser = useBrowser();
const ingle = useIngle(app, async () => ({
  "endless.gguf": await tinyModel({ seed: 2, contextLength: 32_768 }),
}));

it("writes, sends, stops, searches and starts a new chat by keys alone", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  await chat.composer.waitFor();
  await expect.poll(() => chat.composer.evaluate((box) => box === document.activeElement)).toBe(true);
  await page.keyboard.type("First line");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("second line");
  // Nothing is sent before the page knows the models.
  await expect.poll(() => chat.send.isEnabled()).toBe(true);
  await page.keyboard.press("Enter");
  await chat.begun(0);
  await page.keyboard.press("Escape");
  await chat.send.waitFor();
  await chat.replies.first().getByText("Stopped.").waitFor();
  await chat.drawn();
  expect(await chat.questions.first().innerText()).toContain("First line\nsecond line");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("second");
  await page.getByRole("link", { name: /First line/ }).waitFor();
  await page.keyboard.press("Control+Shift+O");
  await expect.poll(() => chat.replies.count()).toBe(0);
  expect(opened.problems).toEqual([]);
});

it("reaches every page with Tab and Enter, with a visible focus", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page } = opened;
  await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  for (const name of ["Text", "Library", "Server", "Settings", "Chat"]) {
    const link = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name });
    let isThere = false;
    for (let steps = 0; !isThere && steps < 80; steps += 1) {
      await page.keyboard.press("Tab");
      isThere = await link.evaluate((element) => element === document.activeElement);
    }
    expect(isThere, name).toBe(true);
    const outline = await link.evaluate((element) => getComputedStyle(element).outlineStyle);
    expect(outline, name).not.toBe("none");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.title()).toBe(`${name} · Ingle`);
  }
  expect(opened.problems).toEqual([]);
});

it("edits a question by keys: the box has the focus, Escape cancels, Enter asks again", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  await chat.ask("First");
  await chat.begun(0);
  await page.keyboard.press("Escape");
  await chat.send.waitFor();
  const box = page.getByRole("textbox", { name: "Your message" });
  const hasFocus = (element: Element) => element === document.activeElement;
  await page.keyboard.press("Control+Shift+E");
  await expect.poll(() => box.evaluate(hasFocus)).toBe(true);
  await page.keyboard.type(" thought");
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "detached" });
  const edit = chat.questions.first().getByRole("button", { name: "Edit" });
  await expect.poll(() => edit.evaluate(hasFocus)).toBe(true);
  await page.keyboard.press("Enter");
  await expect.poll(() => box.inputValue()).toBe("First");
  await page.keyboard.type(" line");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("second line");
  await page.keyboard.press("Enter");
  await box.waitFor({ state: "detached" });
  await chat.questions.first().getByRole("group", { name: "Version 2 of 2" }).waitFor();
  await chat.drawn();
  expect(await chat.questions.first().innerText()).toContain("First line\nsecond line");
  await chat.stop.click();
  await chat.send.waitFor();
  expect(opened.problems).toEqual([]);
});

it("hides and shows the conversations with Ctrl+B, on a wide page too, and remembers it", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  await chat.composer.waitFor();
  const list = page.getByRole("complementary", { name: "Conversations" });
  await list.waitFor();
  await page.keyboard.press("Control+b");
  await list.waitFor({ state: "hidden" });
  await page.reload();
  await page.getByRole("button", { name: "Show conversations" }).waitFor();
  expect(await list.isVisible()).toBe(false);
  await page.keyboard.press("Control+b");
  await list.waitFor();
  await page.keyboard.press("Control+b");
  await page.keyboard.press("Control+k");
  await expect
    .poll(() => page.getByRole("searchbox").evaluate((box) => box === document.activeElement))
    .toBe(true);
  expect(opened.problems).toEqual([]);
});
