// /v1/files: the inputs and outputs of batches.
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import {
  DeletedFile,
  fileBytesMax,
  FileList,
  FileObject,
  filesPageMax,
  FilesQuery,
  FileUpload,
} from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { receiveFileForm } from "../../../bodies/form-file.ts";
import { addRoute, type Route } from "../../../http/add-route.ts";
import { toList } from "./list.ts";
import type { OpenBatches } from "./server-batches.ts";

const ofFiles = {
  right: "inference",
  namesNoModel: true,
  errors: ["not_enabled", "disk_full"],
} as const satisfies Partial<Route>;
const ofFile = {
  ...ofFiles,
  errors: [...ofFiles.errors, "not_found"],
  id: "The id of a file.",
} as const satisfies Partial<Route>;

const upload = {
  path: "POST /v1/files",
  ...ofFiles,
  body: FileUpload,
  bodyType: "multipart/form-data",
  summary: "Upload the requests of a batch",
  description: "The body is a form with a file of JSON Lines.",
  responses: { 200: FileObject },
} satisfies Route;
const list = {
  path: "GET /v1/files",
  ...ofFiles,
  query: FilesQuery,
  summary: "The files of this key",
  responses: { 200: FileList },
} satisfies Route;
const retrieve = {
  path: "GET /v1/files/:id",
  ...ofFile,
  summary: "A file, without its content",
  responses: { 200: FileObject },
} satisfies Route;
const content = {
  path: "GET /v1/files/:id/content",
  ...ofFile,
  summary: "The content of a file",
  responses: { 200: "text/plain" },
} satisfies Route;
const remove = {
  path: "DELETE /v1/files/:id",
  ...ofFile,
  summary: "Delete a file that no running batch reads",
  responses: { 200: DeletedFile },
} satisfies Route;

/** A plugin of its own, because files are received here only: elsewhere, a body is JSON. */
export async function fileRoutes(app: FastifyInstance, { open }: { open: OpenBatches }): Promise<void> {
  app.addContentTypeParser("multipart/form-data", async (request: FastifyRequest, payload: Readable) => {
    const { files } = await open();
    files.assertHasRoom(request.owner); // before the file is sent
    const form = { path: files.newPath(), bytesMax: fileBytesMax, schema: FileUpload };
    return await receiveFileForm(request, payload, form);
  });

  addRoute(app, upload, async (request) => {
    const { files } = await open();
    return await files.add(request.body.file, request.owner);
  });

  addRoute(app, list, async (request): Promise<FileList> => {
    const { files } = await open();
    const { limit = filesPageMax, order = "desc", after, purpose } = request.query;
    return toList(files.list(request.owner, { limit, after, purpose, isNewestFirst: order === "desc" }));
  });

  addRoute(app, retrieve, async (request) => {
    const { files } = await open();
    return files.find(request.params.id, request.owner);
  });

  addRoute(app, content, async (request, reply) => {
    const { files } = await open();
    const { id, bytes } = files.find(request.params.id, request.owner);
    return reply
      .headers({
        "content-type": "text/plain; charset=utf-8",
        "content-length": bytes,
        "content-disposition": `attachment; filename="${id}.jsonl"`,
        "x-content-type-options": "nosniff",
      })
      .send(createReadStream(files.pathOf(id)));
  });

  addRoute(app, remove, async (request): Promise<DeletedFile> => {
    const { files } = await open();
    const { id } = request.params;
    await files.delete(id, request.owner);
    return { id, object: "file", deleted: true };
  });
}
