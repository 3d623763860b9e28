// Files of /v1/files: the inputs of batches, and their outputs.
import { z } from "zod";

import {
  integerParameter,
  optionalField,
  refusedField,
  responseObject,
  stringField,
} from "../fields/field.ts";
import { bodyRule } from "../fields/request-fields.ts";
import { storedIdLengthMax } from "../responses/request.ts";

/** Maximum size of a file in bytes, as in OpenAI's API. */
export const fileBytesMax = 200 * 1024 * 1024;
/** Maximum number of files that one key keeps, outputs of batches included. */
export const filesMax = 1_000;
/** Maximum length of a file's name, in UTF-16 units: a longer name is cut. */
export const fileNameLengthMax = 255;
/** Maximum and default number of files per page, as in OpenAI's API. */
export const filesPageMax = 10_000;

/** `batch` is an input, `batch_output` what a batch has written. */
export const FilePurpose = z.enum(["batch", "batch_output"]).meta({ id: "FilePurpose" });
export type FilePurpose = z.infer<typeof FilePurpose>;

export const FileObject = responseObject("FileObject", {
  id: z.string().describe("file-…"),
  object: z.literal("file"),
  bytes: z.int(),
  created_at: z.int().describe("Unix seconds."),
  filename: z.string(),
  purpose: FilePurpose,
  status: z.literal("processed"),
});
export type FileObject = z.infer<typeof FileObject>;

/** A page of files. */
export const FileList = responseObject("FileList", {
  object: z.literal("list"),
  data: z.array(FileObject),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean().describe("Whether there are more in the requested order."),
});
export type FileList = z.infer<typeof FileList>;

export const DeletedFile = responseObject("DeletedFile", {
  id: z.string(),
  object: z.literal("file"),
  deleted: z.literal(true),
});
export type DeletedFile = z.infer<typeof DeletedFile>;

/** Which page of files to return. */
export const FilesQuery = z.looseObject({
  limit: optionalField(
    integerParameter("limit", { min: 1, max: filesPageMax }),
    "Maximum number of files per page.",
    filesPageMax,
  ),
  order: optionalField(
    z.enum(["asc", "desc"], 'order must be "asc" or "desc"'),
    "desc begins with the newest file.",
    "desc",
  ),
  after: optionalField(
    stringField("after", { max: storedIdLengthMax }),
    "The id of a file: the page begins after it.",
  ),
  purpose: optionalField(stringField("purpose", { max: 64 }), "Only files of this purpose."),
});
export type FilesQuery = z.infer<typeof FilesQuery>;

/** A file of a form, which was written to disk while it arrived. */
export interface ReceivedFile {
  /** Where it lies. */
  readonly path: string;
  /** The client's name for it. */
  readonly name: string;
  readonly bytes: number;
}

const fileRule = "file must be a file, sent as a part with a file name of a multipart/form-data body";
const purposeRule = "purpose must be batch: this server keeps files only for batches";

/** The body of `POST /v1/files`, sent as `multipart/form-data`. */
export const FileUpload = z
  .looseObject(
    {
      file: z
        .custom<ReceivedFile>((part) => typeof part === "object" && part !== null && "path" in part, fileRule)
        .meta({
          type: "string",
          format: "binary",
          description: "The requests of a batch: JSON Lines, one request on each line.",
        }),
      purpose: z.literal("batch", purposeRule),
      expires_after: refusedField("files are kept until they are deleted"),
    },
    bodyRule,
  )
  .meta({ id: "FileUpload" });
export type FileUpload = z.infer<typeof FileUpload>;
