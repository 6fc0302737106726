// The lines of a large file, one at a time in memory.

/** A line without its line feed. */
export interface ByteLine {
  readonly bytes: Buffer;
  /** Its number, from 1. */
  readonly number: number;
  /** The offset of the line in the file. */
  readonly offset: number;
}

/**
 * Splits a file into lines; an empty one at the end does not count. Throws what `tooLong` returns for the number of a line of more than
 * `maxBytes`.
 */
export async function* byteLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLong: (number: number) => Error,
): AsyncGenerator<ByteLine> {
  let open: Buffer[] = [];
  let [size, offset, number] = [0, 0, 1];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
      const bytes = Buffer.concat([...open, chunk.subarray(start, end)]);
      yield { bytes, number, offset };
      number++;
      offset += bytes.length + 1;
      [open, size, start] = [[], 0, end + 1];
    }
    open.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > maxBytes) throw tooLong(number);
  }
  const bytes = Buffer.concat(open);
  if (bytes.length > 0) yield { bytes, number, offset };
}
