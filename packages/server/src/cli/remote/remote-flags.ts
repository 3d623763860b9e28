// The flags of the commands that talk to a running server.
import type { Flag, FlagsOf } from "../../settings/setting.ts";
import { settings } from "../../settings/settings.ts";

/** The same flag, of which the server that runs knows the default. */
const ofServer = <F extends Flag>({ flag, kind, help }: F): Pick<F, "flag" | "kind" | "help"> & Flag => ({
  flag,
  kind,
  help,
  defaultText: "the server's setting",
});

export const remoteFlags = [
  {
    flag: "--url <url>",
    variables: ["INGLE_URL"],
    kind: "text",
    defaultText: "a server of yours, else http://127.0.0.1:1337",
    help: "Address of the server",
  },
  {
    flag: "--api-key <key>",
    variables: ["INGLE_ADMIN_KEYS", "INGLE_API_KEYS"],
    kind: "text",
    defaultText: "the token of a server of yours",
    help: "One of the server's keys",
    details: "The first key of a variable is used.",
  },
] as const satisfies readonly Flag[];
export type RemoteFlags = FlagsOf<(typeof remoteFlags)[number]>;

export const psFlags = [
  { flag: "--all", kind: "toggle", help: "Also list models that could be loaded" },
  {
    flag: "--json",
    kind: "toggle",
    help: "Print JSON",
    details: "The entries are those of the [management API](http-api.md#managing-models).",
  },
] as const satisfies readonly Flag[];
export type PsFlags = FlagsOf<(typeof psFlags)[number] | (typeof remoteFlags)[number]>;

const { contextLength, kvBits, kvBitsK, kvBitsV } = settings.engine;
export const loadFlags = [
  ofServer(contextLength),
  ofServer(kvBits),
  ofServer(kvBitsK),
  ofServer(kvBitsV),
] as const;
export type LoadFlags = FlagsOf<(typeof loadFlags)[number] | (typeof remoteFlags)[number]>;
