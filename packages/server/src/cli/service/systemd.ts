// A service of the user's systemd (systemd.service(5), systemd.syntax(7)), which logs to the journal.
import path from "node:path";
import { CliError } from "../errors.ts";
import type { Host, ServiceDefinition, ServiceManager } from "./service-manager.ts";

const unit = "ingle.service";

/** Seconds before a failed service starts again. */
const restartSeconds = 5;
/** The exit code for wrong usage, such as a removed flag: another start would not help. */
const usageExitCode = 2;

export function systemd({ home, env }: Host): ServiceManager {
  const given = env["XDG_CONFIG_HOME"] ?? "";
  const config = path.isAbsolute(given) ? given : path.join(home, ".config");
  const user = (...args: string[]) => ["systemctl", "--user", ...args] as const;
  return {
    name: "systemd",
    file: path.join(config, "systemd", "user", unit),
    log: "the journal",
    text: unitText,
    probe: user("show-environment"),
    start: [user("daemon-reload"), user("enable", unit), user("restart", unit)],
    stop: [{ mayFail: user("disable", "--now", unit) }],
    forget: [user("daemon-reload")],
    status: user("--no-pager", "status", unit),
    logs: ({ lines, follow }) => [
      "journalctl",
      "--user",
      `--unit=${unit}`,
      "--output=cat",
      "--no-pager",
      `--lines=${lines}`,
      ...(follow ? ["--follow"] : []),
    ],
    note: "It stops when you log out; `loginctl enable-linger` keeps it running.",
  };
}

function unitText({ command, env, folder, stopSeconds }: ServiceDefinition): string {
  const variables = Object.entries(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}\n`);
  return `# Written by \`ingle service install\`, which writes it again; \`ingle service remove\` removes it.
[Unit]
Description=Ingle, a server for language models
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${command.map((word) => quoted(word).replaceAll("$", "$$$$")).join(" ")}
WorkingDirectory=-${literal(folder)}
${variables.join("")}StandardOutput=null
StandardError=journal
Restart=on-failure
RestartSec=${restartSeconds}
RestartPreventExitStatus=${usageExitCode}
KillMode=mixed
OOMPolicy=continue
TimeoutStopSec=${stopSeconds}
NoNewPrivileges=true

[Install]
WantedBy=default.target
`;
}

/** Quotes a text as one word. systemd reads escapes like C, and specifiers after a percent sign. */
function quoted(word: string): string {
  const escaped = word
    .replaceAll(/["\\]/g, String.raw`\$&`)
    .replaceAll(/\p{Cc}/gu, (character) => `\\u${toHex(character)}`);
  return `"${withoutSpecifiers(escaped)}"`;
}

function toHex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}

/** A path for a setting in which systemd reads neither quotes nor escapes. */
function literal(text: string): string {
  if (/\p{Cc}|^\s|\s$/u.test(text))
    throw new CliError(
      `A service file cannot contain the name of this folder: ${JSON.stringify(text)}. Use another one.`,
    );
  return withoutSpecifiers(text);
}

function withoutSpecifiers(text: string): string {
  return text.replaceAll("%", "%%");
}
