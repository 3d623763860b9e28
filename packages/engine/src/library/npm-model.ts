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
  /** Path inside the tarball, such as `package/model.part`. */
  file: string;
}

export interface NpmModel {
  /** The id under which the server offers it. */
  id: string;
  title: string;
  /** SPDX name of the weights' licence. */
  license: string;
  /** Tokens the model was trained for. */
  contextLength: number;
  /** Name of the finished file in the models folder. */
  fileName: string;
  sizeBytes: number;
  /** Hex digest of the finished file. */
  sha256: string;
  source: { scheme: "npm:"; parts: readonly NpmPart[] };
}
