// What an order to load a model may say of how it is loaded; what it does not say is as the server was told. Used by
// model-slot.ts, by those who make models for the registry, and by routes/control.ts.
import type { KvBits, LoadRequest } from "@ingle/protocol";

/** What is absent was not said, or is not known. */
export interface LoadSettings {
  /** Tokens that one request may hold. */
  contextLength?: number | undefined;
  /** Bits in which the KV cache stores keys, and values. */
  kvBitsK?: KvBits | undefined;
  kvBitsV?: KvBits | undefined;
}

/** The engine's own, where nobody says another. */
const kvBitsDefault: KvBits = 16;

/** Those that an order has; undefined where it has none. */
export function settingsOf(order: LoadRequest): LoadSettings | undefined {
  const { context_length: contextLength, kv_bits, kv_bits_k = kv_bits, kv_bits_v = kv_bits } = order;
  if (contextLength === undefined && kv_bits_k === undefined && kv_bits_v === undefined) return undefined;
  return { contextLength, kvBitsK: kv_bits_k, kvBitsV: kv_bits_v };
}

/** Those that a server was started with. */
export function usualSettings(engine: LoadSettings & { kvBits?: KvBits | undefined }): LoadSettings {
  const { contextLength, kvBits = kvBitsDefault, kvBitsK = kvBits, kvBitsV = kvBits } = engine;
  return { contextLength, kvBitsK, kvBitsV };
}

/** What is said, and what is usual where nothing is. */
export function settingsOver(said: LoadSettings | undefined, usual: LoadSettings): LoadSettings {
  return {
    contextLength: said?.contextLength ?? usual.contextLength,
    kvBitsK: said?.kvBitsK ?? usual.kvBitsK,
    kvBitsV: said?.kvBitsV ?? usual.kvBitsV,
  };
}

/** Whether all that is said is so. */
export function agree(said: LoadSettings, present: LoadSettings): boolean {
  const { contextLength, kvBitsK, kvBitsV } = settingsOver(said, present);
  return (
    contextLength === present.contextLength && kvBitsK === present.kvBitsK && kvBitsV === present.kvBitsV
  );
}
