// The form of the server's settings: fills its fields, and validates them into a change. Pure.
import type { ServerSettings, ServerSettingsChange } from "@ingle/protocol";

/** The variants that a page can choose; the others belong to servers that no page controls. */
const chosenVariants = ["desktop", "developer"] as const;

/** The variants to offer, always including the current one. */
export function offeredVariants(current: ServerSettings["variant"]): ServerSettings["variant"][] {
  return [...new Set<ServerSettings["variant"]>([...chosenVariants, current])];
}

/** The fields as they are typed. Lists have one entry per line. */
export interface SettingsFields {
  variant: ServerSettings["variant"];
  host: string;
  port: string;
  allowHosts: string;
  allowOrigins: string;
  /** Empty leaves it to the engine. */
  parallel: string;
}

/** An invalid field; a key of `serverText.problem`. */
export type SettingsProblem = "port" | "host" | "allowHosts" | "allowOrigins" | "parallel";

type ReadSettings =
  | { ok: true; change: ServerSettingsChange }
  | { ok: false; problems: readonly SettingsProblem[] };

/** The server's bounds, checked here so that an invalid field is marked before it is sent. */
const portMax = 65_535;
const parallelMax = 256;
const namesMax = 64;

/** The default port of each variant. */
const defaultPort: Readonly<Partial<Record<ServerSettings["variant"], number>>> = {
  desktop: 1337,
  developer: 1234,
};

export function toFields(settings: ServerSettings): SettingsFields {
  return {
    variant: settings.variant,
    host: settings.host,
    port: String(settings.port),
    allowHosts: settings.allow_hosts.join("\n"),
    allowOrigins: settings.allow_origins.join("\n"),
    parallel: settings.parallel === null ? "" : String(settings.parallel),
  };
}

/** The fields after a change of the variant: the default port of the old variant becomes that of the new one. */
export function withVariant(fields: SettingsFields, variant: ServerSettings["variant"]): SettingsFields {
  const isDefault = fields.port.trim() === String(defaultPort[fields.variant]);
  return { ...fields, variant, port: isDefault ? String(defaultPort[variant]) : fields.port };
}

/** The settings as a change, or the invalid fields. */
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
  // Other variants appear only on pages without control, which cannot change anything.
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

/** Whether other machines can reach a server with these settings. */
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

/** A name or an address without a port, as in a Host header; IPv6 without brackets. */
function isHostName(name: string): boolean {
  return (
    /^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?$/.test(name) ||
    /^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$/.test(name)
  );
}

/** "https://chat.example", "chrome-extension://*", or "null" for a page with an opaque origin. */
function isOrigin(text: string): boolean {
  return text === "null" || /^[a-z][a-z0-9+.-]*:\/\/[^/\s?#]+$/i.test(text);
}
