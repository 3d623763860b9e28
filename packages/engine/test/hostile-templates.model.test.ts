// Hostile chat templates in model files, made to hang or crash the process that loads them.
import { spawn } from "node:child_process";
import { once } from "node:events";
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
  "divides the smallest number": `{% if -9223372036854775808 is divisibleby(-1) %}{% endif %}{{ 1 % 0 }}${message}`,
  "joins with a long text": `{% set text = "x" * 100000 %}{{ range(100000) | join(text) }}${message}`,
  "splits a text to letters": `{% set ns = namespace(text="xxxxxxxxxxxxxxxx") %}{% for i in range(17) %}{% set ns.text = ns.text ~ ns.text %}{% endfor %}{{ ns.text.split("x") | length }}{{ ns.text.split("x") | length }}${message}`,
  "looks for a long text in a longer one": `{% set ns = namespace(text="xxxxxxxxxxxxxxxx") %}{% for i in range(16) %}{% set ns.text = ns.text ~ ns.text %}{% endfor %}{{ (ns.text ~ "y") in (ns.text ~ ns.text) }}${message}`,
  "keeps texts": `{% set ns = namespace(list=[]) %}{% for i in range(90000) %}{% set _ = ns.list.append("x" * 900 | upper) %}{% endfor %}${message}`,
  "calls a result a thousand times": `{{ a${"()".repeat(25_000)} }}${message}`,
  "nests groups": `{{ ${"(".repeat(8_000)}1${")".repeat(8_000)} }}${message}`,
  "negates forever": `{{ ${"not ".repeat(12_000)}1 }}${message}`,
  "is endless": message + "x".repeat(100_000),
  "is cut short": "{% for message in messages %}{{ message",
};

describe.each(Object.entries(hostile))("a template that %s", (_, chatTemplate) => {
  it("is an error within bounded time and memory, and the process continues", async () => {
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

describe("a template that writes the arguments of calls", () => {
  const chatTemplate = `{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}{{ c.function.name }}{% for k, v in c.function.arguments | items %}{{ k }}={{ v }}{% endfor %}{% endfor %}{% endfor %}{{ tools | tojson }}`;

  it("never gets arguments that are nested too deep", async () => {
    await using loaded = await load(await tinyModel({ chatTemplate }), { threads: 1, contextLength: 256 });
    const tokens = (depth: number): Promise<Int32Array> =>
      loaded.model.promptTokens({
        messages: [
          {
            role: "assistant",
            content: "",
            toolCalls: [
              { id: "a12345678", name: "f", arguments: `{"a":${"[".repeat(depth)}1${"]".repeat(depth)}}` },
            ],
          },
          { role: "tool", toolCallId: "a12345678", content: "x" },
        ],
        tools: [{ name: "f", parameters: { type: "object" } }],
      });
    expect((await tokens(9)).length).toBeGreaterThan(9);
    for (const depth of [1_000, 100_000])
      await expect(tokens(depth)).rejects.toMatchObject({ code: "template_failed" });
  });
});

describe("a running template", () => {
  /** Takes seconds for the messages of `long`. */
  const slow = `{% if messages | length > 9 %}{% for i in range(9999) %}{% for j in range(9999) %}{{ i * j }}{% endfor %}{% endfor %}{% endif %}${message}`;

  /** Runs a program with one worker thread for all templates; returns its output and how long it took to end. */
  async function run(source: string): Promise<{ printed: unknown; endMs: number }> {
    const program = `
      import { load } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
      const { model } = await load(${JSON.stringify(await tinyModel({ chatTemplate: slow }))}, { threads: 1, contextLength: 256 });
      const short = [{ role: "user", content: "Hi" }];
      const long = Array.from({ length: 700 }, () => short[0]);
      const cpuMs = () => process.cpuUsage().user / 1000;
      const isAtWork = async () => {
        const begin = cpuMs();
        while (cpuMs() < begin + 200) await new Promise((resolve) => setTimeout(resolve, 5));
      };
      ${source}`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    let printedAt = 0;
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
      printedAt = performance.now();
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), 25_000);
    await once(child, "close");
    clearTimeout(timer);
    return { printed: JSON.parse(output), endMs: performance.now() - printedAt };
  }

  it("stops when its request is aborted or cancelled, and the only worker thread serves the next one", async () => {
    const { printed } = await run(`
      const outcomes = [];
      for (const leave of ["abort", "cancel", "promptTokens"]) {
        const controller = new AbortController();
        const gone = Object.assign(new Error("gone"), { name: "Gone" });
        const { signal } = controller;
        const asked = leave === "promptTokens" ? model.promptTokens({ messages: long }, { signal })
          : model.generate({ messages: long, maxTokens: 1 }, { signal });
        await isAtWork();
        const begin = cpuMs();
        leave === "cancel" ? asked.cancel(gone) : controller.abort(gone);
        const { name } = await Promise.resolve(asked).catch((error) => error);
        const next = await model.generate({ messages: short, maxTokens: 2 });
        outcomes.push([name, next.usage.completionTokens > 0, cpuMs() - begin < 1000]);
      }
      console.log(JSON.stringify(outcomes));
      await model[Symbol.asyncDispose]();`);
    expect(printed).toEqual(Array.from({ length: 3 }, () => ["Gone", true, true]));
  });

  it("does not delay the end of the process", async () => {
    const { endMs } = await run(`
      void model.generate({ messages: long, maxTokens: 1 });
      await isAtWork();
      console.log(true);
      process.exit();`);
    expect(endMs).toBeLessThan(4_000); // the template itself would take twice as long on an idle machine
  });
});
