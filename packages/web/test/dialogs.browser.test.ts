// Dialogs and menus, opened: axe finds no serious fault in either theme, and the keyboard opens each, stays inside, and comes back
// to where it was.
import { tinyModel } from "@ingle/fixtures";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { seriousFaults } from "./accessible.ts";
import { useBrowser } from "./browser.ts";
import { ChatHands } from "./chat-hands.ts";
import { Home, IngleProcess } from "./ingle-process.ts";
import type { Theme } from "./test-page.ts";

const browser = useBrowser();
let home: Home;
let ingle: IngleProcess;
beforeAll(async () => {
  home = await Home.make({
    "tiny.gguf": await tinyModel({ endAfter: 20 }),
    "other-F16.gguf": await tinyModel({ endAfter: 20, seed: 2, weights: "f16" }),
  });
  ingle = await IngleProcess.start(["app", "--no-open", "--port", "0"], { home });
});
afterAll(async () => {
  await ingle[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

interface Opening {
  /** What opens, by the name that a screen reader says. */
  name: string | RegExp;
  role: "dialog" | "menu";
  /** Where it is opened. */
  page: "chat" | "library" | "server/settings";
  /** The buttons that lead there; the last opens it. */
  buttons: readonly (string | RegExp)[];
}

const more = "More for other-F16";
const openings: readonly Opening[] = [
  { page: "chat", role: "menu", name: /^Model: /, buttons: [/^Model: /] },
  { page: "chat", role: "menu", name: "Add a model side by side", buttons: ["Add a model side by side"] },
  { page: "chat", role: "menu", name: /^Answers per question/, buttons: [/^Answers per question/] },
  { page: "chat", role: "menu", name: "More", buttons: ["More"] },
  { page: "chat", role: "menu", name: "Actions for Hello", buttons: ["Actions for Hello"] },
  { page: "chat", role: "menu", name: "More for this message", buttons: ["More for this message"] },
  { page: "chat", role: "dialog", name: "Keyboard shortcuts", buttons: ["More", "Keyboard shortcuts"] },
  { page: "chat", role: "menu", name: "Presets", buttons: ["Presets"] },
  { page: "chat", role: "dialog", name: "Save as preset", buttons: ["Presets", "Save as preset"] },
  { page: "library", role: "dialog", name: "Import a model", buttons: ["Import…"] },
  { page: "library", role: "menu", name: more, buttons: [more] },
  { page: "library", role: "dialog", name: "Load other-F16", buttons: ["Load…"] },
  { page: "library", role: "dialog", name: "Names of other-F16", buttons: [more, "Names…"] },
  { page: "library", role: "dialog", name: "Quantize other-F16", buttons: [more, "Quantize…"] },
  { page: "library", role: "dialog", name: "Remove other-F16?", buttons: [more, "Remove…"] },
  { page: "server/settings", role: "dialog", name: "Create an API key", buttons: ["Create key"] },
  // Back in the conversation that was open.
  { page: "chat", role: "dialog", name: "Branches", buttons: ["Branches"] },
];

/** A page with a conversation and its settings open, so that everything can be opened. */
async function readyPage(theme: Theme) {
  const opened = await browser.open({ url: ingle.address, theme });
  const chat = new ChatHands(opened.page);
  await chat.choose("tiny");
  await chat.askAndWait("Hello");
  await opened.page.getByRole("button", { name: "Show chat settings" }).click();
  return opened;
}

function button(page: Page, name: string | RegExp) {
  return page
    .getByRole("button", { name, exact: true })
    .or(page.getByRole("menuitem", { name, exact: true }))
    .first();
}

async function goTo(page: Page, place: Opening["page"]): Promise<void> {
  if (page.url().includes(`#/${place}`)) return;
  const [name = "", tab] = place.split("/");
  const pages = page.getByRole("navigation", { name: "Pages" });
  await pages.getByRole("link", { name: new RegExp(name, "i") }).click();
  if (tab !== undefined) await page.getByRole("tab", { name: new RegExp(tab, "i") }).click();
}

function isFocusInside(page: Page, { role, name }: Opening): Promise<boolean> {
  return page.getByRole(role, { name }).evaluate((box) => box.contains(document.activeElement));
}

function isFocusInMenu(page: Page): Promise<boolean> {
  return page.evaluate(() => (document.activeElement?.closest("[role=menu]") ?? null) !== null);
}

describe.each(["light", "dark"] satisfies Theme[])("in %s", (theme) => {
  it("have no serious fault when they are open", async () => {
    await using opened = await readyPage(theme);
    const { page } = opened;
    for (const opening of openings) {
      await goTo(page, opening.page);
      for (const name of opening.buttons) await button(page, name).click();
      await page.getByRole(opening.role, { name: opening.name }).waitFor();
      expect(await seriousFaults(page), String(opening.name)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole(opening.role, { name: opening.name }).waitFor({ state: "hidden" });
    }
    expect(opened.problems).toEqual([]);
  }, 60_000);

  it("and neither has the Server page while the server runs", async () => {
    await using opened = await browser.open({ url: ingle.address, theme });
    const { page } = opened;
    await page.goto(`${ingle.origin}/#/server`);
    await page.getByRole("button", { name: "Start Server" }).click();
    await page.getByRole("button", { name: "Stop Server" }).waitFor();
    // Those of the page; one of its views has tabs of its own.
    const tabs = page.getByRole("tablist").first().getByRole("tab");
    for (const tab of await tabs.all()) {
      await tab.click();
      expect(await seriousFaults(page), await tab.innerText()).toEqual([]);
    }
    await page.getByRole("button", { name: "Stop Server" }).click();
    await page.getByRole("button", { name: "Start Server" }).waitFor();
    expect(opened.problems).toEqual([]);
  });
});

it("open by the keyboard, hold it, and give it back", async () => {
  await using opened = await readyPage("light");
  const { page } = opened;
  for (const opening of openings) {
    const [first = ""] = opening.buttons;
    await goTo(page, opening.page);
    for (const [at, name] of opening.buttons.entries()) {
      // A menu that opens takes the focus, which would go to its first item after we have gone to another.
      if (at > 0) await expect.poll(() => isFocusInMenu(page)).toBe(true);
      await button(page, name).focus();
      await page.keyboard.press("Enter");
    }
    const name = String(opening.name);
    await page.getByRole(opening.role, { name: opening.name }).waitFor();
    await expect.poll(() => isFocusInside(page, opening), { message: name }).toBe(true);
    if (opening.role === "dialog") {
      // The browser's own controls may come between the last element and the first, never the page behind.
      for (let steps = 0; steps < 20; steps += 1) {
        await page.keyboard.press("Tab");
        const isBehind = await page.evaluate(() => {
          const { activeElement, body } = document;
          return activeElement !== body && activeElement?.closest("dialog") === null;
        });
        expect(isBehind, name).toBe(false);
      }
    } else {
      await page.keyboard.press("End");
      expect(await isFocusInside(page, opening), name).toBe(true);
    }
    await page.keyboard.press("Escape");
    await page.getByRole(opening.role, { name: opening.name }).waitFor({ state: "hidden" });
    const isBack = () => button(page, first).evaluate((element) => element === document.activeElement);
    await expect.poll(isBack, { message: `${name} gives the focus back` }).toBe(true);
  }
  expect(opened.problems).toEqual([]);
}, 60_000);
