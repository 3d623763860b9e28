// The client of the server that this page came from; the one way to it.
import { Ingle } from "@ingle/client";

/**
 * Nothing is tried again by itself: a person is told at once what failed, with a button to try again. A model with a damaged file
 * would otherwise be read three times before anything is said.
 */
export const client = new Ingle({ baseUrl: new URL(".", location.href).href, maxRetries: 0 });
