// Finding a model in a long menu, hiding the figures, the way to one's own models at the first start, and who says what in a comparison.
import { tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { app, Home, IngleProcess } from "./ingle-process.ts";
import { useBrowser, useIngle } from "./setup.ts";

/** In the order of their names. */
const names = ["alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak"];
const browser = useBrowser();
const ingle = useIngle(app, async () => {
  const file = await tinyModel({ endAfter: 20 });
  return Object.fromEntries(names.map((name) => [`${name}.gguf`, file]));
});

it("orders the models of the menu by their use, with their sizes, and searches them", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  const shown = () => page.getByRole("menuitemradio").or(page.getByRole("menuitem")).allInnerTexts();
  const open = page.getByRole("button", { name: /^(Choose a model|Model: )/ });
  await open.click();
  const before = await shown();
  expect(before.map((text) => text.split("\n")[0])).toEqual(names);
  for (const text of before) expect(text).toMatch(/\d (KiB|MiB)/);
  await page.getByRole("searchbox", { name: "Filter" }).fill("LAR");
  expect((await shown()).map((text) => text.split("\n")[0])).toEqual(["larch"]);
  await page.getByRole("menuitemradio").or(page.getByRole("menuitem")).first().click();
  await page.getByRole("button", { name: "Model: larch" }).waitFor();
  await chat.askAndWait("Hello");
  await open.click();
  // In memory, or used last, comes first.
  await expect.poll(async () => (await shown())[0]).toMatch(/^larch\n.*in memory/);
  expect((await shown()).map((text) => text.split("\n")[0])).toEqual([
    "larch",
    ...names.filter((name) => name !== "larch"),
  ]);
  expect(opened.problems).toEqual([]);
});

it("hides the figures under answers, but not the model's name, and remembers that", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  await chat.choose("oak");
  await chat.askAndWait("Hello");
  const figures = page.getByRole("group", { name: "About this answer" });
  await figures.getByText(/tokens\/s/).waitFor();
  const place = page.url();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("switch", { name: "Figures under answers" }).click();
  await page.goto(place);
  await figures.getByText("oak", { exact: true }).waitFor();
  await expect.poll(() => figures.innerText()).toBe("oak");
  await page.reload();
  await figures.waitFor();
  await expect.poll(() => figures.innerText()).toBe("oak");
});

it("offers to import models at the first start", async () => {
  await using home = await Home.make();
  await using empty = await IngleProcess.start(app, { home });
  await using opened = await browser.open({ url: empty.address });
  const { page } = opened;
  await page.getByRole("heading", { name: "Choose your first model" }).waitFor();
  await page.getByRole("link", { name: /import/i }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Path on the server's machine" }).waitFor();
  expect(opened.problems).toEqual([]);
});

it("shows each model's name above its answer in a comparison, before there is any text", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  await chat.choose("elm");
  await page.getByRole("button", { name: "Compare with another model" }).click();
  await page.getByRole("menuitem", { name: /^fir/ }).click();
  await chat.ask("Hello");
  for (const name of ["elm", "fir"]) {
    const answer = page.getByRole("article", { name });
    const head = answer.getByRole("heading", { name });
    await head.waitFor();
    await answer.locator(".reply-text").waitFor();
    // Both in one look: the thread scrolls while the answers grow.
    const gap = await answer.evaluate((article) => {
      const [above, below] = ["h2, h3, h4, [role=heading]", ".reply-text"].map((part) =>
        article.querySelector(part)?.getBoundingClientRect(),
      );
      return (below?.top ?? Number.NaN) - (above?.bottom ?? Number.NaN);
    });
    expect(gap).toBeGreaterThanOrEqual(0);
  }
  await chat.wholeReply(1);
  expect(opened.problems).toEqual([]);
});
