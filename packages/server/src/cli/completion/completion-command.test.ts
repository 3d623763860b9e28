import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testWorld } from "../../../test/cli-context.ts";
import { FlagOption } from "../flags.ts";
import { main } from "../main.ts";
import { ingleProgram } from "../program.ts";
import { candidatesFor } from "./candidates.ts";

const ingle = fileURLToPath(new URL("../../../bin/ingle.js", import.meta.url));
const program = ingleProgram(testWorld().context, () => {});
const models = async (): Promise<string[]> => ["daily", "acme/tiny-GGUF:Q4_0"];

const isInstalled = (shell: string): boolean => spawnSync(shell, ["--version"]).error === undefined;

async function valuesAfter(line: string): Promise<string[]> {
  return (await candidatesFor(program, line.split(" "), models)).map(({ value }) => value);
}

describe("what may follow", () => {
  it.each([
    ["ser", ["serve", "service"]],
    ["service ", ["install", "remove", "status", "logs"]],
    ["help un", ["unload"]],
    ["serve --variant d", ["desktop", "developer"]],
    ["serve --variant=de", ["--variant=desktop", "--variant=developer"]],
    ["serve --port 1 --no-a", ["--no-auth"]],
    ["serve --no-auth --variant s", ["serverless"]],
    ["serve --allow-host a b --tls-c", ["--tls-cert"]],
    ["service install --log-format ", ["text", "json"]],
    ["service install -- --log-format ", ["text", "json"]],
    ["service install --por", ["--port"]],
    ["deploy modal --ct", []],
    ["deploy modal -- --ct", ["--ctx"]],
    ["completion ", ["bash", "zsh", "fish"]],
    ["completion zs", ["zsh"]],
    ["run --model ", ["daily", "acme/tiny-GGUF:Q4_0"]],
    ["run --model acme/tiny-GGUF:", ["acme/tiny-GGUF:Q4_0"]],
    ["serve --pin daily a", ["acme/tiny-GGUF:Q4_0"]],
    ["remove daily a", ["acme/tiny-GGUF:Q4_0"]],
    ["unload ", ["daily", "acme/tiny-GGUF:Q4_0"]],
    ["load daily a", []],
    ["logs", []],
  ])("%j is %j", async (line, values) => {
    expect(await valuesAfter(line)).toEqual(values);
  });

  it.each(["import ", "import ./a", "serve --tls-cert ", "run -- --mod"])(
    "%j is left to the shell, which knows files",
    async (line) => {
      expect(await valuesAfter(line)).toEqual([]);
    },
  );

  it("is every command and every flag of the program", async () => {
    const missing: string[] = [];
    const visit = async (command: Command, line: string): Promise<void> => {
      const shown = new Set(await valuesAfter(`${line}-`));
      for (const option of command.options)
        if (option instanceof FlagOption && !shown.has(option.long ?? ""))
          missing.push(`${line}${option.flags}`);
      const names = command.commands.length === 0 ? [] : await valuesAfter(line);
      for (const inner of command.commands) {
        if (!names.includes(inner.name())) missing.push(line + inner.name());
        await visit(inner, `${line}${inner.name()} `);
      }
    };
    await visit(program, "");
    expect(missing).toEqual([]);
  });
});

describe("ingle completion", () => {
  it("describes candidates where the shell shows that", async () => {
    const world = testWorld();
    await main("ingle", ["completion", "zsh", "--", "serve", "--kv-bits"], world.context);
    expect(world.out()).toContain(String.raw`--kv-bits:Bits per value of the KV cache\: 16, 8, 4 or 3`);
    await main("ingle", ["completion", "fish", "--", "serv"], world.context);
    expect(world.out()).toContain("serve\tServe the /v1 API");
  });

  it("refuses an unknown shell", async () => {
    const world = testWorld();
    expect(await main("ingle", ["completion", "tcsh"], world.context)).toBe(2);
    expect(world.err()).toContain("bash, zsh, fish");
  });
});

describe.skipIf(process.platform === "win32")("in a real shell", () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "ingle-completion-"));
    await mkdir(path.join(folder, "bin"));
    await symlink(ingle, path.join(folder, "bin", "ingle"));
    await mkdir(path.join(folder, "models"));
    await writeFile(path.join(folder, "models", "my-model.gguf"), fakeGguf());
    // Without addons: names of models must not need the native engine.
    const ours = { PATH: `${path.join(folder, "bin")}:${process.env["PATH"] ?? ""}`, INGLE_HOME: folder };
    env = { ...ours, HOME: folder, XDG_CONFIG_HOME: folder, NODE_OPTIONS: "--no-addons" };
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  const run = (shell: string, args: readonly string[], script: string) =>
    spawnSync(shell, [...args, script], { env, cwd: folder, encoding: "utf8", timeout: 30_000 });

  it("bash completes commands, flags, choices, models and what follows = and :", () => {
    const lines = [
      "ingle ser",
      "ingle serve --kv-bits-",
      "ingle serve --variant=de",
      "ingle run --model my",
      "ingle load ",
    ];
    const asked = lines.map(
      (line) => `COMP_LINE='${line}' COMP_POINT=${line.length}; _ingle; echo "\${COMPREPLY[*]}"`,
    );
    const { stdout, stderr } = run("bash", ["-c"], ['eval "$(ingle completion bash)"', ...asked].join("\n"));
    const replies = ["serve service", "--kv-bits-k --kv-bits-v", "desktop developer", "my-model", "my-model"];
    expect({ stdout, stderr }).toEqual({ stdout: `${replies.join("\n")}\n`, stderr: "" });
  });

  it.runIf(isInstalled("zsh"))(
    "zsh hands the candidates to _describe, and asks for files where there are none",
    () => {
      const stubs = `compdef() { :; }; _describe() { print -rl -- "\${(@P)2}"; }; _files() { print files; }`;
      const ask = (...words: string[]): string => `words=(${words.join(" ")}); CURRENT=$#words; _ingle`;
      const asked = [
        ask("ingle", "serve", "--variant", "de"),
        ask("ingle", "run", "--model", "my"),
        ask("ingle", "import", "''"),
      ];
      const script = [stubs, 'eval "$(ingle completion zsh)"', ...asked].join("\n");
      const { stdout, stderr } = run("zsh", ["-f", "-c"], script);
      expect({ stdout, stderr }).toEqual({ stdout: "desktop\ndeveloper\nmy-model\nfiles\n", stderr: "" });
    },
  );

  it.runIf(isInstalled("fish"))("fish completes the same, and files", () => {
    const lines = ["ingle serve --variant de", "ingle run --model my", "ingle import mod"];
    const asked = lines.map((line) => `complete -C '${line}'`);
    const script = ["ingle completion fish | source", ...asked].join("\n");
    const { stdout } = run("fish", ["--no-config", "-c"], script);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.trim()),
    ).toEqual(["desktop", "developer", "my-model", "models/"]);
  });
});
