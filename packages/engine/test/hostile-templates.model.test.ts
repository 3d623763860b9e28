// Chat templates out of model files that were made to hang or to crash whoever loads them.
import { load } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { within } from "./tiny.ts";

const message = "{{ messages[0].content }}";

const hostile: Record<string, string> = {
  "counts to a billion": `{% for i in range(1000000000) %}{% endfor %}${message}`,
  "loops inside loops": `{% for a in range(9999) %}{% for b in range(9999) %}{{ a * b }}{% endfor %}{% endfor %}${message}`,
  "calls itself": `{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}${message}`,
  "doubles a text": `{% set ns = namespace(text="xxxxxxxxxxxxxxxx") %}{% for i in range(60) %}{% set ns.text = ns.text ~ ns.text %}{% endfor %}${message}`,
  "repeats a text": `{{ "x" * 100000000000 }}${message}`,
  "holds itself": `{% set ns = namespace() %}{% set ns.self = ns %}{{ ns | tojson }}${message}`,
  "compares what holds itself": `{% set ns = namespace() %}{% set ns.self = ns %}{% if ns == ns.self %}{% endif %}${message}`,
  "puts a list into itself": `{% set list = [] %}{% set _ = list.append(list) %}{{ list | tojson }}${message}`,
  "nests lists without end": `{% set ns = namespace(list=[]) %}{% for i in range(200000) %}{% set ns.list = [ns.list] %}{% endfor %}${message}`,
  "divides by zero": `{% if 1 is divisibleby(0) %}{% endif %}${message}`,
  "nests groups": `{{ ${"(".repeat(8_000)}1${")".repeat(8_000)} }}${message}`,
  "negates for ever": `{{ ${"not ".repeat(12_000)}1 }}${message}`,
  "is endless": message + "x".repeat(100_000),
  "is cut short": "{% for message in messages %}{{ message",
};

describe.each(Object.entries(hostile))("a template that %s", (_, chatTemplate) => {
  it("is an error within bounds, and this process goes on", async () => {
    const file = await tinyModel({ chatTemplate });
    const ask = async (): Promise<string> => {
      await using loaded = await load(file, { threads: 1, contextLength: 256 });
      return (await loaded.model.generate({ messages: [{ role: "user", content: "Hi" }], maxTokens: 2 }))
        .text;
    };
    const outcome = await within(
      25_000,
      ask().catch((error: unknown) => (error instanceof Error && "code" in error ? error.code : error)),
    );
    expect(["model_invalid", "template_failed"]).toContain(outcome);
  });
});
