// Open dialogs and menus: axe finds no serious fault in either theme, and the keyboard opens each, stays inside, and returns to
// where it was.
import { tinyModel } from "@ingle/fixtures";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";

import { seriousViolations } from "./accessible.ts";
import { app } from "./ingle-process.ts";
import { useBrowser, useIngle } from "./setup.ts";
import type { TestPage, Theme } from "./test-page.ts";

const browser = useBrowser();
const ingle = useIngle(app, async () => ({
  "tiny.gguf": await tinyModel({ endAfter: 20 }),
  "other-F16.gguf": await tinyModel({ endAfter: 20, seed: 2, weights: "f16" }),
}));

interface Opening {
  /** The accessible name of what opens. */
  name: string | RegExp;
  role: "dialog" | "menu";
  page: "chat" | "library" | "server/settings";
  /** The buttons to press; the last one opens it. */
  buttons: readonly (string | RegExp)[];
  /** What has the focus in an open dialog: its field, or the button that does no harm. */
  first?: { role: "textbox" | "radio" | "slider" | "switch" | "button"; name: string | RegExp };
}

const actions = "Actions for other-F16";
const openings: readonly Opening[] = [
  { page: "chat", role: "menu", name: /^Model: /, buttons: [/^Model: /] },
  { page: "chat", role: "menu", name: "Compare with another model", buttons: ["Compare with another model"] },
  { page: "chat", role: "menu", name: /^Answers per question/, buttons: [/^Answers per question/] },
  { page: "chat", role: "menu", name: "More", buttons: ["More"] },
  { page: "chat", role: "menu", name: "Actions for Hello", buttons: ["Actions for Hello"] },
  { page: "chat", role: "menu", name: "Message actions", buttons: ["Message actions"] },
  {
    page: "chat",
    role: "dialog",
    name: "Keyboard shortcuts",
    buttons: ["More", "Keyboard shortcuts"],
    first: { role: "button", name: "Close" },
  },
  { page: "chat", role: "dialog", name: "Tools", buttons: ["Tools"] },
  { page: "chat", role: "menu", name: "Presets", buttons: ["Presets"] },
  {
    page: "chat",
    role: "dialog",
    name: "Save as preset",
    buttons: ["Presets", "Save as preset"],
    first: { role: "textbox", name: "Preset name" },
  },
  {
    page: "library",
    role: "dialog",
    name: "Import a model",
    buttons: ["Import…"],
    first: { role: "textbox", name: "Path on the server's machine" },
  },
  { page: "library", role: "menu", name: actions, buttons: [actions] },
  { page: "library", role: "dialog", name: "Load other-F16", buttons: ["Load…"] },
  {
    page: "library",
    role: "dialog",
    name: "Names of other-F16",
    buttons: [actions, "Names…"],
    first: { role: "textbox", name: "New name" },
  },
  {
    page: "library",
    role: "dialog",
    name: "Quantize other-F16",
    buttons: [actions, "Quantize…"],
    first: { role: "radio", name: /^Q4_K_M/ },
  },
  {
    page: "library",
    role: "dialog",
    name: "Remove other-F16?",
    buttons: [actions, "Remove…"],
    first: { role: "button", name: "Cancel" },
  },
  {
    page: "server/settings",
    role: "dialog",
    name: "Create an API key",
    buttons: ["Create key"],
    first: { role: "textbox", name: "Name" },
  },
  // Back in the open conversation.
  { page: "chat", role: "dialog", name: "Branches", buttons: ["Branches"] },
];

/** A page with a conversation and its settings, so that everything can be opened. */
async function readyPage(theme: Theme): Promise<TestPage> {
  const opened = await browser.open({ url: ingle().address, theme });
  const { chat } = opened;
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
  it("have no serious faults", async () => {
    await using opened = await readyPage(theme);
    const { page } = opened;
    for (const opening of openings) {
      await goTo(page, opening.page);
      for (const name of opening.buttons) await button(page, name).click();
      await page.getByRole(opening.role, { name: opening.name }).waitFor();
      expect(await seriousViolations(page), String(opening.name)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole(opening.role, { name: opening.name }).waitFor({ state: "hidden" });
    }
    expect(opened.problems).toEqual([]);
  }, 60_000);

  it("and neither has the Server page of a running server", async () => {
    await using opened = await browser.open({ url: ingle().address, theme });
    const { page } = opened;
    await page.goto(`${ingle().origin}/#/server`);
    await page.getByRole("button", { name: "Start Server" }).click();
    await page.getByRole("button", { name: "Stop Server" }).waitFor();
    // The first tab list is the page's own; one of its views contains another.
    const tabs = page.getByRole("tablist").first().getByRole("tab");
    for (const tab of await tabs.all()) {
      await tab.click();
      expect(await seriousViolations(page), await tab.innerText()).toEqual([]);
    }
    await page.getByRole("button", { name: "Stop Server" }).click();
    await page.getByRole("button", { name: "Start Server" }).waitFor();
    expect(opened.problems).toEqual([]);
  });
});

it("open by the keyboard, trap the focus, and return it", async () => {
  await using opened = await readyPage("light");
  const { page } = opened;
  for (const opening of openings) {
    const [first = ""] = opening.buttons;
    await goTo(page, opening.page);
    for (const [at, name] of opening.buttons.entries()) {
      // An opening menu moves the focus to its first item, so wait for that before moving it elsewhere.
      if (at > 0) await expect.poll(() => isFocusInMenu(page)).toBe(true);
      await button(page, name).focus();
      await page.keyboard.press("Enter");
    }
    const name = String(opening.name);
    await page.getByRole(opening.role, { name: opening.name }).waitFor();
    await expect.poll(() => isFocusInside(page, opening), { message: name }).toBe(true);
    if (opening.first !== undefined) {
      const firstThing = page.getByRole("dialog").getByRole(opening.first.role, { name: opening.first.name });
      await expect
        .poll(() => firstThing.evaluate((box) => box === document.activeElement), { message: name })
        .toBe(true);
    }
    if (opening.role === "dialog") {
      // The focus may pass through the browser's own controls, but never the page behind.
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
    await expect.poll(isBack, { message: `${name} returns the focus` }).toBe(true);
  }
  expect(opened.problems).toEqual([]);
}, 60_000);
