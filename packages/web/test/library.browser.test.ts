// The library: what is done with a model that is here.
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, expect, it } from "vitest";

import { useBrowser } from "./browser.ts";
import { Home, IngleProcess } from "./ingle-process.ts";

const browser = useBrowser();
let home: Home;
let ingle: IngleProcess;
beforeAll(async () => {
  home = await Home.make({ "tiny.gguf": await tinyModel() });
  ingle = await IngleProcess.start(["app", "--no-open", "--port", "0"], { home });
});
afterAll(async () => {
  await ingle[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

it("loads a model with an estimate, and unloads it", async () => {
  await using opened = await browser.open({ url: ingle.address });
  const { page } = opened;
  await page.goto(`${ingle.origin}/#/library`);
  const model = page
    .getByRole("list", { name: "Models on this machine" })
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: "tiny", exact: true }) });
  await model.getByRole("button", { name: /^Load/ }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Longest context that fits").waitFor();
  await dialog.getByRole("button", { name: "Load", exact: true }).click();
  await model.getByText("Loaded").waitFor();
  await model.getByRole("button", { name: "Unload" }).click();
  await model.getByText("On disk").waitFor();
  expect(opened.problems).toEqual([]);
});
