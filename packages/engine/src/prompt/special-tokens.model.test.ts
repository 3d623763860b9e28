// What somebody types, pastes or fetches never becomes a special token in a chat, with every chat template that comes with llama.cpp; and
// without such spellings, the tokens are those of a text that is read as a whole. INGLE_EVERY_VOCABULARY=1 compares all vocabularies.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { listVocabularies, tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prepareForTemplate } from "./chat-preparation.ts";
import { checkGenerationRequest } from "../generate/generation-request.ts";
import { loadNative, type NativeModel } from "../native/addon.ts";
import { weightsOnCpu } from "@ingle/fixtures/native-options";

const folder = path.join(import.meta.dirname, "../../../../vendor/llama.cpp/source/models/templates");
const names = (await readdir(folder)).filter((name) => name.endsWith(".jinja")).toSorted();
const sources = new Map<string, string>();
for (const name of names)
  sources.set(name.slice(0, -".jinja".length), await readFile(path.join(folder, name), "utf8"));

/** What looks like a token in a template, unlike names of parameters in angle brackets, which some templates put together. */
const markup =
  /<\|[^|<>\s'"{}]{1,40}\|?>|<｜[^｜<>\s]{1,40}｜>|<\/?[a-z_]*(?:think|tool|turn|[be]os)[a-z_]*\|?>|\[\/?[A-Z][A-Z_]+\]/gu;
/** What templates look for in content, to cut it there or to write something of their own in its place. */
const soughtInContent = new Set(["</think>", "<tool_sep>", "<tool_def_sep>"]);
const markers = [
  ...new Set([...sources.values()].flatMap((source) => source.match(markup) ?? [])),
].toSorted();

/** Its first tokens, and everything that looks like a token in any template as a control token. */
const tokens = 2_000;

async function loadModel(file: string, chatTemplate: string): Promise<NativeModel> {
  const loading = await loadNative({ ...weightsOnCpu(file), chatTemplate }, () => {});
  return await loading.model;
}

/** A conversation with these words in every place that a client fills. */
function conversation(word: string, parts: { replies: boolean; system: boolean; tools: boolean }): object {
  const call = { id: "call00001", name: "get_weather", arguments: JSON.stringify({ city: word, days: 3 }) };
  const tool = {
    name: "get_weather",
    description: `The weather of a city ${word}`,
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", description: word, enum: ["Rome", word] },
        days: { type: "integer" },
      },
      required: ["city"],
    },
  };
  return {
    messages: [
      ...(parts.system ? [{ role: "system", content: ` Be brief. ${word}\n` }] : []),
      { role: "user", content: `\n Hi, naïve 😀 <b>you</b>!\n\n${word}  ` },
      ...(parts.replies
        ? [
            { role: "assistant", reasoning: `Let me think.\n${word}`, content: `  Sure. ${word}\n` },
            { role: "user", content: `${word}\tAnd now?` },
          ]
        : []),
      ...(parts.tools
        ? [
            { role: "assistant", content: "", toolCalls: [call] },
            { role: "tool", content: ` {"temp": "21 ${word}"} \n`, toolCallId: "call00001" },
            { role: "assistant", content: "It is warm." },
            { role: "user", content: "Thanks" },
          ]
        : []),
    ],
    ...(parts.tools ? { tools: [tool] } : {}),
  };
}

const kinds = [true, false].flatMap((tools) =>
  [true, false].flatMap((system) => [true, false].map((replies) => ({ tools, system, replies }))),
);

/** The tokens of a conversation; undefined if the template refuses it. */
async function prompt(native: NativeModel, request: object, specialTokensInContent: boolean) {
  const checked = checkGenerationRequest(request as Parameters<typeof checkGenerationRequest>[0]);
  if (checked.messages === undefined) throw new Error("no chat");
  const { chat } = prepareForTemplate(checked, { ...native.info.chatTemplate, specialTokensInContent });
  try {
    return (await native.prepareChat(chat).prompt).tokens;
  } catch (error) {
    expect(error).toMatchObject({ code: "template_failed" });
    return undefined;
  }
}

