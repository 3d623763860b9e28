// What this page may do at its server, and how it comes to more.
import { ApiError } from "@ingle/client";
import type { Session } from "@ingle/protocol";
import { computed, signal } from "@preact/signals";

import { client } from "./client.ts";

/** `null` until the server has said so. */
export const session = signal<Session | null>(null);

/** Whether models may be loaded and the server be changed. */
export const canManage = computed(() => session.value?.right === "management");

/** Asks the server anew, such as after it was gone: another one may be there now. */
export async function refreshSession(options: { signal?: AbortSignal } = {}): Promise<void> {
  session.value = await client.session.get(options);
}

/** Gives a key. Resolves with false when the server does not know it. */
export async function giveKey(key: string): Promise<boolean> {
  try {
    session.value = await client.session.begin(key);
    return true;
  } catch (error) {
    if (ApiError.is(error) && error.code === "unauthorized") return false;
    throw error;
  }
}
