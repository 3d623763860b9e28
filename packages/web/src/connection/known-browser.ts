// How this browser comes back after a restart of the app: it has a private key, which no script can read out and no request carries, and
// the app has the public one. Browsers keep the key for this address alone: no page of another port or name can use it.
import type { Sessions } from "@ingle/client";
import type { Session } from "@ingle/protocol";
import { type DBSchema, type IDBPDatabase, openDB } from "idb";

interface KeySchema extends DBSchema {
  keys: { key: string; value: { id: string; browser: string; pair: CryptoKeyPair } };
}

const databaseName = "ingle-browser";
/** The only record. */
const ownId = "own";
const algorithm = { name: "ECDSA", namedCurve: "P-256" } as const;
const signing = { name: "ECDSA", hash: "SHA-256" } as const;

/** What the app expects to be signed; the protocol package has the same text. */
const returnText = (challenge: string) => `Ingle, let this browser return\n${location.origin}\n${challenge}`;

async function withKeys<Result>(work: (keys: IDBPDatabase<KeySchema>) => Promise<Result>): Promise<Result> {
  const keys = await openDB<KeySchema>(databaseName, 1, {
    upgrade: (database) => void database.createObjectStore("keys", { keyPath: "id" }),
  });
  try {
    return await work(keys);
  } finally {
    keys.close();
  }
}

/** Lets the app know this browser. With a key from before, only its time of use changes. */
export function rememberBrowser(sessions: Sessions): Promise<void> {
  return withKeys(async (keys) => {
    const pair = (await keys.get("keys", ownId))?.pair ?? (await newPair());
    const { x = "", y = "" } = await crypto.subtle.exportKey("jwk", pair.publicKey);
    const { browser } = await sessions.remember({ x, y });
    await keys.put("keys", { id: ownId, browser, pair });
  });
}

/** Removes the key here and at the app. */
export function forgetBrowser(sessions: Sessions): Promise<void> {
  return withKeys(async (keys) => {
    const known = await keys.get("keys", ownId);
    if (known === undefined) return;
    await sessions.forget(known.browser);
    await keys.delete("keys", ownId);
  });
}

/** Comes back with the key; undefined without one. Rejects with code `unauthorized` if the app does not know it. */
export async function comeBack(sessions: Sessions, signal?: AbortSignal): Promise<Session | undefined> {
  const known = await withKeys((keys) => keys.get("keys", ownId));
  if (known === undefined) return undefined;
  const { browser, pair } = known;
  const { challenge } = await sessions.challenge({ signal });
  const text = new TextEncoder().encode(returnText(challenge));
  const signature = toBase64Url(await crypto.subtle.sign(signing, pair.privateKey, text));
  return await sessions.comeBack({ browser, challenge, signature }, { signal });
}

async function newPair(): Promise<CryptoKeyPair> {
  const isExtractable = false; // of the private key; a public key always is
  return crypto.subtle.generateKey(algorithm, isExtractable, ["sign", "verify"]);
}

function toBase64Url(bytes: ArrayBuffer): string {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
