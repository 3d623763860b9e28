// The programs as processes, from the build in dist/.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ingleVersion } from "../this-package.ts";

const packageFolder = fileURLToPath(new URL("../..", import.meta.url));
const ingle = path.join(packageFolder, "bin/ingle.js");
const lmServer = path.join(packageFolder, "bin/ingle-lm-server.js");
const scripted = path.join(packageFolder, "test/scripted-ingle.js");

function start(script: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, ...env },
    timeout: 20_000,
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const exit = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, out, err })),
  );
  const outHas = async (text: string): Promise<string> => {
    while (!out.includes(text) && child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 5));
    return out;
  };
  child.stdin.end();
  return { child, exit, outHas };
}

const run = async (args: readonly string[], script = ingle) => start(script, args).exit;

describe("the programs", () => {
  it("print their version", async () => {
    expect(await run(["--version"])).toEqual({ code: 0, out: `${ingleVersion()}\n`, err: "" });
    expect(await run(["--version"], lmServer)).toEqual({ code: 0, out: `${ingleVersion()}\n`, err: "" });
  });

  it("print their help on stdout, with exactly the commands that exist", async () => {
    const { code, out, err } = await run(["--help"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const commands = [...out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    expect(commands).toEqual([
      "serve",
      "service",
      "keys",
      "config",
      "app",
      "run",
      "chat",
      "batch",
      "launch",
      "pull",
      "search",
      "list",
      "alias",
      "remove",
      "import",
      "prune",
      "quantize",
      "imatrix",
      "ps",
      "load",
      "unload",
      "deploy",
      "worker",
      "completion",
      "upgrade",
      "doctor",
      "help",
    ]);
    expect((await run(["--help"], lmServer)).out).not.toContain("--variant");
  });

  it("say how they are upgraded, and complete their commands", async () => {
    expect((await run(["upgrade"])).out).toContain("To upgrade it: git pull && npx --yes pnpm@12 build\n");
    expect(await run(["completion", "bash", "--", "servi"])).toEqual({ code: 0, out: "service\n", err: "" });
  });

  it.each([
    [["srve"], "ingle: unknown command 'srve'", "(Did you mean serve?)"],
    [["pull"], "missing required argument 'model'", "--help"],
    [["pull", "./x.gguf"], "is already on this machine", "ingle import"],
    [["prune", "--unused-for", "-3"], "'-3' is invalid", "whole number"],
    [["serve", "--prot", "1"], "ingle: unknown option '--prot'", "(Did you mean --port?)"],
    [["serve", "--port", "http"], "'http' is invalid", "whole number"],
    [["serve", "--port", "70000"], "ingle: --port must be at most 65535.", ""],
    [["serve", "--variant", "cloud"], "'cloud' is invalid", "desktop, developer, command-line, serverless"],
    [["serve", "--model"], "argument missing", "--help"],
    [[], "Usage: ingle", "serve"],
  ])("exit with 2 and a message when called as %j", async (args, sentence, hint) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(sentence);
    expect(err).toContain(hint);
    expect(err).not.toContain("    at ");
  });

  it.each([["serve", "--port", "0"], ["run", "hi"], ["chat"]])(
    "end with 1 and a sentence when the model file of %s is missing",
    async (...command) => {
      const { code, out, err } = await run([...command, "--model", "./no-such.gguf"]);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toMatch(
        /^ingle: There is no file .*no-such\.gguf\. A model is the path of a \.gguf file or of a folder /,
      );
      expect(err).not.toContain("    at ");
    },
  );

  it.each([
    ["18.20.4", 1],
    ["20.16.0", 1],
    ["20.17.0", 0],
    ["24.0.0", 0],
  ])("require Node 20.17 or newer: %s", async (nodeVersion, code) => {
    const starter = JSON.stringify(new URL("../../bin/start.js", import.meta.url).href);
    const script = `process.argv.push("ingle", "--version"); const { start } = await import(${starter}); start("ingle", "${nodeVersion}")`;
    const result = await run(["-e", script], "--input-type=module");
    const sentence = `ingle needs Node 20.17 or newer; this is Node ${nodeVersion}.\n`;
    expect(result).toMatchObject({ code, err: code === 0 ? "" : sentence });
  });

  it("say that they are not built when dist is missing", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "ingle-bin-"));
    try {
      await cp(path.join(packageFolder, "bin"), path.join(folder, "bin"), { recursive: true });
      await cp(path.join(packageFolder, "package.json"), path.join(folder, "package.json"));
      const { code, err } = await run(["serve"], path.join(folder, "bin/ingle.js"));
      expect(code).toBe(1);
      expect(err).toBe("ingle is not built yet. Run `npx --yes pnpm@12 build` in the checkout first.\n");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe.runIf(process.platform === "linux")("ingle service as a process", () => {
  it("checks the flags of the server, writes the unit and removes it, where no systemd runs", async () => {
    const home = await mkdtemp(path.join(tmpdir(), "ingle-home-"));
    const env = { HOME: home, XDG_CONFIG_HOME: "", PATH: "" };
    const service = async (...args: string[]) => start(ingle, ["service", ...args], env).exit;
    try {
      expect(await service("install", "--prot", "1")).toMatchObject({
        code: 2,
        err: expect.stringContaining("unknown option '--prot'\n(Did you mean --port?)"),
      });
      const flags = ["--port", "0", "--model", "./a b.gguf"];
      for (const args of [flags, ["--", ...flags]]) {
        const { code, out } = await service("install", ...args);
        expect({ code, out }).toEqual({
          code: 0,
          out: expect.stringContaining("is not running for this user"),
        });
        const unit = await readFile(path.join(home, ".config/systemd/user/ingle.service"), "utf8");
        expect(unit).toContain('"serve" "--log-format" "json" "--port" "0" "--model" "./a b.gguf"\n');
      }
      expect((await service("remove")).code).toBe(0);
      expect((await service("status")).err).toContain("No service is installed");
    } finally {
      await rm(home, { recursive: true });
    }
  });
});

describe.skipIf(process.platform === "win32")("ingle run as a process", () => {
  it("exits quietly when its output is closed", async () => {
    const { child, exit, outHas } = start(scripted, ["run", "hi"], {
      SCRIPT: JSON.stringify({ pieces: ["a", "b", "c"], delayMs: 100 }),
    });
    await outHas("a");
    child.stdout.destroy();
    const { code, err } = await exit;
    expect(code).toBe(0);
    expect(err).not.toContain("EPIPE");
  });

  it.skipIf(process.platform !== "linux")(
    "says in a sentence that its answer cannot be written",
    async () => {
      const full = await open("/dev/full", "w");
      try {
        const child = spawn(process.execPath, [scripted, "run", "hi"], {
          stdio: ["ignore", full.fd, "pipe"],
          timeout: 20_000,
        });
        let err = "";
        child.stderr?.on("data", (chunk: Buffer) => (err += chunk.toString()));
        const code = await new Promise((resolve) => child.once("close", resolve));
        expect(err.split("\n").at(-2)).toMatch(/^ingle: .*no space left on device/);
        expect(err).not.toContain("    at ");
        expect(code).toBe(1);
      } finally {
        await full.close();
      }
    },
  );
});

describe.skipIf(process.platform === "win32")("ingle app as a process", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("serves its page until %s, and exits with 0", async (signal) => {
    const { child, exit, outHas } = start(scripted, ["app", "--port", "0", "--no-open"]);
    const address = /http:\S+/.exec(await outHas("token="))?.[0] ?? "";
    const page = await fetch(address, { redirect: "manual" });
    expect([page.status, page.headers.get("set-cookie")]).toEqual([303, expect.stringContaining("HttpOnly")]);
    child.kill(signal);
    const { code, err } = await exit;
    expect([code, err]).toEqual([0, expect.stringContaining("Stopped.")]);
  });
});

describe.skipIf(process.platform === "win32")("ingle serve as a process", () => {
  const env = { SCRIPT: JSON.stringify({ pieces: ["a", "b", "c", "d"], delayMs: 150 }) };

  /** A server with one streaming request. */
  async function streaming(variables: NodeJS.ProcessEnv = env) {
    const { child, exit, outHas } = start(scripted, ["serve", "--port", "0"], variables);
    const url = /http:\/\/\S+:\d+/.exec(await outHas("Ctrl-C"))?.[0] ?? "";
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        model: "tinyllama-1.1b-chat",
        stream: true,
        messages: [{ role: "user", content: "Hi" }],
      }),
    });
    return { child, exit, reply };
  }

  it.each(["SIGINT", "SIGTERM"] as const)(
    "finishes the running reply at %s and ends with 0",
    async (signal) => {
      const { child, exit, reply } = await streaming();
      child.kill(signal);
      expect(await reply.text()).toContain("data: [DONE]");
      const { code, err } = await exit;
      expect(code).toBe(0);
      expect(err).toContain("Stopping: 1 request is still running.");
    },
  );

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("stops at once at a second %s, with %i", async (signal, code) => {
    // Longer than a busy machine takes to deliver two signals.
    const pieces = Array.from({ length: 100 }, () => "a");
    const { child, exit, reply } = await streaming({ SCRIPT: JSON.stringify({ pieces, delayMs: 150 }) });
    child.kill(signal);
    await new Promise((resolve) => setTimeout(resolve, 200)); // two key presses, not copies of one
    child.kill(signal);
    await expect(reply.text()).rejects.toThrow();
    expect((await exit).code).toBe(code);
  });

  it("writes text to a file and JSON to a pipe, and never both", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "ingle-log-"));
    try {
      const file = path.join(folder, "log");
      await using log = await open(file, "w");
      const child = spawn(process.execPath, [scripted, "serve", "--port", "0"], {
        stdio: ["ignore", "pipe", log.fd],
        timeout: 20_000,
      });
      child.stdout?.once("data", () => child.kill("SIGTERM"));
      await once(child, "close");
      const text = await readFile(file, "utf8");
      expect(text).toContain("INFO: listening on http://");
      expect(text).not.toMatch(/^\{/m);
    } finally {
      await rm(folder, { recursive: true });
    }
    const { child, exit, outHas } = start(scripted, ["serve", "--port", "0"], env);
    await outHas("Ctrl-C");
    child.kill("SIGTERM");
    const lines = (await exit).err.trimEnd().split("\n");
    expect(lines.filter((line) => !line.startsWith('{"level":'))).toEqual([]);
  });

  it("continues when its log is closed", async () => {
    const { child, exit, reply } = await streaming();
    child.stderr.destroy();
    child.kill("SIGTERM");
    expect(await reply.text()).toContain("data: [DONE]");
    expect((await exit).code).toBe(0);
  });
});
