// What a newcomer loses: attachments of an unsent message, the path of an import that failed, and the chat under a message.
import { tinyModel, tinyVisionModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { app, serve } from "./ingle-process.ts";
import { useBrowser, useIngle } from "./setup.ts";
import { sizes } from "./test-page.ts";

const browser = useBrowser();
const ingle = useIngle(app, async () => {
  const vision = await tinyVisionModel({ architecture: "qwen2vl", endAfter: 20 });
  return { "seeing.gguf": vision.model, "mmproj-seeing.gguf": vision.projector };
});
const plain = useIngle([...serve, "--model", "tiny"], async () => ({ "tiny.gguf": await tinyModel() }));

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

it("keeps the files of an unsent message over a reload, and forgets them once they are removed", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page, chat } = opened;
  await chat.choose("seeing");
  await chat.composer.fill("With two files");
  await chat.attach("notes.txt", "text/plain", Buffer.from("Gr\u00fc\u00dfe", "latin1"));
  await chat.attach("dot.png", "image/png", png);
  await page.getByText("dot.png").or(page.getByAltText("dot.png")).first().waitFor();
  await page.reload();
  await page.getByText("notes.txt").waitFor();
  await page.getByRole("button", { name: /Remove dot\.png/ }).click();
  await page.reload();
  await page.getByText("notes.txt").waitFor();
  expect(await page.getByRole("button", { name: /Remove dot\.png/ }).count()).toBe(0);
  await expect.poll(() => chat.composer.inputValue()).toBe("With two files");
  expect(opened.problems).toEqual([]);
});

it("keeps the dialog and the path of an import that fails, and finds ~ in the home folder", async () => {
  await using opened = await browser.open({ url: ingle().address });
  const { page } = opened;
  await page.getByRole("link", { name: "Library" }).click();
  await page.getByRole("button", { name: "Import…" }).click();
  const dialog = page.getByRole("dialog");
  const field = dialog.getByRole("textbox", { name: "Path on the server's machine" });
  await field.fill("~/no-such-models");
  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  await dialog.getByText(`${ingle().home.folder}/no-such-models`).waitFor();
  expect(await field.inputValue()).toBe("~/no-such-models");
  await field.fill("~/models/seeing.gguf");
  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
});

it.each(["desktop", "phone"] as const)("covers nothing of the chat with a message: %s", async (size) => {
  await using opened = await browser.open({ url: plain().address, size });
  const { page, chat } = opened;
  await chat.attach("a.bin", "application/octet-stream", Buffer.from([0, 1, 2]));
  await page.locator(".toast").first().waitFor();
  const [toasts, below] = await Promise.all([
    page.locator(".toasts").boundingBox(),
    page.locator(".toasts + *").boundingBox(),
  ]);
  if (toasts === null || below === null) throw new Error("The message or the page is not shown.");
  expect(toasts.x + toasts.width).toBeLessThanOrEqual(sizes[size].width);
  expect(below.y).toBeGreaterThanOrEqual(toasts.y + toasts.height);
  await chat.composer.fill("Still within reach");
});
