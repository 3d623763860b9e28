// German of what the models run on.
import type { Strings } from "./strings.ts";

export const machineDe: Strings["machine"] = {
  processor: "Prozessor",
  cores: (count) => (count === 1 ? "1 Kern" : `${count} Kerne`),
  memory: "Arbeitsspeicher",
  memoryFree: (free, total) => `${free} von ${total} frei`,
  models: "Ordner der Modelle",
  disk: "Festplatte",
  diskFree: (free) => `${free} frei, wo die Modelle liegen`,
  devices: "Grafikkarten",
  noDevices: "Keine Grafikkarte in Gebrauch: Modelle laufen auf dem Prozessor.",
  deviceKind: {
    cpu: "Prozessor",
    gpu: "Grafikkarte",
    integrated_gpu: "Eingebaute Grafik",
    accelerator: "Beschleuniger",
  },
  loaded: "Was Modelle belegen",
  noneLoaded: "Kein Modell ist geladen.",
  kvPerToken: (size) => `${size} für 1.000 Token KV-Cache`,
  budget: (used, budget) => `${used} von ${budget}, die Modelle belegen dürfen`,
  usedOnly: (used) => `${used} insgesamt`,
  versions: "Versionen",
  version: "Ingle",
  llamaCpp: "llama.cpp",
  unreachable: "Der Server sagt nicht, worauf er läuft.",
};
