// The hub's API: searching repositories, and one repository's files with their sizes and checksums. @huggingface/hub makes the
// requests; connections, retries and checks of the responses are ours.
import type { listFiles } from "@huggingface/hub";
import { z } from "zod";
import { EngineError } from "../../base/errors.ts";
import type { FileGroup, ListedFile } from "../gguf-files.ts";
import { retry, smallFailuresMax, TemporaryFailure, type Wait } from "../retry.ts";
import { responseError, type HubRequestInfo } from "./hub-failure.ts";
import { readDocument, type HttpResponse } from "../response.ts";
import type { HubHttp } from "./http.ts";

export interface HubFile extends ListedFile {
  /** Undefined for small files, which the hub stores in git. */
  sha256: string | undefined;
  /** Git's object id: a checksum of the files that the hub stores in git. */
  gitOid?: string | undefined;
}

/** A repository at one commit, so that files that are read later belong together. */
export interface HubRepository {
  repo: string;
  commit: string;
  /** Whether its terms must be accepted before files can be downloaded. */
  isGated: boolean;
  license: string | undefined;
  /** Whether it has the tag `mlx`. */
  isMlx: boolean;
  /** Whether its tags say that it is an adapter of another model. */
  isAdapter: boolean;
  files: HubFile[];
}

/** One model of a repository on the hub, chosen among all of it. */
export interface HubModel {
  repository: HubRepository;
  group: FileGroup<HubFile>;
}

export interface HubSearchResult {
  repo: string;
  downloads: number;
  likes: number;
  isGated: boolean;
}

interface HubCallOptions {
  wait?: Wait | undefined;
  signal?: AbortSignal | undefined;
}

/** The largest repositories of models have some hundred. */
const filesMax = 10_000;
const redirectsMax = 5;

/** A few old ids have no organization, but those repositories have no GGUF files. */
const repoId = z.string().regex(/^[A-Za-z0-9_][\w.-]{0,95}\/[A-Za-z0-9_][\w.-]{0,95}$/);
const SearchResult = z.object({
  name: repoId,
  downloads: z.number().catch(0),
  likes: z.number().catch(0),
  gated: z.unknown(),
});
const RepositoryInfo = z.object({
  name: repoId,
  sha: z.string().regex(/^[0-9a-f]{40,64}$/),
  gated: z.unknown(),
  tags: z.array(z.string()).catch([]),
});
const TreeEntry = z.object({
  type: z.string(),
  path: z.string().max(1024),
  size: z.number().nonnegative(),
  oid: z
    .string()
    .regex(/^[0-9a-f]{40}$/)
    .optional()
    .catch(undefined),
  lfs: z.object({ oid: z.string().regex(/^[0-9a-f]{64}$/), size: z.number().nonnegative() }).optional(),
});

/** GGUF repositories that match the words, most downloaded first. Throws `download_failed` or the signal's reason. */
export async function searchHub(
  http: HubHttp,
  words: string,
  { limit, ...options }: HubCallOptions & { limit: number },
): Promise<HubSearchResult[]> {
  const question = hubRequestInfo(http, `the search for "${words}"`);
  const { listModels } = await import("@huggingface/hub");
  return await ask(question, options, async () => {
    const found = listModels({
      search: { query: words, tags: ["gguf"] },
      sort: "downloads",
      limit,
      hubUrl: http.settings.endpoint,
      fetch: hubFetch(http, question, options.signal),
    });
    const results: HubSearchResult[] = [];
    for await (const item of found) {
      if (!repoId.safeParse(item.name).success) continue;
      const { name, downloads, likes, gated } = SearchResult.parse(item);
      results.push({ repo: name, downloads, likes, isGated: isTrue(gated) });
    }
    return results;
  });
}

