// Makes small, complete GGUF files with meaningless weights. Unlike the tiny models of the fixtures, they need no tokenizer.

export interface FakeGgufOptions {
  architecture?: string;
  /** `general.name`. */
  name?: string;
  /** llama.cpp's number of the quantization. Default 15, Q4_K_M. */
  fileType?: number;
  contextLength?: number;
  /** KV heads of each layer: a convolution has none. Default 2 layers of 8. */
  kvHeads?: number[];
  /** The pooling type of an embedding model. Default: none. */
  poolingType?: number;
  /** Bytes after the header, different for each number. Default 64. */
  dataBytes?: number;
  seed?: number;
}

/** A header with everything that the library reads, and one tensor of bytes. */
export function fakeGguf(options: FakeGgufOptions = {}): Buffer {
  const {
    architecture = "lfm2",
    name = "fake",
    fileType = 15,
    contextLength = 128_000,
    kvHeads = [8, 8],
    poolingType,
    dataBytes = 64,
    seed = 1,
  } = options;
  const keys = [
    key("general.architecture", string(architecture)),
    key("general.name", string(name)),
    key("general.file_type", uint32(fileType)),
    key(`${architecture}.context_length`, uint32(contextLength)),
    key(`${architecture}.block_count`, uint32(kvHeads.length)),
    key(`${architecture}.embedding_length`, uint32(2048)),
    key(`${architecture}.attention.head_count`, uint32(32)),
    key(
      `${architecture}.attention.head_count_kv`,
      Buffer.concat([number32(9), number32(5), number64(kvHeads.length), ...kvHeads.map(number32)]),
    ),
    ...(poolingType === undefined ? [] : [key(`${architecture}.pooling_type`, uint32(poolingType))]),
    key("tokenizer.ggml.model", string("gpt2")),
  ];
  const tensor = Buffer.concat([text("data"), number32(1), number64(dataBytes), number32(24), number64(0)]);
  const start = Buffer.concat([
    Buffer.from("GGUF"),
    number32(3),
    number64(1),
    number64(keys.length),
    ...keys,
    tensor,
  ]);
  const padding = Buffer.alloc((32 - (start.length % 32)) % 32);
  const data = Buffer.alloc(dataBytes);
  for (let at = 0; at < dataBytes; at += 1) data[at] = (at * 31 + (at >> 8) * 7 + seed * 101) % 256;
  return Buffer.concat([start, padding, data]);
}

const key = (name: string, value: Buffer): Buffer => Buffer.concat([text(name), value]);
const string = (value: string): Buffer => Buffer.concat([number32(8), text(value)]);
const uint32 = (value: number): Buffer => Buffer.concat([number32(4), number32(value)]);

function text(value: string): Buffer {
  return Buffer.concat([number64(Buffer.byteLength(value)), Buffer.from(value)]);
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function number64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
