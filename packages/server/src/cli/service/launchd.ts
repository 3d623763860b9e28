// An agent of the user's launchd (launchd.plist(5)), which logs to a file.
import path from "node:path";
import { CliError } from "../errors.ts";
import type { Host, ServiceDefinition, ServiceManager } from "./service-manager.ts";

const label = "ingle.serve";

/** Seconds between two starts at least. */
const restartSeconds = 5;

type PlistValue = string | number | boolean | readonly string[] | { readonly [key: string]: PlistValue };

export function launchd({ home, uid }: Host): ServiceManager {
  const file = path.posix.join(home, "Library", "LaunchAgents", `${label}.plist`);
  const log = path.posix.join(home, "Library", "Logs", "ingle.log");
  const domain = `gui/${uid}`;
  const show = ["launchctl", "print", `${domain}/${label}`] as const;
  // bootout returns before running requests have ended, and bootstrap fails until then.
  const leave = [{ mayFail: ["launchctl", "bootout", `${domain}/${label}`] }, { untilFails: show }] as const;
  return {
    name: "launchd",
    file,
    log,
    text: (definition) => plistText(toAgent(definition, log)),
    probe: ["launchctl", "print", domain],
    start: [...leave, ["launchctl", "bootstrap", domain, file]],
    stop: leave,
    forget: [],
    status: show,
    // -F finds a log that is only written later, or replaced.
    logs: ({ lines, follow }) => ["tail", "-n", String(lines), ...(follow ? ["-F"] : []), log],
    note: "It stops when you log out.",
  };
}

function toAgent({ command, env, folder, stopSeconds }: ServiceDefinition, log: string) {
  return {
    Label: label,
    ProgramArguments: command,
    WorkingDirectory: folder,
    EnvironmentVariables: env,
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: restartSeconds,
    ExitTimeOut: stopSeconds,
    // Others are slowed down while they work in the background.
    ProcessType: "Interactive",
    StandardOutPath: "/dev/null",
    StandardErrorPath: log,
  };
}

function plistText(value: PlistValue): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by "ingle service install", which writes it again; "ingle service remove" removes it. -->
<plist version="1.0">
${toElement(value)}
</plist>
`;
}

function toElement(value: PlistValue): string {
  if (typeof value === "string") return `<string>${escaped(value)}</string>`;
  if (typeof value === "number") return `<integer>${value}</integer>`;
  if (typeof value === "boolean") return `<${value}/>`;
  if (isList(value)) return `<array>\n${value.map((each) => `${toElement(each)}\n`).join("")}</array>`;
  const entries = Object.entries(value).map(
    ([key, each]) => `<key>${escaped(key)}</key>${toElement(each)}\n`,
  );
  return `<dict>\n${entries.join("")}</dict>`;
}

function isList(value: PlistValue): value is readonly string[] {
  return Array.isArray(value);
}

function escaped(text: string): string {
  if (/[\p{Cc}\uFFFE\uFFFF]/u.test(text))
    throw new CliError(
      `A service file cannot contain this text: ${JSON.stringify(text)}. Leave its control characters out.`,
    );
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