/** Throws `model_not_found`, `download_failed` (with advice for 401 and 403) or the signal's reason. */
export async function readRepository(
  http: HubHttp,
  repo: string,
  options: HubCallOptions,
): Promise<HubRepository> {
  const question = hubRequestInfo(http, repo);
  const hub = await import("@huggingface/hub");
  const common = { hubUrl: http.settings.endpoint, fetch: hubFetch(http, question, options.signal) };
  const { name, sha, gated, tags } = await ask(question, options, async () =>
    RepositoryInfo.parse(await hub.modelInfo({ name: repo, additionalFields: ["sha", "tags"], ...common })),
  );
  const tree = { repo: { type: "model", name }, recursive: true, revision: sha, ...common } as const;
  const files = await ask(question, options, async () => await collectFiles(hub.listFiles(tree)));
  const licenses = tags.map((tag) => /^license:([\w.+-]{1,64})$/.exec(tag)?.[1]);
  const license = licenses.find((found) => found !== undefined);
  const isAdapter = tags.some((tag) => tag === "lora" || tag.startsWith("base_model:adapter:"));
  return {
    repo: name,
    commit: sha,
    isGated: isTrue(gated),
    license,
    isMlx: tags.includes("mlx"),
    isAdapter,
    files,
  };
}

/** The description of a request, for error messages. */
export function hubRequestInfo({ settings }: HubHttp, wanted: string): HubRequestInfo {
  return { endpoint: settings.endpoint, wanted, hasToken: settings.token !== undefined };
}

/** The target of a redirect; undefined for any other response. */
export function redirectTarget(response: HttpResponse, url: string): string | undefined {
  const location = response.header("location");
  const isRedirect = response.status >= 300 && response.status < 400 && location !== undefined;
  return isRedirect && URL.canParse(location, url) ? new URL(location, url).href : undefined;
}

export function notAHubError({ endpoint, wanted }: HubRequestInfo, cause?: unknown): EngineError {
  const advice = "Is it a sign-in page of the network, or is HF_ENDPOINT wrong?";
  const message = `${endpoint} does not respond like a model hub. ${advice}`;
  return new EngineError("download_failed", message, { cause, details: { endpoint, wanted } });
}

async function collectFiles(tree: ReturnType<typeof listFiles>): Promise<HubFile[]> {
  const files: HubFile[] = [];
  for await (const item of tree) {
    const { type, path, size, oid, lfs } = TreeEntry.parse(item);
    if (type !== "file" || !isPlainPath(path)) continue;
    if (files.length >= filesMax) throw new Error(`The repository has more than ${filesMax} files.`);
    files.push({ path, sizeBytes: lfs?.size ?? size, sha256: lfs?.oid, gitOid: oid });
  }
  return files;
}

/** Whether the path is a valid one below a folder on every system, and safe to print. Other files are ignored. */
function isPlainPath(path: string): boolean {
  return path
    .split("/")
    .every((part) => /^[^\p{Cc}\\:*?"<>|]+$/u.test(part) && part !== "." && part !== "..");
}

/** Retries temporary failures; a response of another shape is not from a hub. */
async function ask<T>(
  question: HubRequestInfo,
  { wait, signal }: HubCallOptions,
  task: () => Promise<T>,
): Promise<T> {
  const once = async (): Promise<T> => {
    try {
      return await task();
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof EngineError || error instanceof TemporaryFailure) throw error;
      throw notAHubError(question, error);
    }
  };
  return await retry(once, { failuresMax: smallFailuresMax, wait, signal });
}

/** A `fetch` for @huggingface/hub over our own connections. The responses are small and read completely. */
function hubFetch(http: HubHttp, question: HubRequestInfo, signal: AbortSignal | undefined): typeof fetch {
  return async (input) => {
    let url = input instanceof Request ? input.url : String(input);
    for (let hops = 0; hops <= redirectsMax; hops += 1) {
      const headers = { accept: "application/json", "accept-encoding": "identity" };
      using response = await http.request(url, { headers, question, signal });
      const next = redirectTarget(response, url);
      if (next === undefined) return await toResponse(response, question);
      url = next;
    }
    throw notAHubError(question);
  };
}

async function toResponse(response: HttpResponse, question: HubRequestInfo): Promise<Response> {
  if (response.status !== 200) throw responseError(response, question);
  const text = await readDocument(response.body);
  if (text === undefined) throw notAHubError(question);
  const link = response.header("link");
  const headers: Record<string, string> = link === undefined ? {} : { link };
  return new Response(text, { headers });
}

/** The hub sends `false`, `"auto"` or `"manual"`. */
function isTrue(gated: unknown): boolean {
  return gated !== undefined && gated !== null && gated !== false;
}
