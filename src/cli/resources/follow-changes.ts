// `gatehouse changes follow`: prints the changes of a stream, and continues when it ends.
import { once } from "node:events";
import { fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import type { Command } from "commander";
import type { WatchChangesResponse } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { openSession } from "../client/session.ts";
import { jsonText } from "../escape.ts";
import { note, type Shell } from "../shell.ts";
import { type FollowOptions, readFilter } from "./change-filter.ts";

/** How many streams may fail in a row: a server that restarts is back within these 15 seconds. */
const retries = 4;

/** Prints each change as a line of JSON. When it fails, says how to continue. */
export async function followChanges(shell: Shell, command: Command, options: FollowOptions): Promise<void> {
  let after = options.after ?? "";
  const { watchChanges } = await import("../../../packages/client/src/watch.ts");
  const { ChangeSchema } = await import("../../../gen/gatehouse/changes/v1/changes_pb.ts");
  const filter = await filterOf(shell, command, options);
  try {
    const open = (from: string, signal: AbortSignal) => openStream(shell, command, { ...filter, after: from }, signal);
    for await (const { changes, resumeAfter } of watchChanges(open, { after, retries })) {
      for (const change of changes) await writeLine(shell, jsonText(toJson(ChangeSchema, change)));
      after = resumeAfter;
    }
  } catch (error) {
    if (after !== "") note(shell, `To continue from here: --after ${after}`);
    throw await failureOf(shell, command, error);
  }
}

async function filterOf(shell: Shell, command: Command, options: FollowOptions): Promise<JsonObject> {
  using session = await openSession(shell, command);
  return await readFilter(session, options);
}

/** Each stream has a session of its own, which finds the token again: it may have been renewed. */
async function* openStream(
  shell: Shell,
  command: Command,
  request: JsonObject,
  signal: AbortSignal,
): AsyncGenerator<WatchChangesResponse> {
  using session = await openSession(shell, command);
  const { ChangesService, WatchChangesRequestSchema } = await import("../../../gen/gatehouse/changes/v1/changes_pb.ts");
  const client = await session.client(ChangesService);
  yield* client.watchChanges(fromJson(WatchChangesRequestSchema, request), { signal, timeoutMs: 0 });
}

/** Adds the remedy to the error of a stream. */
async function failureOf(shell: Shell, command: Command, error: unknown): Promise<unknown> {
  using session = await openSession(shell, command);
  const { toFailure } = await import("../client/rpc-failure.ts");
  return toFailure(error, session);
}

/** Waits for slow readers: the log may be larger than memory. */
async function writeLine({ stdout }: Shell, line: string): Promise<void> {
  if (!stdout.write(`${line}\n`)) await once(stdout, "drain");
}
