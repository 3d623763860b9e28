// Documents in requests: their text reaches the model at the right position in conversations of every shape, and an error names
// the field of a document that cannot be read, however it was built.
import { pdfFile } from "@ingle/fixtures";
import type { ErrorBody } from "@ingle/protocol";
import { deflateRawSync, constants, deflateSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { scriptedApp, scriptedId, type ScriptedApp } from "../../test/harness/scripted-server.ts";

const report = pdfFile({ Helvetica: "Sales rose by 4 percent.", Courier: "Costs fell." });
const reportText = "Sales rose by 4 percent.\nCosts fell.";
const asUrl = (file: Buffer, type = "application/pdf"): string =>
  `data:${type};base64,${file.toString("base64")}`;

let scripted: ScriptedApp;
beforeEach(async () => {
  scripted = await scriptedApp();
});
afterEach(async () => {
  await scripted[Symbol.asyncDispose]();
});

async function post(path: string, body: object) {
  const payload = { model: scriptedId, ...body };
  const response = await scripted.app.inject({ method: "POST", url: path, payload });
  return { status: response.statusCode, body: response.json<ErrorBody>() };
}

const chatPath = "/v1/chat/completions";
const question = { type: "text", text: "What happened?" };
const filePart = (file_data: string, filename?: string) => ({ type: "file", file: { file_data, filename } });
const makeChat = (...parts: object[]) => ({ messages: [{ role: "user", content: [...parts, question] }] });
const documentBlock = (source: object) => ({ type: "document", title: "q3.pdf", source });
const makeMessages = (source: object) => ({
  messages: [{ role: "user", content: [documentBlock(source), question] }],
  max_tokens: 5,
});
const makeResponse = (file: object) => ({
  input: [
    {
      role: "user",
      content: [
        { type: "input_file", ...file },
        { type: "input_text", text: question.text },
      ],
    },
  ],
});

/** The texts of the messages that the model got. */
function shown(): string[] {
  return scripted.log.chats.flatMap(({ messages }) => messages.map(({ content }) => content));
}

describe("a PDF", () => {
  const base64 = { type: "base64", media_type: "application/pdf", data: report.toString("base64") };

  it.each([
    [chatPath, makeChat(filePart(asUrl(report), "q3.pdf"))],
    ["/v1/tokenize", makeChat(filePart(asUrl(report), "q3.pdf"))],
    [`${chatPath}/render`, makeChat(filePart(report.toString("base64"), "q3.pdf"))],
    ["/v1/responses", makeResponse({ file_data: asUrl(report), filename: "q3.pdf" })],
    ["/v1/messages", makeMessages(base64)],
    ["/v1/messages/count_tokens", makeMessages(base64)],
  ])("becomes its text in %s", async (path, body) => {
    expect((await post(path, body)).status).toBe(200);
    expect(shown()).toEqual([`q3.pdf\n${reportText}\n${question.text}`]);
  });

  it("inside a tool's result is text too", async () => {
    const call = { type: "tool_use", id: "call_1", name: "open", input: {} };
    const result = { type: "tool_result", tool_use_id: "call_1", content: [documentBlock(base64)] };
    const tools = [{ name: "open", input_schema: { type: "object" } }];
    const messages = [
      { role: "user", content: "Open it." },
      { role: "assistant", content: [call] },
      { role: "user", content: [result] },
    ];
    expect((await post("/v1/messages", { messages, tools, max_tokens: 5 })).status).toBe(200);
    expect(shown()).toContain(`q3.pdf\n${reportText}`);
  });

  it("may stand beside others, each at its position", async () => {
    const second = pdfFile({ Helvetica: "A second one." });
    await post(chatPath, makeChat(filePart(asUrl(report)), question, filePart(asUrl(second))));
    expect(shown()).toEqual([`${reportText}\n${question.text}\nA second one.\n${question.text}`]);
  });
});

describe("a text file", () => {
  it("is its text, whatever its type says", async () => {
    const file = Buffer.from("\u{FEFF}name;price\nÄpfel;2\n");
    await post(chatPath, makeChat(filePart(asUrl(file, "text/csv;charset=utf-8"), "prices.csv")));
    expect(shown()).toEqual([`prices.csv\nname;price\nÄpfel;2\n\n${question.text}`]);
  });
});

/** A page whose content is a kilobyte that unpacks twice, to 8 GiB of spaces. */
function bomb(): Buffer {
  const megabytes = deflateRawSync(Buffer.alloc(16 * 1024 * 1024, " "), {
    finishFlush: constants.Z_FULL_FLUSH,
  });
  const once = Buffer.concat([Buffer.from([0x78, 0x9c]), ...Array.from({ length: 512 }, () => megabytes)]);
  const stream = deflateSync(once, { level: 9 });
  const head = "<< /Type /Catalog /Pages 2 0 R >>";
  const pages = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>";
  const page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << >> >>";
  const objects = [head, pages, page].map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join("");
  const filters = `<< /Length ${stream.length} /Filter [/FlateDecode /FlateDecode] >>`;
  return Buffer.concat([
    Buffer.from(`%PDF-1.4\n${objects}4 0 obj\n${filters}\nstream\n`),
    stream,
    Buffer.from("\nendstream\nendobj\ntrailer\n<< /Size 5 /Root 1 0 R >>\n%%EOF\n"),
  ]);
}

describe("a document that cannot be read", () => {
  const param = "messages[0].content[0].file.file_data";

  it.each<[string, Buffer, RegExp]>([
    ["damaged", Buffer.from("%PDF-1.4 and nothing else"), /The PDF is damaged/],
    ["scanned", pdfFile({}), /no text, only scanned pages/],
    ["neither text nor a PDF", Buffer.from([0x50, 0x4b, 3, 4, 0, 0xff]), /a PDF, or text in UTF-8/],
  ])("is refused with its field and reason: %s", async (_name, file, message) => {
    const { status, body } = await post(chatPath, makeChat(filePart(asUrl(file))));
    expect([status, body.error]).toMatchObject([
      400,
      { code: "document_invalid", param, message: expect.stringMatching(message) },
    ]);
  });

  it.each([
    ["not base64", chatPath, makeChat(filePart("data:application/pdf;base64,%%%")), param, /neither base64/],
    [
      "an uploaded file",
      chatPath,
      makeChat({ type: "file", file: { file_id: "file-1" } }),
      undefined,
      /file_data/,
    ],
    ["an uploaded file", "/v1/responses", makeResponse({ file_id: "file-1" }), undefined, /file_data/],
    [
      "a URL",
      "/v1/responses",
      makeResponse({ file_url: "https://example.org/a.pdf" }),
      undefined,
      /not fetched/,
    ],
    [
      "a URL",
      "/v1/messages",
      makeMessages({ type: "url", url: "https://example.org/a.pdf" }),
      undefined,
      /fetched/,
    ],
  ])("is refused: %s in %s", async (_name, path, body, field, message) => {
    const { status, body: refused } = await post(path, body);
    expect([status, refused.error.message]).toEqual([400, expect.stringMatching(message)]);
    if (field !== undefined) expect(refused.error.param).toBe(field);
  });

  it("does not fill the memory, however much it unpacks to", async () => {
    const file = bomb();
    expect(file.length).toBeLessThan(200_000);
    const before = process.memoryUsage.rss();
    const { status, body } = await post(chatPath, makeChat(filePart(asUrl(file))));
    expect([status, body.error]).toMatchObject([
      400,
      { code: "document_invalid", message: expect.stringMatching(/bytes of memory|30 seconds/) },
    ]);
    expect(process.memoryUsage.rss() - before).toBeLessThan(256 * 1024 * 1024);
  }, 60_000);

  it("ends with its client", async () => {
    const stop = new AbortController();
    const { pdfText } = await import("./pdf-text.ts");
    const reading = pdfText(bomb(), { param: "file_data", signal: stop.signal });
    setTimeout(() => stop.abort(new Error("gone")), 300);
    await expect(reading).rejects.toThrow("gone");
  }, 10_000);
});
