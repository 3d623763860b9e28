// The model library of a running server under /api/v1/models: looking for models, fetching, naming and removing them.
import { z } from "zod";
import { optionalField } from "./absent.ts";
import { flag, modelField } from "./request-fields.ts";

/** Most UTF-16 units of words to look for. */
export const searchLengthMax = 256;
/** Most repositories of one answer. */
export const searchResultsMax = 100;

/** Most UTF-16 units of a repository's name: both of its parts have at most 96, and the slash. */
export const repoLengthMax = 193;
/** Most UTF-16 units of a name that a user gives a model. */
export const aliasLengthMax = 100;

const wordsRule = `q must be a string of 1 to ${searchLengthMax} characters`;
const repoRule = `repo must be a string of 1 to ${repoLengthMax} characters`;
const aliasRule = `alias must be a string of 1 to ${aliasLengthMax} characters`;
const limitRule = `limit must be a whole number from 1 to ${searchResultsMax}`;

/** The body of `POST /api/v1/models/pull`. With `stream: false` the answer is the last event alone. */
export const PullRequest = z
  .looseObject({
    model: modelField,
    stream: flag("stream", { description: "Answer with events.", default: true }),
  })
  .meta({
    id: "PullRequest",
  });
export type PullRequest = z.infer<typeof PullRequest>;

/** An event of a pull: how far it is, and with `done` that the model is there. */
export const PullEvent = z
  .object({
    status: z.enum(["waiting", "verify", "download", "unpack", "convert", "done"]).meta({
      description: "`waiting`: another process fetches it. `verify`: bytes on the disk are read again.",
    }),
    model: z.string().meta({ description: "The id by which requests may name it." }),
    bytes: z.int(),
    total_bytes: z.int(),
  })
  .meta({ id: "PullEvent" });
export type PullEvent = z.infer<typeof PullEvent>;

/** The query of `GET /api/v1/models/search`. */
export const SearchQuery = z.looseObject({
  q: z.string(wordsRule).min(1, wordsRule).max(searchLengthMax, wordsRule),
  limit: optionalField(
    z.coerce.number(limitRule).int(limitRule).min(1, limitRule).max(searchResultsMax, limitRule),
  ),
});
export type SearchQuery = z.infer<typeof SearchQuery>;

/** A repository of the hub that holds models. */
export const FoundRepository = z
  .object({
    repo: z.string().meta({ description: "Such as org/name: what `pull` takes." }),
    downloads: z.int(),
    likes: z.int(),
    gated: z.boolean().meta({ description: "Its terms have to be accepted on its page first." }),
  })
  .meta({ id: "FoundRepository" });
export type FoundRepository = z.infer<typeof FoundRepository>;

/** The answer of `GET /api/v1/models/search`: the most downloaded first. */
export const FoundRepositories = z
  .object({ object: z.literal("list"), data: z.array(FoundRepository) })
  .meta({ id: "FoundRepositories" });
export type FoundRepositories = z.infer<typeof FoundRepositories>;

/** The query of `GET /api/v1/models/describe`. */
export const DescribeQuery = z.looseObject({
  repo: z.string(repoRule).min(1, repoRule).max(repoLengthMax, repoRule),
});
export type DescribeQuery = z.infer<typeof DescribeQuery>;

/** One model of a repository, as it could be pulled. */
export const OfferedModel = z
  .object({
    id: z.string().meta({ description: "What `pull` takes, and what requests may name then." }),
    quantization: z.string().nullable().meta({ description: "Such as Q4_K_M." }),
    size_bytes: z.int().meta({ description: "Of all files that `pull` fetches." }),
    projector: z.boolean().meta({ description: "A projector for images comes with it." }),
    memory_bytes: z.int().meta({ description: "What it will need with the usual settings: an estimate." }),
    fits: z.boolean().meta({ description: "Whether this machine has so much memory." }),
  })
  .meta({ id: "OfferedModel" });
export type OfferedModel = z.infer<typeof OfferedModel>;

/** The answer of `GET /api/v1/models/describe`: the models of a repository, the smallest first. */
export const OfferedRepository = z
  .object({
    repo: z.string(),
    license: z.string().nullable(),
    gated: z.boolean().meta({ description: "Its terms have to be accepted on its page first." }),
    architecture: z.string().meta({ description: "Such as lfm2." }),
    context_length: z.int().nullable().meta({ description: "Tokens that its models were trained for." }),
    embeddings: z.boolean().meta({ description: "Made for vectors of texts, and not for answers." }),
    models: z.array(OfferedModel),
  })
  .meta({ id: "OfferedRepository" });
export type OfferedRepository = z.infer<typeof OfferedRepository>;

/** The answer of `GET /api/v1/models/recommended`: the model that is taken where nobody named one. */
export const RecommendedModel = z
  .object({
    model: z.string().meta({ description: "What `pull` and `load` take." }),
    installed: z.boolean().meta({ description: "It is on this machine already." }),
    size_bytes: z.int().nullable().meta({ description: "That `pull` would fetch; null where nothing is." }),
    license: z.string().nullable().meta({ description: "As far as it is known." }),
    reason: z.enum(["used_last", "added_last", "largest_that_fits", "starter"]).meta({
      description: "`starter`: a small model of the npm registry, where the hub has none to give.",
    }),
    hub: z.enum(["asked", "not_asked", "offline", "silent", "refused", "no_memory"]).meta({
      description:
        "What the hub said: `silent` within three seconds, `no_memory` for a better one. `not_asked`: there was no need to.",
    }),
  })
  .meta({ id: "RecommendedModel" });
export type RecommendedModel = z.infer<typeof RecommendedModel>;

const aliasField = z
  .string(aliasRule)
  .min(1, aliasRule)
  .max(aliasLengthMax, aliasRule)
  .meta({ description: "Letters, digits, `.`, `_` and `-`." });

/** The body of `POST /api/v1/models/alias`. */
export const AliasRequest = z
  .looseObject({ model: modelField, alias: aliasField })
  .meta({ id: "AliasRequest" });
export type AliasRequest = z.infer<typeof AliasRequest>;

/** The body of `POST /api/v1/models/unalias`. */
export const UnaliasRequest = z.looseObject({ alias: aliasField }).meta({ id: "UnaliasRequest" });
export type UnaliasRequest = z.infer<typeof UnaliasRequest>;

/** The answer of both: the model that has the names, and all of them. */
export const ModelAliases = z
  .object({ id: z.string(), aliases: z.array(z.string()) })
  .meta({ id: "ModelAliases" });
export type ModelAliases = z.infer<typeof ModelAliases>;

/** The body of `POST /api/v1/models/remove`. */
export const RemoveRequest = z.looseObject({ model: modelField }).meta({ id: "RemoveRequest" });
export type RemoveRequest = z.infer<typeof RemoveRequest>;

/** The answer of `POST /api/v1/models/remove`. */
export const RemovedModel = z
  .object({
    id: z.string(),
    removed: z.literal(true),
    freed_bytes: z.int().meta({ description: "0 where its files are not ours and stay." }),
  })
  .meta({ id: "RemovedModel" });
export type RemovedModel = z.infer<typeof RemovedModel>;
