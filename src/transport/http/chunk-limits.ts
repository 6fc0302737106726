/** Limits on how finely a body may be divided into chunks (DATA frames, HTTP/1 chunks). */
export interface ChunkLimits {
  /** Chunks of one body that may be of any size. */
  readonly freeChunks: number;
  /** Bytes that the chunks beyond those must have on average. */
  readonly meanChunkBytes: number;
}

/** Whether the chunks of a body are so small that buffering them would take a hundred times its size in memory. */
export function hasTooSmallChunks(chunks: number, bytes: number, { freeChunks, meanChunkBytes }: ChunkLimits): boolean {
  return chunks > freeChunks && bytes < (chunks - freeChunks) * meanChunkBytes;
}
