// Passes the log of a worker on, a whole line at a time: lines of several processes on one pipe would interleave.
import type { Readable } from "node:stream";
import type { destination } from "pino";

/** The destination of log lines, as pino has it. */
export type LineOutput = Pick<ReturnType<typeof destination>, "write" | "on" | "off">;

/** The longest line that is kept whole, in characters. */
const maxLine = 1024 * 1024;

/** Copies a stream to the output by whole lines. Resolves at its end. */
export async function relayLines(input: Readable, output: LineOutput): Promise<void> {
  input.setEncoding("utf8");
  let rest = "";
  for await (const chunk of input as AsyncIterable<string>) {
    const end = chunk.lastIndexOf("\n") + 1;
    if (end === 0 && rest.length + chunk.length <= maxLine) {
      rest += chunk;
      continue;
    }
    const lines = rest + (end === 0 ? `${chunk}\n` : chunk.slice(0, end));
    rest = end === 0 ? "" : chunk.slice(end);
    // Without this, the lines for a slow reader of the log would fill the memory.
    if (output.write(lines) === false) await drained(output);
  }
  // A process that was killed may leave half a line.
  if (rest !== "") output.write(`${rest}\n`);
}

/** Resolves once the output has written its lines, or has failed. */
async function drained(output: LineOutput): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  for (const event of ["drain", "error"]) output.on(event, end);
  await promise;
  for (const event of ["drain", "error"]) output.off(event, end);
}
