// What is typed into the fields of the server's settings, as the change that it orders. Pure; the texts of what is wrong
// stand in strings/.
import type { ServerSettings, ServerSettingsChange } from "@ingle/protocol";

/** Variants that a page may choose; the others belong to a server that nobody controls by a page. */
const chosenVariants = ["desktop", "developer"] as const;

/** What the choice of a variant offers: the present one always. */
export function offeredVariants(present: ServerSettings["variant"]): ServerSettings["variant"][] {
  return [...new Set<ServerSettings["variant"]>([...chosenVariants, present])];
}

/** The fields as they are typed. Lists have a name a line. */
export interface SettingsFields {
  variant: ServerSettings["variant"];
  host: string;
  port: string;
  allowHosts: string;
  allowOrigins: string;
  /** Empty: the engine's choice. */
  parallel: string;
}

/** A field with something wrong in it; a key of the texts in strings/. */
export type SettingsProblem = "port" | "host" | "allowHosts" | "allowOrigins" | "parallel";

export type ReadSettings =
  | { ok: true; change: ServerSettingsChange }
  | { ok: false; problems: readonly SettingsProblem[] };

/** Bounds of the server's contract, so that a field is told wrong before it is sent. */
const portMax = 65_535;
const parallelMax = 256;
const namesMax = 64;

/** The ports at which a person expects each variant. */
const usualPort: Readonly<Partial<Record<ServerSettings["variant"], number>>> = {
  desktop: 1337,
  developer: 1234,
};

export function fieldsOf(settings: ServerSettings): SettingsFields {
  return {
    variant: settings.variant,
    host: settings.host,
    port: String(settings.port),
    allowHosts: settings.allow_hosts.join("\n"),
    allowOrigins: settings.allow_origins.join("\n"),
    parallel: settings.parallel === null ? "" : String(settings.parallel),
  };
}

/** The fields after another variant was chosen: a port that was the old variant's usual one becomes the new one's. */
export function withVariant(fields: SettingsFields, variant: ServerSettings["variant"]): SettingsFields {
  const isUsual = fields.port.trim() === String(usualPort[fields.variant]);
  return { ...fields, variant, port: isUsual ? String(usualPort[variant]) : fields.port };
}

/** The settings as a change, or every field that is wrong. */
export function readSettings(fields: SettingsFields): ReadSettings {
  const port = wholeNumber(fields.port, portMax);
  const parallel = fields.parallel.trim() === "" ? null : wholeNumber(fields.parallel, parallelMax);
  const host = fields.host.trim();
  const hosts = names(fields.allowHosts);
  const origins = names(fields.allowOrigins);
  const problems: SettingsProblem[] = [];
  if (port === undefined) problems.push("port");
  if (!/^[A-Za-z0-9.:[\]-]{1,255}$/.test(host)) problems.push("host");
  if (hosts.length > namesMax || !hosts.every(isHostName)) problems.push("allowHosts");
  if (origins.length > namesMax || !origins.every(isOrigin)) problems.push("allowOrigins");
  if (parallel === undefined) problems.push("parallel");
  if (problems.length > 0 || port === undefined || parallel === undefined) return { ok: false, problems };
  // Only a page without control is told of another variant, and it changes nothing.
  const variant = chosenVariants.find((name) => name === fields.variant);
  const change = {
    ...(variant === undefined ? {} : { variant }),
    host,
    port,
    allow_hosts: hosts,
    allow_origins: origins,
    parallel,
  };
  return { ok: true, change };
}

/** Whether these settings let other machines in. */
export function isOpenToOthers({ host }: Pick<ServerSettings, "host">): boolean {
  return !/^(127\.\d+\.\d+\.\d+|localhost|::1|\[::1\])$/i.test(host);
}

function names(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function wholeNumber(text: string, max: number): number | undefined {
  if (!/^\d{1,9}$/.test(text.trim())) return undefined;
  const number = Number.parseInt(text.trim(), 10);
  return number >= 1 && number <= max ? number : undefined;
}

/** A name or an address without a port, as it stands in a Host header; an address of IPv6 without brackets. */
function isHostName(name: string): boolean {
  return (
    /^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?$/.test(name) ||
    /^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$/.test(name)
  );
}

/** "https://chat.example", "chrome-extension://*", or "null" of a page without one. */
function isOrigin(text: string): boolean {
  return text === "null" || /^[a-z][a-z0-9+.-]*:\/\/[^/\s?#]+$/i.test(text);
}
