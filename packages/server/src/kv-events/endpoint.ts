// Addresses as ZeroMQ writes them: `tcp://*:5557`. Used by config.ts.
import { isIP } from "node:net";
import { z } from "zod";

/** Where a socket listens. */
export interface TcpEndpoint {
  host: string;
  /** 0 takes any free one. */
  port: number;
}

const form = /^tcp:\/\/(?<host>\*|\[[0-9a-f:.]+\]|[a-z0-9_.-]+):(?<port>\d{1,5})$/i;
const what = 'must be an address to listen on, such as "tcp://*:5557" or "tcp://127.0.0.1:5557"';

/** Text to `{ host, port }`; `*` is every address of the machine. */
export const ListenEndpoint = z.string().transform((text, context): TcpEndpoint => {
  const { host = "", port: digits = "" } = form.exec(text)?.groups ?? {};
  const port = Number(digits);
  const bare = host.replace(/^\[|\]$/g, "");
  if (host === "" || port > 65_535 || (host !== bare && isIP(bare) !== 6)) {
    context.addIssue({ code: "custom", message: what });
    return z.NEVER;
  }
  return { host: bare === "*" ? "0.0.0.0" : bare, port };
});
