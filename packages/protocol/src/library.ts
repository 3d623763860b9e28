// The model library of a running server under /api/v1/models: looking for models, fetching and removing them.
import { z } from "zod";
import { optionalField } from "./absent.ts";
import { flag, modelField } from "./request-fields.ts";

/** Most UTF-16 units of words to look for. */
export const searchLengthMax = 256;
/** Most repositories of one answer. */
export const searchResultsMax = 100;

const wordsRule = `q must be a string of 1 to ${searchLengthMax} characters`;
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
