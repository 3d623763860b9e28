// The model library of a server under /api/v1/models: finding, downloading, naming and removing models.
import { z } from "zod";

import { integerParameter, stringField } from "../fields/bounded-field.ts";
import { flag, optionalField } from "../fields/optional-field.ts";
import { modelField } from "../fields/request-fields.ts";

/** The most UTF-16 units of a search. */
export const searchLengthMax = 256;
/** The most repositories of one response. */
export const searchResultsMax = 100;
/** The most UTF-16 units of a repository's name: two parts of at most 96, and a slash. */
export const repoLengthMax = 193;
/** The most UTF-16 units of an alias. */
export const aliasLengthMax = 100;

/** The body of `POST /api/v1/models/pull`. With `stream: false`, the response is only the last event. */
export const PullRequest = z
  .looseObject({
    model: modelField,
    stream: flag("stream", { description: "Whether the response is a stream of events.", default: true }),
  })
  .meta({ id: "PullRequest" });
export type PullRequest = z.infer<typeof PullRequest>;

/** An event of a pull: its progress; `done`: the model is installed. */
export const PullEvent = z
  .object({
    status: z.enum(["waiting", "verify", "download", "unpack", "convert", "done"]).meta({
      description: "`waiting`: another process downloads it. `verify`: checks the bytes on the disk.",
    }),
    model: z.string().meta({ description: "The value for a request's `model`." }),
    bytes: z.int(),
    total_bytes: z.int(),
  })
  .meta({ id: "PullEvent" });
export type PullEvent = z.infer<typeof PullEvent>;

/** The query of `GET /api/v1/models/search`. */
export const SearchQuery = z.looseObject({
  q: stringField("q", { min: 1, max: searchLengthMax }),
  limit: optionalField(integerParameter("limit", { min: 1, max: searchResultsMax })),
});
export type SearchQuery = z.infer<typeof SearchQuery>;

/** A repository of the hub that has models. */
export const FoundRepository = z
  .object({
    repo: z.string().meta({ description: "For example org/name; a value for `pull`." }),
    downloads: z.int(),
    likes: z.int(),
    gated: z.boolean().meta({ description: "Its terms must first be accepted on its page." }),
  })
  .meta({ id: "FoundRepository" });
export type FoundRepository = z.infer<typeof FoundRepository>;

/** The response of `GET /api/v1/models/search`: most downloaded first. */
export const FoundRepositories = z
  .object({ object: z.literal("list"), data: z.array(FoundRepository) })
  .meta({ id: "FoundRepositories" });
export type FoundRepositories = z.infer<typeof FoundRepositories>;

/** The query of `GET /api/v1/models/describe`. */
export const DescribeQuery = z.looseObject({
  repo: stringField("repo", { min: 1, max: repoLengthMax }),
});
export type DescribeQuery = z.infer<typeof DescribeQuery>;

/** One model of a repository that can be pulled. */
export const OfferedModel = z
  .object({
    id: z.string().meta({ description: "A value for `pull`, and then for a request's `model`." }),
    quantization: z.string().nullable().meta({ description: "For example Q4_K_M." }),
    size_bytes: z.int().meta({ description: "Bytes of all files that `pull` downloads." }),
    projector: z.boolean().meta({ description: "Whether it comes with a projector for images." }),
    memory_bytes: z.int().meta({ description: "An estimate of its memory with default settings." }),
    fits: z.boolean().meta({ description: "Whether this machine has enough memory." }),
  })
  .meta({ id: "OfferedModel" });
export type OfferedModel = z.infer<typeof OfferedModel>;

/** The response of `GET /api/v1/models/describe`: the models of a repository, smallest first. */
export const OfferedRepository = z
  .object({
    repo: z.string(),
    license: z.string().nullable(),
    gated: z.boolean().meta({ description: "Its terms must first be accepted on its page." }),
    architecture: z.string().meta({ description: "For example lfm2." }),
    context_length: z
      .int()
      .nullable()
      .meta({ description: "The context length that its models were trained for." }),
    embeddings: z.boolean().meta({ description: "Its models compute embeddings and generate no text." }),
    models: z.array(OfferedModel),
  })
  .meta({ id: "OfferedRepository" });
export type OfferedRepository = z.infer<typeof OfferedRepository>;

/** The response of `GET /api/v1/models/recommended`: the model that is used if none is named. */
export const RecommendedModel = z
  .object({
    model: z.string().meta({ description: "A value for `pull` and `load`." }),
    installed: z.boolean().meta({ description: "Whether it is on this machine." }),
    size_bytes: z
      .int()
      .nullable()
      .meta({ description: "Bytes that `pull` would download; null if it is installed." }),
    license: z.string().nullable().meta({ description: "If it is known." }),
    reason: z.enum(["used_last", "added_last", "largest_that_fits", "starter"]).meta({
      description: "`starter`: a small model from the npm registry, if the hub offers none.",
    }),
    hub: z.enum(["asked", "not_asked", "offline", "silent", "refused", "no_memory"]).meta({
      description:
        "The hub's part: `not_asked` because it was not needed; `silent` for three seconds; `no_memory` for a better model.",
    }),
  })
  .meta({ id: "RecommendedModel" });
export type RecommendedModel = z.infer<typeof RecommendedModel>;

const aliasField = stringField("alias", { min: 1, max: aliasLengthMax }).meta({
  description: "Letters, digits, `.`, `_` and `-`.",
});

/** The body of `POST /api/v1/models/alias`. */
export const AliasRequest = z
  .looseObject({ model: modelField, alias: aliasField })
  .meta({ id: "AliasRequest" });
export type AliasRequest = z.infer<typeof AliasRequest>;

/** The body of `POST /api/v1/models/unalias`. */
export const UnaliasRequest = z.looseObject({ alias: aliasField }).meta({ id: "UnaliasRequest" });
export type UnaliasRequest = z.infer<typeof UnaliasRequest>;

/** The response of both: the model and all its aliases. */
export const ModelAliases = z
  .object({ id: z.string(), aliases: z.array(z.string()) })
  .meta({ id: "ModelAliases" });
export type ModelAliases = z.infer<typeof ModelAliases>;

/** The body of `POST /api/v1/models/remove`. */
export const RemoveRequest = z.looseObject({ model: modelField }).meta({ id: "RemoveRequest" });
export type RemoveRequest = z.infer<typeof RemoveRequest>;

/** The response of `POST /api/v1/models/remove`. */
export const RemovedModel = z
  .object({
    id: z.string(),
    removed: z.literal(true),
    freed_bytes: z.int().meta({ description: "0 if its files are outside the library, and stay." }),
  })
  .meta({ id: "RemovedModel" });
export type RemovedModel = z.infer<typeof RemovedModel>;
