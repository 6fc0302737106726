// The wait of a requester for the decision about an access request.
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { AccessRequestsService } from "../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { note } from "../shell.ts";
import { textAt } from "./json.ts";

/** The pause between two looks at the request, at first and at most, and how long the server may take to close it after its time. */
const pauses = { firstMs: 500, mostMs: 10_000, lateMs: 60_000 } as const;

/**
 * Returns a request once it is decided, or its time for decisions has passed. A server that does not respond for a moment is asked again.
 * Ctrl-C ends the program, and leaves the request as it is.
 */
export async function waitForDecision(session: Session, made: JsonObject): Promise<JsonObject> {
  note(session.shell, "Waiting. Ctrl-C ends the wait; the request stays.");
  const until = Date.parse(textAt(made, "decideBeforeTime")) + pauses.lateMs;
  let request = made;
  for (let pauseMs: number = pauses.firstMs; isPending(request) && Date.now() < until; ) {
    await sleep(pauseMs);
    pauseMs = Math.min(pauseMs * 1.5, pauses.mostMs);
    request = (await read(session, textAt(made, "uid"))) ?? request;
  }
  return request;
}

function isPending({ state }: JsonObject): boolean {
  return state === "ACCESS_REQUEST_STATE_PENDING";
}

/** Reads a request; undefined if the server does not respond at the moment. */
async function read(session: Session, uid: string): Promise<JsonObject | undefined> {
  try {
    return await session.call(AccessRequestsService.method.getAccessRequest, { uid });
  } catch (error) {
    if (error instanceof CommandFailure && error.status === "Unavailable") return undefined;
    throw error;
  }
}
