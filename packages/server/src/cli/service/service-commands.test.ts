import { spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { parse as parsePlist } from "plist";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testWorld, type TestWorld } from "../../../test/cli-context.ts";
import { launchd } from "./launchd.ts";
import { installService, removeService, serviceLogs, serviceStatus } from "./service-commands.ts";
import { thisHost, type Host, type ServiceDefinition } from "./service-manager.ts";
import { systemd } from "./systemd.ts";

const ingle = fileURLToPath(new URL("../../../bin/ingle.js", import.meta.url));

/** Where there is neither a shell for the programs that the tests fake, nor permissions of files. */
const isWindows = process.platform === "win32";

/** Its own parser is the best judge of a unit; not every machine has it. */
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).error === undefined;

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-service-"));
});
afterEach(async () => {
  await rm(home, { recursive: true });
});

function hostOn(platform: NodeJS.Platform, env: NodeJS.ProcessEnv = {}): Host {
  return { ...thisHost(env), platform, home, uid: 501, script: ingle };
}

/** A world with no other programs than these, which record how they are called. They fail as `failing` says, and print `prints`. */
async function makeWorld(
  programs: readonly string[],
  {
    failing = "",
    prints = "",
    env = {},
  }: { failing?: string; prints?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<TestWorld & { calls(): Promise<string[]> }> {
  const bin = path.join(home, "bin");
  const record = path.join(home, "calls");
  await mkdir(bin, { recursive: true });
  await writeFile(record, "");
  for (const program of programs) {
    const file = path.join(bin, program);
    const script = `echo "${program} $*" >> '${record}'\nprintf '%s' '${prints}'\n`;
    await writeFile(
      file,
      `#!/bin/sh\n${script}case "$*" in ${failing === "" ? "''" : failing}) exit 4;; esac\n`,
    );
    await chmod(file, 0o755);
  }
  const calls = async (): Promise<string[]> => (await readFile(record, "utf8")).trimEnd().split("\n");
  return { ...testWorld({ env: { PATH: bin, ...env } }), calls };
}

/** The words of systemd's syntax, as systemd.syntax(7) describes them: quotes, escapes, then specifiers. */
function parseWords(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map(([, quoted = ""]) =>
    quoted
      .replaceAll(/\\(?:u([0-9a-f]{4})|(.))/g, (_all, hex: string | undefined, character: string) =>
        hex === undefined ? character : String.fromCharCode(Number.parseInt(hex, 16)),
      )
      .replaceAll("%%", "%"),
  );
}

function readLine(text: string, key: string): string {
  const line = text.split("\n").find((each) => each.startsWith(`${key}=`));
  return line?.slice(key.length + 1) ?? "";
}

const word = fc.string({ unit: "binary", minLength: 1 }).filter((text) => !text.includes("\0"));
const printable = word.filter((text) => !/[\p{Cc}\uFFFE\uFFFF]/u.test(text));

describe.skipIf(isWindows)("the unit of systemd", () => {
  const { text } = systemd({ ...hostOn("linux"), home: "/home/mia" });

  it("runs exactly the given words, whatever they contain", () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (command) => {
        const unit = text({ command, env: {}, folder: "/", stopSeconds: 45 });
        const read = parseWords(readLine(unit, "ExecStart")).map((each) => each.replaceAll("$$", "$"));
        expect(read).toEqual(command);
      }),
    );
  });

  it("sets exactly the given variables", () => {
    fc.assert(
      fc.property(word, (value) => {
        const unit = text({ command: ["/node"], env: { INGLE_HOME: value }, folder: "/", stopSeconds: 45 });
        expect(parseWords(readLine(unit, "Environment"))).toEqual([`INGLE_HOME=${value}`]);
      }),
    );
  });

  it("refuses a folder that its line cannot hold", () => {
    const definition = { command: ["/node"], env: {}, folder: "/a\nExecStartPre=/evil", stopSeconds: 45 };
    expect(() => text(definition)).toThrow("A service file cannot contain");
  });

  it.runIf(hasSystemd)("is one that systemd accepts", async () => {
    const file = path.join(home, "ingle.service");
    const command = [process.execPath, ingle, "serve", "--model", `it's "my" $HOME; 100% \\ model`, ";"];
    await writeFile(file, text({ command, env: { INGLE_HOME: "/a b%" }, folder: "/tmp", stopSeconds: 45 }));
    const env = { ...process.env, XDG_RUNTIME_DIR: home };
    const args = ["--user", "verify", file];
    expect(spawnSync("systemd-analyze", args, { env, encoding: "utf8", timeout: 20_000 })).toMatchObject({
      status: 0,
      stderr: "",
    });
  });
});

