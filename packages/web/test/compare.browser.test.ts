// Replies side by side, of two architectures and of one model twice; and a model that thinks first.
import { tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";

import { Home, IngleProcess, serve } from "./ingle-process.ts";
import { RecordingProxy } from "./recording-proxy.ts";
import { useBrowser, useShared } from "./setup.ts";

const chatPath = "/v1/chat/completions";
const browser = useBrowser();
const home = useShared(async () =>
  Home.make({
    "llama.gguf": await tinyModel({ endAfter: 20 }),
    "lfm2.gguf": await tinyModel({ architecture: "lfm2", endAfter: 20, seed: 4 }),
  }),
);

it("asks two architectures the same question, and continues with the chosen reply", async () => {
  const command = [...serve, "--model", "llama", "--threads", "1"];
  await using ingle = await IngleProcess.start(command, { home: home() });
  await using proxy = await RecordingProxy.start(ingle.address);
  await using opened = await browser.open({ url: proxy.address });
  const { page, chat } = opened;
  await chat.choose("llama");
  await page.getByRole("button", { name: "Compare with another model" }).click();
  await page.getByRole("menuitem", { name: /lfm2/ }).click();
  await chat.ask("Hello");
  const texts = { llama: await chat.wholeReply(0), lfm2: await chat.wholeReply(1) };
  expect(texts.llama).not.toBe("");
  expect(texts.lfm2).not.toBe("");
  expect(texts.lfm2).not.toBe(texts.llama);
  const [left, right] = [
    page.getByRole("article", { name: "llama" }),
    page.getByRole("article", { name: "lfm2" }),
  ];
  const [leftBox, rightBox] = [await left.boundingBox(), await right.boundingBox()];
  expect(rightBox?.x).toBeGreaterThan((leftBox?.x ?? 0) + (leftBox?.width ?? 0) - 1);
  expect(rightBox?.y).toBe(leftBox?.y);
  await left.getByText(/tokens\/s/).waitFor();
  await right.getByText(/tokens\/s/).waitFor();
  const asked = proxy.requestsTo(chatPath);
  expect(new Set(asked.map(({ body }) => body["model"]))).toEqual(new Set(["lfm2", "llama"]));
  expect(asked).toHaveLength(2);
  for (const { body } of asked) expect(body["messages"]).toEqual([{ role: "user", content: "Hello" }]);

  await right.getByRole("button", { name: "Continue with this answer" }).click();
  await right.getByText("Continues from here").waitFor();
  await right.getByRole("button", { name: "Copy" }).click();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(copied).not.toBe("");
  const content = await copied();
  await chat.ask("And then?");
  await expect.poll(() => proxy.requestsTo(chatPath).length).toBe(4);
  await chat.send.waitFor();
  for (const { body } of proxy.requestsTo(chatPath).slice(2)) {
    expect(body["messages"]).toEqual([
      { role: "user", content: "Hello" },
      { role: "assistant", content },
      { role: "user", content: "And then?" },
    ]);
  }
  expect(opened.problems).toEqual([]);
});

it("requests two replies of one model at once", async () => {
  await using ingle = await IngleProcess.start([...serve, "--model", "llama"], { home: home() });
  await using proxy = await RecordingProxy.start(ingle.address);
  await using opened = await browser.open({ url: proxy.address });
  const { page, chat } = opened;
  await chat.choose("llama");
  await page.getByRole("button", { name: "Answers per question: 1" }).click();
  await page.getByRole("menuitemradio", { name: "2 answers" }).click();
  await chat.ask("Hello");
  const first = await chat.wholeReply(0);
  const second = await chat.wholeReply(1);
  expect([first === "", second === ""]).toEqual([false, false]);
  expect(await chat.replies.count()).toBe(2);
  expect(proxy.requestsTo(chatPath).map(({ body }) => body["n"])).toEqual([2]);
  expect(opened.problems).toEqual([]);
});

it("collapses thoughts, shows how long they took, and expands them", async () => {
  const script = { pieces: ["The user ", "greets me.", "|", "Good ", "morning."], thoughtsEnd: "|" };
  await using ingle = await IngleProcess.start(serve, { script });
  await using proxy = await RecordingProxy.start(ingle.address);
  await using opened = await browser.open({ url: proxy.address });
  const { page, chat } = opened;
  const release = proxy.holdAt("Good ");
  await chat.ask("Good morning");
  const thoughts = chat.replies.first().locator("details");
  await thoughts.getByText("Thinking…").waitFor();
  expect(await thoughts.getByText("greets me").count()).toBe(0);
  release();
  expect(await chat.wholeReply(0)).toBe("Good morning.");
  const summary = thoughts.getByText(/^Thought for /);
  await summary.waitFor();
  expect(await thoughts.getByText("greets me").count()).toBe(0);
  await summary.click();
  await thoughts.getByText("The user greets me.").waitFor();

  await page.reload();
  await chat.replies
    .first()
    .getByText(/^Thought for /)
    .waitFor();
  await chat.askAndWait("And now?");
  expect(proxy.requestsTo(chatPath).at(-1)?.body["messages"]).toMatchObject([
    { role: "user" },
    { role: "assistant", content: "Good morning.", reasoning_content: "The user greets me." },
    { role: "user" },
  ]);
  expect(opened.problems).toEqual([]);
});
