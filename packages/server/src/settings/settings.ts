// Every setting of the server: in the shape of its config, and in the sections of its help.
import {
  adapterSettings,
  engineSettings,
  imageSettings,
  limitSettings,
  memorySettings,
  speculationSettings,
  rpcSettings,
} from "./engine-settings.ts";
import { computeSettings, deviceSettings, positionSettings } from "./device-settings.ts";
import { samplingSettings, templateSettings } from "./sampling-settings.ts";
import {
  accessSettings,
  batchSettings,
  modelSettings,
  monitoringSettings,
  serverSettings,
  storeSettings,
} from "./server-settings.ts";
import type { FlagsOf, SettingsIn, SettingTable } from "./setting.ts";

export const settings = {
  ...modelSettings,
  ...serverSettings,
  ...accessSettings,
  ...monitoringSettings,
  engine: {
    ...engineSettings,
    ...deviceSettings,
    ...computeSettings,
    ...positionSettings,
    ...templateSettings,
    ...speculationSettings,
    ...imageSettings,
    ...adapterSettings,
    ...rpcSettings,
  },
  sampling: samplingSettings,
  models: memorySettings,
  responses: storeSettings,
  batches: batchSettings,
  limits: limitSettings,
};

export const settingSections: readonly (readonly [title: string, table: SettingTable])[] = [
  ["Model", modelSettings],
  ["Server", serverSettings],
  ["Access", accessSettings],
  ["Engine", engineSettings],
  ["Defaults of sampling", samplingSettings],
  ["Devices", deviceSettings],
  ["Computing", computeSettings],
  ["Positions", positionSettings],
  ["Chat template", templateSettings],
  ["Speculative decoding", speculationSettings],
  ["Images", imageSettings],
  ["Adapters", adapterSettings],
  ["Several machines", rpcSettings],
  ["Models in memory", memorySettings],
  ["Stored responses", storeSettings],
  ["Batches", batchSettings],
  ["Monitoring", monitoringSettings],
  ["Limits", limitSettings],
];

/** Settings by the names of their flags, such as `{ port: 8080, allowHost: ["models.example"] }`; absent means not set. */
export type ServerFlags = FlagsOf<SettingsIn<typeof settings>>;