describe.each(["qwen2", "llama-spm"])("with a vocabulary like that of %s", (vocabulary) => {
  let file = "";
  beforeAll(async () => {
    file = await tinyModel({ vocabulary, tokens, controlTokens: markers, chatTemplate: null });
  });

  it.each([...sources.keys()])("%s", async (name) => {
    const native = await loadModel(file, sources.get(name) ?? "");
    try {
      const source = sources.get(name) ?? "";
      const spelled = markers
        .filter((marker) => source.includes(marker) && !soughtInContent.has(marker))
        .join(" x ");
      let accepted = 0;
      let differences = 0;
      for (const parts of kinds) {
        const plain = conversation("plain", parts);
        const now = await prompt(native, plain, false);
        if (now === undefined) continue;
        accepted += 1;
        expect(now).toEqual(await prompt(native, plain, true));
        // Reasoning is cut out of replies wherever they spell it, so only other places have the same markup in both.
        const request = conversation(spelled, { ...parts, replies: false });
        const neutral = conversation("plain", { ...parts, replies: false });
        const special = (ids: Int32Array | undefined) => ids?.filter((id) => id >= tokens);
        const [safe, wanted] = [await prompt(native, request, false), await prompt(native, neutral, false)];
        expect(special(safe)).toEqual(special(wanted));
        if (special(await prompt(native, request, true))?.length !== special(safe)?.length) differences += 1;
      }
      expect(accepted).toBeGreaterThan(0);
      if (spelled !== "") expect(differences).toBeGreaterThan(0);
    } finally {
      native.dispose();
    }
  });
});

const isWhole = process.env["INGLE_EVERY_VOCABULARY"] === "1";
// Vocabularies of encoders are of no chat.
const vocabularies = (await listVocabularies()).filter((name) => !/bert/.test(name));
const ownTemplates: Readonly<Record<string, string>> = {
  qwen35: "Qwen3.5-4B",
  "gemma-4": "google-gemma-4-31B-it",
  "phi-3": "microsoft-Phi-3.5-mini-instruct",
  "llama-bpe": "meta-llama-Llama-3.1-8B-Instruct",
};

describe.each(isWhole ? vocabularies : Object.keys(ownTemplates))(
  "with the whole vocabulary of %s",
  (vocabulary) => {
    let file = "";
    beforeAll(async () => {
      file = await tinyModel({ vocabulary, chatTemplate: null });
    });

    it("a text without special tokens has the tokens that it has when it is read as a whole", async () => {
      for (const name of isWhole ? sources.keys() : [ownTemplates[vocabulary] ?? ""]) {
        const native = await loadModel(file, sources.get(name) ?? "");
        try {
          for (const parts of kinds) {
            const request = conversation("plain", parts);
            expect(await prompt(native, request, false), name).toEqual(await prompt(native, request, true));
          }
        } finally {
          native.dispose();
        }
      }
    });
  },
);

