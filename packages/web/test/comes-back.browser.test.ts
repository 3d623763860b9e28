// After a restart of the app: a page, a bookmark and a new tab of a browser that was let in once come back by themselves; everybody else
// needs the link.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { freePort, tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { Home, IngleProcess } from "./ingle-process.ts";
import { OtherSite } from "./other-site.ts";
import { useBrowser, useShared } from "./setup.ts";

const browser = useBrowser();
const home = useShared(async () => Home.make({ "short.gguf": await tinyModel({ endAfter: 20 }) }));

const closed = "Open Ingle from its own link";
const commandAt = (port: number) => ["app", "--no-open", "--port", String(port)];

it("an open page, a bookmark and a new tab come back, and nothing secret is in the home", async () => {
  const command = commandAt(await freePort());
  await using opened = await browser.open();
  const { page, chat } = opened;
  let place: string;
  {
    await using first = await IngleProcess.start(command, { home: home() });
    await page.goto(first.address);
    await chat.choose("short");
    await chat.askAndWait("Before the restart");
    place = page.url();
    await first.kill();
  }
  await page.getByText("Ingle is not responding").waitFor();
  await using second = await IngleProcess.start(command, { home: home() });
  await page.getByText("Ingle is not responding").waitFor({ state: "detached" });
  await chat.askAndWait("After the restart");
  const bookmark = await opened.tab(place);
  await bookmark.getByText("Before the restart").last().waitFor();
  // A browser that was closed has lost its cookies, and keeps the key.
  await opened.context.clearCookies();
  const later = await opened.tab(`${second.origin}/`);
  await later.getByRole("link", { name: /Before the restart/ }).waitFor();
  expect(await later.getByText(closed).count()).toBe(0);
  const kept = await readFile(path.join(home().folder, "config/browsers.json"), "utf8");
  expect(JSON.parse(kept)).toMatchObject({ browsers: [{ origin: second.origin }] });
  expect(kept).not.toContain('"d"');
});

it("another profile, another home, and a browser that was told not to, stay out", async () => {
  const port = await freePort();
  await using opened = await browser.open();
  await using other = await browser.open();
  await using elsewhere = await Home.make();
  const { page } = opened;
  {
    await using first = await IngleProcess.start(commandAt(port), { home: home() });
    await page.goto(first.address);
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("switch", { name: "Open Ingle in this browser without its link" }).waitFor();
    await other.page.goto(`${first.origin}/`);
    await other.page.getByText(closed).waitFor();
  }
  {
    await using _stranger = await IngleProcess.start(commandAt(port), { home: elsewhere });
    await page.getByText(closed).waitFor();
  }
  {
    await using again = await IngleProcess.start(commandAt(port), { home: home() });
    await page.getByText(closed).waitFor({ state: "detached" });
    await page.goto(again.address);
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("switch", { name: "Open Ingle in this browser without its link" }).click();
    await expect
      .poll(async () => await readFile(path.join(home().folder, "config/browsers.json"), "utf8"))
      .not.toContain(`:${port}"`);
  }
  await using last = await IngleProcess.start(commandAt(port), { home: home() });
  await page.getByText(closed).waitFor();
  await page.goto(`${last.origin}/`);
  await page.getByText(closed).waitFor();
}, 120_000); // six starts of the app

it("a page of another port can make no use of what the browser keeps", async () => {
  const command = commandAt(await freePort());
  await using opened = await browser.open();
  await using ingle = await IngleProcess.start(command, { home: home() });
  await using site = await OtherSite.start("127.0.0.1");
  await opened.page.goto(ingle.address);
  await opened.page.getByRole("link", { name: "Settings" }).waitFor();
  const page = await opened.tab(site.origin);
  expect(await page.evaluate(async () => await indexedDB.databases())).toEqual([]);
  const attempts = await page.evaluate(async (origin) => {
    const tries = ["challenge", "browser", "return", "forget"].map(async (name) => {
      try {
        const sent = await fetch(`${origin}/api/v1/session/${name}`, {
          method: "POST",
          credentials: "include",
          mode: name === "challenge" ? "no-cors" : "cors",
          headers: { "content-type": name === "challenge" ? "text/plain" : "application/json" },
          body: "{}",
        });
        return sent.status;
      } catch {
        return "nothing";
      }
    });
    return await Promise.all(tries);
  }, ingle.origin);
  expect(attempts).toEqual([0, "nothing", "nothing", "nothing"]);
});
