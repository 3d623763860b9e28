// The settings for loading a model that a management request may choose. All others are the server's.
import type { KvBits, LoadRequest } from "@ingle/protocol";
import { ownSettings, type OwnOptions, type StartedWith } from "../../settings/own-settings.ts";

/** Absent settings are not specified, or not known. */
export interface LoadSettings {
  /** Maximum number of tokens per request. */
  contextLength?: number | undefined;
  /** Bits per value with which the KV cache stores keys, and values. */
  kvBitsK?: KvBits | undefined;
  kvBitsV?: KvBits | undefined;
  /** A chat template in place of the model's own. */
  chatTemplate?: string | undefined;
  /** Defaults of the model's requests, by the names of their fields. The server's own are not among them. */
  sampling?: LoadRequest["sampling"];
  /** A smaller model, or a speculator, that drafts tokens. */
  draftModel?: string | undefined;
  /** The settings for devices and processors. */
  devices?: OwnOptions | undefined;
}

/** The engine's default. */
const kvBitsDefault: KvBits = 16;

/** Those for devices are looked up by their table. */
type LoadFields = Partial<
  Pick<LoadRequest, "context_length" | "kv_bits" | "kv_bits_k" | "kv_bits_v" | "chat_template" | "sampling">
> & { readonly [field: string]: unknown };

/** The settings of a load request; undefined if it has none. */
export function toLoadSettings(request: LoadFields): LoadSettings | undefined {
  const { context_length: contextLength, kv_bits, kv_bits_k = kv_bits, kv_bits_v = kv_bits } = request;
  const settings = {
    contextLength,
    kvBitsK: kv_bits_k,
    kvBitsV: kv_bits_v,
    chatTemplate: request.chat_template,
    sampling: request.sampling,
    devices: toDeviceSettings(request),
  };
  return Object.values(settings).every((value) => value === undefined) ? undefined : settings;
}

/** The settings with which a server was started. */
export function usualSettings(
  engine: Omit<LoadSettings, "devices" | "sampling"> & StartedWith & { kvBits?: KvBits | undefined },
): LoadSettings {
  const { contextLength, kvBits = kvBitsDefault, kvBitsK = kvBits, kvBitsV = kvBits, chatTemplate } = engine;
  const { draftModel } = engine;
  return { contextLength, kvBitsK, kvBitsV, chatTemplate, draftModel, devices: usualDeviceSettings(engine) };
}

/** The requested settings, with the usual ones for the rest. */
export function settingsOver(requested: LoadSettings | undefined, usual: LoadSettings): LoadSettings {
  return {
    contextLength: requested?.contextLength ?? usual.contextLength,
    kvBitsK: requested?.kvBitsK ?? usual.kvBitsK,
    kvBitsV: requested?.kvBitsV ?? usual.kvBitsV,
    chatTemplate: requested?.chatTemplate ?? usual.chatTemplate,
    sampling: requested?.sampling ?? usual.sampling,
    draftModel: requested?.draftModel ?? usual.draftModel,
    devices: mergeDevices(usual.devices, requested?.devices),
  };
}

function mergeDevices(
  usual: OwnOptions | undefined,
  requested: OwnOptions | undefined,
): OwnOptions | undefined {
  return requested === undefined ? usual : { ...usual, ...requested };
}

/** Whether the current settings are the requested ones. */
export function agree(requested: LoadSettings, present: LoadSettings): boolean {
  const wanted = settingsOver(requested, present);
  const { contextLength, kvBitsK, kvBitsV, chatTemplate, sampling } = wanted;
  return (
    wanted.draftModel === present.draftModel &&
    contextLength === present.contextLength &&
    kvBitsK === present.kvBitsK &&
    kvBitsV === present.kvBitsV &&
    chatTemplate === present.chatTemplate &&
    // Without absent fields, and both in the order of their schema.
    JSON.stringify(sampling) === JSON.stringify(present.sampling) &&
    devicesAgree(requested.devices ?? {}, present.devices ?? {})
  );
}

/** The settings of a request for devices and processors, by the names of the engine's options; undefined if it has none. */
function toDeviceSettings(request: object): OwnOptions | undefined {
  const settings = ownSettings.map(({ field, option }) => [option, Reflect.get(request, field)] as const);
  return givenIn(settings);
}

/** These settings as given when the server was started, if any. */
function usualDeviceSettings(engine: StartedWith): OwnOptions | undefined {
  const settings = ownSettings.map(({ name, option, isOpposite }) => {
    const value: unknown = Reflect.get(engine, name);
    return [option, isOpposite && typeof value === "boolean" ? !value : value] as const;
  });
  return givenIn(settings);
}

function givenIn(settings: readonly (readonly [option: string, value: unknown])[]): OwnOptions | undefined {
  const given = settings.filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** Whether every requested setting has its current value. */
function devicesAgree(requested: OwnOptions, present: OwnOptions): boolean {
  return Object.entries(requested).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify(Reflect.get(present, name)),
  );
}

/** The settings that management requests have chosen for a model, for its next load and later ones. */
export class RequestedSettings {
  #current: LoadSettings | undefined;
  /** The settings of the last successful load. */
  #proven: LoadSettings | undefined;
  readonly #onDrop: () => void;

  constructor(onDrop: () => void) {
    this.#onDrop = onDrop;
  }

  /** Undefined: as usual. */
  get current(): LoadSettings | undefined {
    return this.#current;
  }

  /** Sets them for the next load. */
  request(settings: LoadSettings): void {
    this.#current = settings;
  }

  /** The load succeeded. */
  prove(): void {
    this.#proven = this.#current;
  }

  /** The load failed or was abandoned, or the model was freed: returns to the settings of the last successful load. */
  giveUp(): void {
    this.#current = this.#proven;
  }

  /** Returns to the usual settings. */
  drop(): void {
    if (this.#current === undefined) return;
    this.#current = undefined;
    this.#proven = undefined;
    this.#onDrop();
  }
}
