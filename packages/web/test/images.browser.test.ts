// Images in a chat: dropped, pasted and chosen, seen before they are sent, and in the request that the server receives.
import { drawImage, encodePng, tinyModel, tinyVisionModel } from "@ingle/fixtures";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";

import { useBrowser } from "./browser.ts";
import { ChatHands } from "./chat-hands.ts";
import { Home, IngleProcess } from "./ingle-process.ts";
import { RecordingProxy } from "./recording-proxy.ts";

const chatPath = "/v1/chat/completions";
const browser = useBrowser();
let home: Home;
let ingle: IngleProcess;
let proxy: RecordingProxy;
let pictures: Record<"dropped" | "pasted" | "chosen", Buffer>;
beforeAll(async () => {
  const seeing = await tinyVisionModel({ architecture: "gemma3", endAfter: 20 });
  home = await Home.make({
    "blind.gguf": await tinyModel({ endAfter: 20 }),
    "seeing.gguf": seeing.model,
    "mmproj-seeing.gguf": seeing.projector,
  });
  pictures = {
    dropped: await encodePng(drawImage("disc", 64, 48)),
    pasted: await encodePng(drawImage("checks", 48, 64)),
    chosen: await encodePng(drawImage("stripes", 56, 56)),
  };
  ingle = await IngleProcess.start(["serve", "--port", "0", "--model", "blind", "--threads", "1"], { home });
  proxy = await RecordingProxy.start(ingle.address);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await ingle[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** Fires a drop or a paste with a file, as the browser does for a person's. */
async function give(page: Page, how: "drop" | "paste", name: string, bytes: Buffer): Promise<void> {
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

function urlOf(bytes: Buffer): string {
  return `data:image/png;base64,${bytes.toString("base64")}`;
}

it("attaches images by drop, paste and choice, shows and removes them, and sends those that are left", async () => {
  await using opened = await browser.open({ url: proxy.address });
  const { page } = opened;
  const chat = new ChatHands(page);
  await chat.choose("seeing");
  await give(page, "drop", "dropped.png", pictures.dropped);
  await give(page, "paste", "pasted.png", pictures.pasted);
  await page
    .locator('input[type="file"][aria-label="Attach files"]')
    .setInputFiles({ name: "chosen.png", mimeType: "image/png", buffer: pictures.chosen });
  for (const name of ["dropped.png", "pasted.png", "chosen.png"]) {
    const preview = page.getByRole("img", { name });
    await preview.waitFor();
    // The browser has decoded it: it is the picture, not a broken one.
    await expect
      .poll(() => preview.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(0);
  }
  await page.getByRole("button", { name: "Remove pasted.png" }).click();
  await page.getByRole("img", { name: "pasted.png" }).waitFor({ state: "detached" });

  expect(await chat.askAndWait("What is this?")).not.toBe("");
  const request = proxy.requestsTo(chatPath).at(-1);
  expect(request?.status).toBe(200);
  expect(request?.body["messages"]).toEqual([
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: urlOf(pictures.dropped) } },
        { type: "image_url", image_url: { url: urlOf(pictures.chosen) } },
        { type: "text", text: "What is this?" },
      ],
    },
  ]);
  // It stays with its message over a reload, and is sent again with the next question.
  await page.reload();
  await page.getByRole("button", { name: "Enlarge chosen.png" }).click();
  await page.getByRole("dialog", { name: "chosen.png" }).getByRole("img", { name: "chosen.png" }).waitFor();
  await page.keyboard.press("Escape");
  await chat.askAndWait("And behind it?");
  const next = proxy.requestsTo(chatPath).at(-1);
  expect(JSON.stringify(next?.body["messages"])).toContain(urlOf(pictures.chosen));
  expect(opened.problems).toEqual([]);
});

it("refuses an image before it is sent where the model cannot see, and names one that can", async () => {
  await using opened = await browser.open({ url: proxy.address });
  const { page } = opened;
  const chat = new ChatHands(page);
  await chat.choose("blind");
  await give(page, "drop", "dropped.png", pictures.dropped);
  const refusal = page.locator(".toast").filter({ hasText: "dropped.png was not attached" });
  await refusal.getByText("the chosen model cannot see images. These can: seeing.").waitFor();
  expect(await page.getByRole("img", { name: "dropped.png" }).count()).toBe(0);

  // Attached for a model that sees, and then another is chosen.
  await chat.choose("seeing");
  await give(page, "paste", "pasted.png", pictures.pasted);
  await page.getByRole("img", { name: "pasted.png" }).waitFor();
  await chat.choose("blind");
  await chat.composer.fill("What is this?");
  await page.getByText("blind cannot see the attached images.").waitFor();
  expect(await chat.send.isDisabled()).toBe(true);
  const sent = proxy.requestsTo(chatPath).length;
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Remove pasted.png" }).click();
  expect(await chat.askAndWait("And without?")).not.toBe("");
  expect(proxy.requestsTo(chatPath).slice(sent)).toHaveLength(1);
  expect(opened.problems).toEqual([]);
});