describe.skipIf(isWindows)("the agent of launchd", () => {
  const { text, log } = launchd({ ...hostOn("darwin"), home: "/Users/mia" });

  it("holds exactly the given words and variables", () => {
    fc.assert(
      fc.property(fc.array(printable, { minLength: 1 }), printable, (command, value) => {
        const definition: ServiceDefinition = {
          command,
          env: { HF_TOKEN: value },
          folder: "/a & b",
          stopSeconds: 45,
        };
        expect(parsePlist(text(definition))).toEqual({
          Label: "ingle.serve",
          ProgramArguments: command,
          WorkingDirectory: "/a & b",
          EnvironmentVariables: { HF_TOKEN: value },
          RunAtLoad: true,
          KeepAlive: { SuccessfulExit: false },
          ThrottleInterval: 5,
          ExitTimeOut: 45,
          ProcessType: "Interactive",
          StandardOutPath: "/dev/null",
          StandardErrorPath: log,
        });
      }),
    );
  });

  it("refuses control characters, which XML cannot hold", () => {
    const definition = { command: ["/node", "a\u0007b"], env: {}, folder: "/", stopSeconds: 45 };
    expect(() => text(definition)).toThrow("control characters");
  });
});

describe.skipIf(isWindows)("ingle service install", () => {
  it("writes the unit for its user alone, with the shell's variables, and starts it", async () => {
    const env = { INGLE_HOME: "/models here", HF_TOKEN: "hf_secret", EDITOR: "vi", HOST: "mars" };
    const world = await makeWorld(["systemctl"], { env });
    const args = ["--port", "1234", "--drain-timeout", "1m"];
    const flags = { port: 1234, drainTimeout: "1m" };
    expect(await installService({ args, flags }, world.context, hostOn("linux"))).toBe(0);
    const file = path.join(home, ".config/systemd/user/ingle.service");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const unit = await readFile(file, "utf8");
    expect(parseWords(readLine(unit, "ExecStart")).slice(1)).toEqual([
      ingle,
      "serve",
      "--log-format",
      "json",
      ...args,
    ]);
    expect(unit.match(/^Environment=.*$/gm)).toEqual([
      'Environment="INGLE_HOME=/models here"',
      'Environment="HF_TOKEN=hf_secret"',
    ]);
    expect(readLine(unit, "TimeoutStopSec")).toBe("75");
    expect(readLine(unit, "Restart")).toBe("on-failure");
    expect((await world.calls()).slice(1)).toEqual([
      "systemctl --user daemon-reload",
      "systemctl --user enable ingle.service",
      "systemctl --user restart ingle.service",
    ]);
    expect(world.out()).toContain(
      `Wrote ${file}.\nIt contains these variables of this shell: INGLE_HOME, HF_TOKEN.\n`,
    );
    expect(world.out()).toContain("It serves http://127.0.0.1:1234 once");
    expect(world.out()).toContain("loginctl enable-linger");
    expect(world.out()).not.toContain("hf_secret");
  });

  it("writes it below XDG_CONFIG_HOME, and says what starts it where systemd does not run", async () => {
    const config = path.join(home, "config");
    const world = await makeWorld(["systemctl"], {
      failing: "*show-environment",
      env: { XDG_CONFIG_HOME: config },
    });
    const host = hostOn("linux", world.context.env);
    expect(await installService({ args: [], flags: {} }, world.context, host)).toBe(0);
    await stat(path.join(config, "systemd/user/ingle.service"));
    expect(await world.calls()).toEqual(["systemctl --user show-environment"]);
    expect(world.out()).toContain(
      "systemd is not running for this user. Where it runs, start the service with\n  systemctl --user daemon-reload\n",
    );
  });

  it("writes an agent on macOS and replaces one that runs", async () => {
    const world = await makeWorld(["launchctl"], { failing: "bootout*|*/ingle.serve" });
    expect(
      await installService(
        { args: ["--ctx", "2048"], flags: { ctx: 2048 } },
        world.context,
        hostOn("darwin"),
      ),
    ).toBe(0);
    const file = path.join(home, "Library/LaunchAgents/ingle.serve.plist");
    const { ProgramArguments } = parsePlist(await readFile(file, "utf8")) as { ProgramArguments: string[] };
    expect(ProgramArguments.slice(1)).toEqual([ingle, "serve", "--log-format", "json", "--ctx", "2048"]);
    expect(await world.calls()).toEqual([
      "launchctl print gui/501",
      "launchctl bootout gui/501/ingle.serve",
      "launchctl print gui/501/ingle.serve",
      `launchctl bootstrap gui/501 ${file}`,
    ]);
  });

  it("keeps the log format that was asked for", async () => {
    const world = await makeWorld([]);
    const args = ["--log-format", "text"];
    await installService({ args, flags: { logFormat: "text" } }, world.context, hostOn("linux"));
    const unit = await readFile(path.join(home, ".config/systemd/user/ingle.service"), "utf8");
    expect(parseWords(readLine(unit, "ExecStart")).slice(2)).toEqual(["serve", ...args]);
  });

  it.each([
    ["an open server", { host: "0.0.0.0" }, "--host binds to 0.0.0.0"],
    ["a wrong value", { port: 70_000 }, "--port must be at most 65535"],
  ])("writes nothing for %s", async (_what, flags, sentence) => {
    const world = await makeWorld(["systemctl"]);
    await expect(installService({ args: [], flags }, world.context, hostOn("linux"))).rejects.toThrow(
      sentence,
    );
    await expect(stat(path.join(home, ".config"))).rejects.toThrow("ENOENT");
  });

  it("passes on why the manager refused", async () => {
    const world = await makeWorld(["systemctl"], { failing: "*restart*", prints: "Unit is masked." });
    await expect(installService({ args: [], flags: {} }, world.context, hostOn("linux"))).rejects.toThrow(
      "`systemctl --user restart ingle.service` failed with 4: Unit is masked.",
    );
  });

  it("refuses to run from the cache of npx", async () => {
    const script = path.join(home, "_npx/1f/node_modules/ingle/bin/ingle.js");
    await mkdir(path.dirname(script), { recursive: true });
    await writeFile(script, "");
    await writeFile(path.join(script, "../../package.json"), '{ "name": "ingle" }');
    const world = await makeWorld([]);
    await expect(
      installService({ args: [], flags: {} }, world.context, { ...hostOn("linux"), script }),
    ).rejects.toThrow(
      "cache of npx, which may be emptied at any time. Install it (`npm install --global ingle`)",
    );
  });

  it("says on Windows which command starts Ingle at each login", async () => {
    const world = await makeWorld([]);
    const host = { ...hostOn("win32"), node: "C:\\Program Files\\node.exe", script: "C:\\ingle.js" };
    await expect(installService({ args: ["--port", "1"], flags: {} }, world.context, host)).rejects.toThrow(
      String.raw`/TR "\"C:\Program Files\node.exe\" \"C:\ingle.js\" \"serve\" \"--port\" \"1\""`,
    );
  });
});

