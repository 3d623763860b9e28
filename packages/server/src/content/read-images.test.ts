// Images in requests: in conversations of every shape they reach the model at the right position, and an error names the field of
// an image that cannot be read.
import { drawImage, encodePng, imageFiles } from "@ingle/fixtures";
import type { ErrorBody } from "@ingle/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import {
  scriptedApp,
  scriptedId,
  type ScriptedApp,
  type ScriptedOptions,
} from "../../test/harness/scripted-server.ts";

const width = 30;
const height = 20;
let png = "";
let url = "";
beforeAll(async () => {
  png = (await encodePng(drawImage("disc", width, height))).toString("base64");
  url = `data:image/png;base64,${png}`;
});

const seeing: ScriptedOptions = { script: { pieces: ["A disc."], info: { readsImages: true } } };

async function post({ app }: ScriptedApp, path: string, body: object) {
  const payload = { model: scriptedId, ...body };
  const response = await app.inject({ method: "POST", url: path, payload });
  return { status: response.statusCode, body: response.json<object>() };
}

const imagePart = (of: string) => ({ type: "image_url", image_url: { url: of } });

function makeChat(...urls: string[]): object {
  return {
    messages: [{ role: "user", content: [{ type: "text", text: "What is this?" }, ...urls.map(imagePart)] }],
  };
}

/** What the model got: texts, and the sizes of images. */
function shownTo({ log }: ScriptedApp): unknown[] {
  const parts = log.chats.flatMap(({ messages }) => messages.flatMap((message) => message.parts));
  return parts.map(({ text, image }) =>
    image === null ? text : [image.width, image.height, image.data.length],
  );
}

const shown = [width, height, 3 * width * height];

describe("an image", () => {
  it("reaches the model at its position, in conversations of every shape", async () => {
    const bodies: [string, object][] = [
      ["/v1/chat/completions", makeChat(url)],
      ["/v1/tokenize", makeChat(url)],
      [
        "/v1/responses",
        {
          input: [
            {
              role: "user",
              content: [
                { type: "input_text", text: "What is this?" },
                { type: "input_image", image_url: url },
              ],
            },
          ],
        },
      ],
    ];
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: png } };
    const messages = [{ role: "user", content: [{ type: "text", text: "What is this?" }, image] }];
    bodies.push(["/v1/messages", { messages, max_tokens: 5 }], ["/v1/messages/count_tokens", { messages }]);
    for (const [path, body] of bodies) {
      await using scripted = await scriptedApp(seeing);
      const response = await post(scripted, path, body);
      expect([path, response.status]).toEqual([path, 200]);
      expect([path, shownTo(scripted)]).toEqual([path, ["What is this?", shown]]);
    }
  });

  it("may stand between texts, and next to other images", async () => {
    await using scripted = await scriptedApp(seeing);
    const content = [
      imagePart(url),
      { type: "text", text: "or" },
      imagePart(url),
      { type: "text", text: "?" },
    ];
    const response = await post(scripted, "/v1/chat/completions", { messages: [{ role: "user", content }] });
    expect(response.status).toBe(200);
    expect(shownTo(scripted)).toEqual([shown, "or", shown, "?"]);
  });

  it("is listed as an input of models that read images", async () => {
    await using scripted = await scriptedApp(seeing);
    await using blind = await scriptedApp();
    const modalities = async ({ app }: ScriptedApp) => {
      const { data } = (await app.inject("/v1/models")).json<{ data: { input_modalities: string[] }[] }>();
      return data.map(({ input_modalities }) => input_modalities);
    };
    expect(await modalities(scripted)).toEqual([["text", "image"]]);
    expect(await modalities(blind)).toEqual([["text"]]);
  });
});

describe("an image that cannot be read", () => {
  const place = "messages[0].content[1]";

  it("is refused by a text model, with its position", async () => {
    await using scripted = await scriptedApp();
    expect(await post(scripted, "/v1/chat/completions", makeChat(url))).toMatchObject({
      status: 400,
      body: { error: { code: "image_not_supported", param: place } },
    });
    expect(scripted.log.chats).toEqual([]);
  });

  it("is an error that names its field", async () => {
    await using scripted = await scriptedApp(seeing);
    const text = `data:image/png;base64,${Buffer.from("no picture").toString("base64")}`;
    const wrong = [
      text,
      url.slice(0, 60),
      `${url}*`,
      "data:text/plain;base64,AAAA",
      png,
      "https://example.com/a.png",
    ];
    for (const each of wrong) {
      for (const urls of [[each], [url, each]]) {
        const param = `messages[0].content[${urls.length}].image_url.url`;
        expect(await post(scripted, "/v1/chat/completions", makeChat(...urls))).toMatchObject({
          status: 400,
          body: { error: { code: "image_invalid", param, type: "invalid_request_error" } },
        });
      }
    }
    expect(scripted.log.chats).toEqual([]);
  });

  it("is a 413 if it has too many pixels, or there are too many images", async () => {
    await using scripted = await scriptedApp(seeing);
    const header = Buffer.from(png, "base64").subarray(0, 40);
    header.writeUInt32BE(10_000, 16);
    header.writeUInt32BE(10_000, 20);
    const large = `data:image/png;base64,${header.toString("base64")}`;
    for (const urls of [[large], Array.from({ length: 65 }, () => url)]) {
      const { status, body } = await post(scripted, "/v1/chat/completions", makeChat(...urls));
      expect(status).toBe(413);
      const { error } = body as ErrorBody;
      expect(error.code).toBe("payload_too_large");
      expect(error.param).toMatch(/^messages\[0\]\.content\[\d+\]\.image_url\.url$/);
    }
  });

  it("is an error wherever its file is truncated, or is read as far as it goes", async () => {
    await using scripted = await scriptedApp(seeing);
    const statuses = new Set<number>();
    for (const { name, format, bytes } of await imageFiles()) {
      for (const percent of [0, 5, 30, 60, 99]) {
        const cut = bytes.subarray(0, Math.floor((bytes.length * percent) / 100));
        const of = `data:image/${format};base64,${cut.toString("base64")}`;
        const { status, body } = await post(scripted, "/v1/chat/completions", makeChat(of));
        statuses.add(status);
        if (status !== 200) expect([name, body]).toMatchObject([name, { error: { code: "image_invalid" } }]);
      }
    }
    expect(statuses).toEqual(new Set([400, 200]));
  });

  it("is not fetched from an allowed host whose address is not public", async () => {
    await using scripted = await scriptedApp({
      ...seeing,
      flags: { allowImageHost: ["localhost", "127.0.0.1"] },
    });
    for (const host of ["localhost", "127.0.0.1", "0x7f.1", "example.com"]) {
      const response = await post(scripted, "/v1/chat/completions", makeChat(`http://${host}:9/a.png`));
      expect(response).toMatchObject({ status: 400, body: { error: { code: "image_invalid" } } });
    }
  });
});
