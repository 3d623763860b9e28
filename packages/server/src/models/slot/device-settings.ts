// The settings for devices and processors that a model is loaded with, by the names of the engine's options.
import type { LoadRequest } from "@ingle/protocol";
import { ownSettings, type OwnOptions, type StartedWith } from "../../settings/own-settings.ts";

/** The settings of a request; undefined if it has none. */
export function deviceSettingsOf(request: LoadRequest): OwnOptions | undefined {
  const settings = ownSettings.map(({ field, option }) => [option, Reflect.get(request, field)] as const);
  return givenIn(settings);
}

/** These settings as given when the server was started, if any. */
export function usualDeviceSettings(engine: StartedWith): OwnOptions | undefined {
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
export function devicesAgree(requested: OwnOptions, present: OwnOptions): boolean {
  return Object.entries(requested).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify(Reflect.get(present, name)),
  );
}
