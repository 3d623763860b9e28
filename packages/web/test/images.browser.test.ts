// Images in a chat: dropped, pasted and picked, shown before they are sent, and in the request that the server receives.
import { drawImage, encodePng, tinyModel, tinyVisionModel } from "@ingle/fixtures";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";

import { serve } from "./ingle-process.ts";
import { RecordingProxy } from "./recording-proxy.ts";
import { useBrowser, useIngle, useShared } from "./setup.ts";

const chatPath = "/v1/chat/completions";
const browser = useBrowser();
const ingle = useIngle([...serve, "--model", "blind", "--threads", "1"], async () => {
  const vision = await tinyVisionModel({ architecture: "gemma3", endAfter: 200 });
  return {
    "blind.gguf": await tinyModel({ endAfter: 200 }),
    "seeing.gguf": vision.model,
    "mmproj-seeing.gguf": vision.projector,
  };
});
const proxy = useShared(async () => RecordingProxy.start(ingle().address));
let images: Record<"dropped" | "pasted" | "picked", Buffer>;
beforeAll(async () => {
  images = {
    dropped: await encodePng(drawImage("disc", 64, 48)),
    pasted: await encodePng(drawImage("checks", 48, 64)),
    picked: await encodePng(drawImage("stripes", 56, 56)),
  };
});

/** Fires the events of a drop or a paste with a file. */
async function dropOrPaste(page: Page, how: "drop" | "paste", name: string, bytes: Buffer): Promise<void> {
  const target = page.getByRole("textbox", { name: "Message", exact: true });
  const transfer = await page.evaluateHandle(
    ({ fileName, base64 }) => {
      const data = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const made = new DataTransfer();
      made.items.add(new File([data], fileName, { type: "image/png" }));
      return made;
    },
    { fileName: name, base64: bytes.toString("base64") },
  );
  if (how === "drop") {
    await target.dispatchEvent("dragenter", { dataTransfer: transfer });
    await page.getByText("Drop files to attach them").waitFor();
    await target.dispatchEvent("drop", { dataTransfer: transfer });
    await page.getByText("Drop files to attach them").waitFor({ state: "detached" });
  } else {
    await target.evaluate((box, clipboardData) => {
      box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, transfer);
  }
}

function pngDataUrl(bytes: Buffer): string {
  return `data:image/png;base64,${bytes.toString("base64")}`;
}

it("attaches dropped, pasted and picked images, shows and removes them, and sends the rest", async () => {
  await using opened = await browser.open({ url: proxy().address });
  const { page, chat } = opened;
  await chat.choose("seeing");
  await dropOrPaste(page, "drop", "dropped.png", images.dropped);
  await dropOrPaste(page, "paste", "pasted.png", images.pasted);
  await chat.attach("picked.png", "image/png", images.picked);
  for (const name of ["dropped.png", "pasted.png", "picked.png"]) {
    const preview = page.getByRole("img", { name });
    await preview.waitFor();
    // The browser has decoded it, so it is not broken.
    await expect
      .poll(() => preview.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(0);
  }
  await page.getByRole("button", { name: "Remove pasted.png" }).click();
  await page.getByRole("img", { name: "pasted.png" }).waitFor({ state: "detached" });

  expect(await chat.askAndWait("What is this?")).not.toBe("");
  const request = proxy().requestsTo(chatPath).at(-1);
  expect(request?.status).toBe(200);
  expect(request?.body["messages"]).toEqual([
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: pngDataUrl(images.dropped) } },
        { type: "image_url", image_url: { url: pngDataUrl(images.picked) } },
        { type: "text", text: "What is this?" },
      ],
    },
  ]);
  // The message keeps it over a reload, and it is sent again with the next question.
  await page.reload();
  await page.getByRole("button", { name: "Enlarge picked.png" }).click();
  await page.getByRole("dialog", { name: "picked.png" }).getByRole("img", { name: "picked.png" }).waitFor();
  await page.keyboard.press("Escape");
  await chat.askAndWait("And behind it?");
  const next = proxy().requestsTo(chatPath).at(-1);
  expect(JSON.stringify(next?.body["messages"])).toContain(pngDataUrl(images.picked));
  expect(opened.problems).toEqual([]);
});

it("rejects an image if the model cannot read images, and names a model that can", async () => {
  await using opened = await browser.open({ url: proxy().address });
  const { page, chat } = opened;
  await chat.choose("blind");
  await dropOrPaste(page, "drop", "dropped.png", images.dropped);
  const refusal = page.locator(".toast").filter({ hasText: "dropped.png was not attached" });
  await refusal.getByText("the chosen model cannot read images. These can: seeing.").waitFor();
  expect(await page.getByRole("img", { name: "dropped.png" }).count()).toBe(0);

  // Attached for a model with vision, before another one is chosen.
  await chat.choose("seeing");
  await dropOrPaste(page, "paste", "pasted.png", images.pasted);
  await page.getByRole("img", { name: "pasted.png" }).waitFor();
  await chat.choose("blind");
  await chat.composer.fill("What is this?");
  await page.getByText("blind cannot read the attached images.").waitFor();
  expect(await chat.send.isDisabled()).toBe(true);
  const sent = proxy().requestsTo(chatPath).length;
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Remove pasted.png" }).click();
  expect(await chat.askAndWait("And without?")).not.toBe("");
  expect(proxy().requestsTo(chatPath).slice(sent)).toHaveLength(1);
  expect(opened.problems).toEqual([]);
});
