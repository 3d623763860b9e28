// The client of the server that this page came from; the one way to it.
import { Ingle } from "@ingle/client";

export const client = new Ingle({ baseUrl: new URL(".", location.href).href });
