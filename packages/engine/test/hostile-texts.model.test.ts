// Hostile texts for every kind of tokenizer: each is tokenized in linear time, and none crashes the process.
import { load, type LoadedModel } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { within } from "./tiny.ts";

/** SentencePiece, and byte-pair encodings whose words are split by llama.cpp's own code or by std::regex. */
const vocabularies = ["llama-spm", "qwen2", "deepseek-coder", "falcon", "gpt-neox", "aquila"];

const length = 300_000;
const texts = {
  "one word": "a".repeat(length),
  "one number": "1".repeat(length),
  "nothing but spaces": " ".repeat(length),
  "only line breaks": "\n".repeat(length),
  "nothing but dashes": "-".repeat(length),
  "one word of Chinese": "漢".repeat(length),
  "only emoji": "🦆".repeat(length / 2),
};

async function loadVocabulary(vocabulary: string): Promise<LoadedModel> {
  return load(await tinyModel({ vocabulary }), { threads: 1, contextLength: 64 });
}

describe.each(vocabularies)("the vocabulary %s", (vocabulary) => {
  it("tokenizes texts of hundreds of thousands of characters without a word boundary", async () => {
    await using loaded = await loadVocabulary(vocabulary);
    for (const [name, text] of Object.entries(texts)) {
      const tokens = await within(5_000, loaded.tokenizer.encode(text, { addSpecial: false }));
      expect([name, (await loaded.tokenizer.decode(tokens)).trim()]).toEqual([name, text.trim()]);
    }
  });

  it("gives a long text the tokens of its parts, wherever llama.cpp splits it", async () => {
    await using loaded = await loadVocabulary(vocabulary);
    const encode = (text: string) => loaded.tokenizer.encode(text, { addSpecial: false });
    const line = "The river's lanterns, größer 12345 than\tcopper;  said (she) don't — 漢字。 End";
    const [one, two] = [await encode(`\n${line}`), await encode(`\n${line}\n${line}`)];
    const next = Array.from(two.slice(one.length));
    const many = await encode(`\n${line}`.repeat(500));
    expect([...many]).toEqual([...one, ...Array.from({ length: 499 }, () => next).flat()]);
  });
});

describe("special tokens", () => {
  it("are found in linear time in a text of nothing else", async () => {
    await using loaded = await loadVocabulary("qwen2");
    const count = 200_000;
    const tokens = await within(5_000, loaded.tokenizer.encode("<|im_end|>".repeat(count)));
    expect(tokens).toHaveLength(count);
    expect(new Set(tokens).size).toBe(1);
  });

  it("are found at any position in a text", async () => {
    await using loaded = await loadVocabulary("qwen2");
    const encode = async (text: string) => [...(await loaded.tokenizer.encode(text))];
    const [[begin], [end]] = [await encode("<|im_start|>"), await encode("<|im_end|>")];
    const [a, b] = [await encode("One river"), await encode("two")];
    expect(await encode("<|im_start|>One river<|im_end|><|im_end|>two<|im_start|>")).toEqual([
      begin,
      ...a,
      end,
      end,
      ...b,
      begin,
    ]);
    expect(await encode("One river<|im_start|>two<|im_end|>two")).toEqual([...a, begin, ...b, end, ...b]);
  });
});
