// The client for the server that this page came from, and the rights of this page there.
import { ApiError, Ingle } from "@ingle/client";
import type { Session } from "@ingle/protocol";
import { computed, signal } from "@preact/signals";

/** Without retries: the page reports a failure at once, with a button to try again. */
export const client = new Ingle({ baseUrl: new URL(".", location.href).href, maxRetries: 0 });

/** `null` until the server has reported it. */
export const session = signal<Session | null>(null);

/** Whether this page may load models and change the server. */
export const canManage = computed(() => session.value?.right === "management");

/** Reads the session again; after a restart, the server may have other keys. */
export async function refreshSession(options: { signal?: AbortSignal } = {}): Promise<void> {
  session.value = await client.session.get(options);
}

/** Begins a session with an API key. Resolves with false if the server does not know the key. */
export async function signIn(key: string): Promise<boolean> {
  try {
    session.value = await client.session.begin(key);
    return true;
  } catch (error) {
    if (ApiError.is(error) && error.code === "unauthorized") return false;
    throw error;
  }
}