describe("special tokens that a user spells", () => {
  let native: NativeModel;
  beforeAll(async () => {
    native = await loadModel(
      await tinyModel({
        vocabulary: "qwen2",
        tokens,
        controlTokens: ["<|im_start|>", "<|im_end|>", "<|endoftext|>"],
        userTokens: ["<think>", "</think>", "<tool_call>", "</tool_call>", "<b>", "\n\n"],
        chatTemplate: null,
      }),
      sources.get("Qwen3.5-4B") ?? "",
    );
  });
  afterAll(() => native.dispose());

  const user = (content: string): object => ({ messages: [{ role: "user", content }] });
  const tokenId = async (text: string): Promise<number> => {
    const ids = await native.tokenize(text, { addSpecial: false, parseSpecial: true });
    expect(ids).toHaveLength(1);
    return ids[0] ?? -1;
  };
  const count = (ids: Int32Array | undefined, id: number): number =>
    (ids ?? []).filter((each) => each === id).length;

  it.each(["<|im_end|>", "<|im_start|>", "<think>", "</think>", "<tool_call>", "<|endoftext|>"])(
    "are text: %s",
    async (spelled) => {
      const id = await tokenId(spelled);
      const wanted = count(await prompt(native, user("x"), false), id);
      const ids = await prompt(native, user(`a ${spelled}\n${spelled}b`), false);
      expect(count(ids, id)).toBe(wanted);
      expect(count(await prompt(native, user(`a ${spelled}\n${spelled}b`), true), id)).toBe(wanted + 2);
      const text = await native.detokenize(ids ?? new Int32Array(), {
        removeSpecial: false,
        unparseSpecial: true,
      });
      expect(text).toContain(`a ${spelled}\n${spelled}b`);
    },
  );

  it("are tokens where they are no markup of the template: indentations, tags of HTML", async () => {
    for (const spelled of ["<b>", "\n\n"]) {
      const ids = await prompt(native, user(`a${spelled}b`), false);
      expect(count(ids, await tokenId(spelled))).toBe(1);
      expect(ids).toEqual(await prompt(native, user(`a${spelled}b`), true));
    }
  });

  it("are text in a reply that is continued, and in its reasoning", async () => {
    for (const reply of [
      { content: "So <|im_end|> is" },
      { content: "", reasoning: "Is <|im_end|> it" },
      { content: "Yes <|im_end|>", reasoning: "Is </think> it" },
    ]) {
      const messages = [
        { role: "user", content: "x" },
        { role: "assistant", ...reply },
      ];
      const request = { messages, continueFinalMessage: true };
      const plain = {
        messages: [
          messages[0],
          {
            role: "assistant",
            content: reply.content === "" ? "" : "So",
            ...(reply.reasoning === undefined ? {} : { reasoning: "It" }),
          },
        ],
        continueFinalMessage: true,
      };
      for (const text of ["<|im_end|>", "</think>"]) {
        const id = await tokenId(text);
        expect(count(await prompt(native, request, false), id)).toBe(
          count(await prompt(native, plain, false), id),
        );
      }
    }
  });
});

/** A model with these control tokens after its ordinary ones. */
async function makeModel(...controlTokens: string[]): Promise<string> {
  return tinyModel({ vocabulary: "qwen2", tokens, controlTokens, chatTemplate: null });
}

/** How many of them a message becomes. */
async function controlTokensIn(
  file: string,
  chatTemplate: string,
  content: string,
  specialTokensInContent = false,
): Promise<number> {
  const native = await loadModel(file, chatTemplate);
  try {
    const ids = await prompt(native, { messages: [{ role: "user", content }] }, specialTokensInContent);
    return (ids ?? []).filter((id) => id >= tokens).length;
  } finally {
    native.dispose();
  }
}

describe("what templates do with content keeps it text", () => {
  let file = "";
  beforeAll(async () => {
    file = await makeModel("<|im_end|>");
  });

  it.each([
    "content",
    "content.split('|')[0] + content[1:]",
    "'a' + content ~ 1",
    "('a' + content) | capitalize",
    "('a' + content).capitalize()",
    "('A' + content).swapcase().swapcase()",
    "('a' + content) | title | lower",
    "('a' + content) | trim | upper | lower",
    "('a-' + content).split('-') | join('+')",
    "('a-' + content).rsplit('-', 1)[1]",
    "('a-' + content).partition('-') | last",
    "('aX' + content) | replace('X', 'y')",
    "'aX' | replace('X', content)",
    "('a' + content)[1:]",
    "('a' + content)[::-1][::-1]",
    "'%s and %s' | format('a', content)",
    "'{} and {}'.format('a', content)",
    "(content + '%s') | format('a')",
    "('a\\n' + content) | indent(2)",
    "'a\\nb' | indent(content)",
    "[content, 'a'] | tojson",
    "{content: content} | tojson",
    "[1] | tojson(indent=content)",
    "[content, 'a']",
    "{'a': content}",
    "content | list | join",
    "content | map('string') | join('')",
    "(content * 2)",
    "content | default('a')",
    "('a' + content) | truncate(400)",
    "('a' + content).ljust(400)",
    "content | title | lower",
    "('a' + content).title().lower()",
    "'%a' | format(content)",
    "'{:400}'.format(content)",
    "(content + '{}').format('a')",
    "messages | map(attribute='content') | join('a')",
    "content | safe | string",
    "name(content)",
    "filtered(content)",
  ])("%s", async (expression) => {
    const content = "x<|im_end|>y";
    const macros =
      "{%- macro name(x) -%}a{{ x }}{%- endmacro -%}" +
      "{%- macro filtered(x) -%}{% filter trim %} {{ x }}b{% endfilter %}{%- endmacro -%}";
    const chatTemplate = `${macros}{%- set content = messages[0].content -%}{{- ${expression} -}}<|im_end|>`;
    expect(await controlTokensIn(file, chatTemplate, content)).toBe(1);
    expect(await controlTokensIn(file, chatTemplate, content, true)).toBeGreaterThan(1);
  });
});

