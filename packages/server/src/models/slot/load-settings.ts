// How a model is loaded, as far as a management request may choose it. The rest is as the server was started.
import type { KvBits, LoadRequest } from "@ingle/protocol";
import {
  devicesAgree,
  deviceSettingsOf,
  usualDeviceSettings,
  type DeviceSettings,
} from "./device-settings.ts";

/** Absent settings are not specified, or not known. */
export interface LoadSettings {
  /** Tokens that one request may hold. */
  contextLength?: number | undefined;
  /** Bits in which the KV cache stores keys, and values. */
  kvBitsK?: KvBits | undefined;
  kvBitsV?: KvBits | undefined;
  /** On which devices and processors it is computed, and how. */
  devices?: DeviceSettings | undefined;
}

/** The engine's default. */
const kvBitsDefault: KvBits = 16;

/** The settings of a request to load; undefined if it has none. */
export function settingsOf(request: LoadRequest): LoadSettings | undefined {
  const { context_length: contextLength, kv_bits, kv_bits_k = kv_bits, kv_bits_v = kv_bits } = request;
  const settings = {
    contextLength,
    kvBitsK: kv_bits_k,
    kvBitsV: kv_bits_v,
    devices: deviceSettingsOf(request),
  };
  return Object.values(settings).every((value) => value === undefined) ? undefined : settings;
}

/** The settings that a server was started with. */
export function usualSettings(
  engine: Omit<LoadSettings, "devices"> &
    Parameters<typeof usualDeviceSettings>[0] & { kvBits?: KvBits | undefined },
): LoadSettings {
  const { contextLength, kvBits = kvBitsDefault, kvBitsK = kvBits, kvBitsV = kvBits } = engine;
  return { contextLength, kvBitsK, kvBitsV, devices: usualDeviceSettings(engine) };
}

/** The requested settings, completed by the usual ones. */
export function settingsOver(requested: LoadSettings | undefined, usual: LoadSettings): LoadSettings {
  return {
    contextLength: requested?.contextLength ?? usual.contextLength,
    kvBitsK: requested?.kvBitsK ?? usual.kvBitsK,
    kvBitsV: requested?.kvBitsV ?? usual.kvBitsV,
    devices: bothOf(usual.devices, requested?.devices),
  };
}

function bothOf(
  usual: DeviceSettings | undefined,
  requested: DeviceSettings | undefined,
): DeviceSettings | undefined {
  return requested === undefined ? usual : { ...usual, ...requested };
}

/** Whether the present settings are those that are requested. */
export function agree(requested: LoadSettings, present: LoadSettings): boolean {
  const { contextLength, kvBitsK, kvBitsV } = settingsOver(requested, present);
  return (
    contextLength === present.contextLength &&
    kvBitsK === present.kvBitsK &&
    kvBitsV === present.kvBitsV &&
    devicesAgree(requested.devices ?? {}, present.devices ?? {})
  );
}