describe.skipIf(isWindows)("an installed service", () => {
  const install = async (world: TestWorld, platform: NodeJS.Platform): Promise<Host> => {
    await installService({ args: [], flags: {} }, world.context, hostOn(platform));
    return hostOn(platform);
  };

  it("is removed with its file, after it was stopped", async () => {
    const world = await makeWorld(["systemctl"]);
    const host = await install(world, "linux");
    expect(await removeService(world.context, host)).toBe(0);
    await expect(stat(systemd(host).file)).rejects.toThrow("ENOENT");
    expect((await world.calls()).slice(-2)).toEqual([
      "systemctl --user disable --now ingle.service",
      "systemctl --user daemon-reload",
    ]);
    await expect(removeService(world.context, host)).rejects.toThrow("No service is installed");
  });

  it("has the status that its manager prints, and an exit code for scripts", async () => {
    const world = await makeWorld(["systemctl"], { prints: "Active: active (running)", failing: "*never*" });
    const host = await install(world, "linux");
    expect(await serviceStatus(world.context, host)).toBe(0);
    expect(world.out()).toContain("Active: active (running)\n");
    const stopped = await makeWorld(["systemctl"], { prints: "Active: inactive", failing: "*status*" });
    expect(await serviceStatus(stopped.context, host)).toBe(1);
  });

  it.each(["linux", "darwin"] as const)("has a log, readable or as it is, on %s", async (platform) => {
    const line = '{"level":30,"time":0,"pid":1,"hostname":"mars","msg":"ready","model":"tiny"}';
    const world = await makeWorld(["systemctl", "launchctl", "journalctl", "tail"], {
      prints: line,
      failing: "*/ingle.serve",
    });
    const host = await install(world, platform);
    expect(await serviceLogs({ lines: 5, follow: true }, world.context, host)).toBe(0);
    expect(world.out()).toMatch(/INFO: ready .*"model":"tiny"/);
    const log = path.join(home, "Library/Logs/ingle.log");
    const call =
      platform === "linux"
        ? "journalctl --user --unit=ingle.service --output=cat --no-pager --lines=5 --follow"
        : `tail -n 5 -F ${log}`;
    expect((await world.calls()).at(-1)).toBe(call);
    await serviceLogs({ json: true }, world.context, host);
    expect(world.out()).toContain(`${line}\n`);
  });
});