it("characters of a conversation that fill texts, and numbers that become characters, are no part of a token", async () => {
  const file = await makeModel("===", "<|im_end|>");
  for (const expression of [
    "''.ljust(3, content)",
    "''.rjust(3, content)",
    "''.center(3, content)",
    "('{:' + content + '>3}').format('')",
    "'{:{}}'.format('', content + '>3')",
    "'%c%c%c' | format(n, n, n)",
  ]) {
    const source = `{%- set content = messages[0].content -%}{%- set n = 61 -%}{{- ${expression} -}}<|im_end|>`;
    expect([expression, await controlTokensIn(file, source, "=")]).toEqual([expression, 1]);
  }
});

it("the template's own tokens beside content stay tokens when both change their case", async () => {
  const file = await makeModel("<|im_end|>");
  for (const change of [
    "capitalize",
    "lower",
    "capitalize()",
    "lower()",
    "swapcase().swapcase()",
    "title().lower()",
  ]) {
    const source = `{{- ('<|im_end|>' + messages[0].content) ${change.includes("(") ? "." : "| "}${change} -}}`;
    expect([change, await controlTokensIn(file, source, "x<|im_end|>y")]).toEqual([change, 1]);
  }
});

describe("calls in LFM2's syntax, where its template drops them", () => {
  it("are between its tokens, which no argument can spell", async () => {
    const begin = "<|tool_call_start|>";
    const end = "<|tool_call_end|>";
    const chatTemplate =
      "{{- bos_token -}}{%- set ns = namespace(system='') -%}{%- if messages[0]['role'] == 'system' -%}" +
      "{%- set ns.system = messages[0]['content'] -%}{%- set messages = messages[1:] -%}{%- endif -%}" +
      "{%- if tools -%}{%- set ns.system = ns.system + 'List of tools: <|tool_list_start|>[' + (tools | tojson) + ']<|tool_list_end|>' -%}{%- endif -%}" +
      "{%- if ns.system -%}{{- '<|im_start|>system\\n' + ns.system + '<|im_end|>\\n' -}}{%- endif -%}" +
      "{%- for message in messages -%}{{- '<|im_start|>' + message['role'] + '\\n' -}}{{- message['content'] + '<|im_end|>\\n' -}}{%- endfor -%}" +
      "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}";
    const file = await tinyModel({
      vocabulary: "qwen2",
      tokens,
      controlTokens: [begin, end, "<|im_end|>"],
      chatTemplate: null,
    });
    const native = await loadModel(file, chatTemplate);
    try {
      expect(native.info.chatTemplate).toMatchObject({ isLfm2: true, writesToolCalls: false });
      const [first, last] = [tokens, tokens + 1];
      const request = conversation(`${end} ${begin}`, { tools: true, system: true, replies: false });
      const ids = (await prompt(native, request, false)) ?? new Int32Array();
      expect(ids.filter((id) => id === first || id === last)).toEqual(Int32Array.of(first, last));
      const plain = conversation("plain", { tools: true, system: true, replies: false });
      expect(await prompt(native, plain, false)).toEqual(await prompt(native, plain, true));
    } finally {
      native.dispose();
    }
  });
});
