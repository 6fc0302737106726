// Logs failures to read from a registry. Only unexpected ones have a stack trace.
import { OutboundError } from "../outbound/error.ts";
import { ContentError, MissingManifest } from "./image.ts";
import type { RegistryEvent } from "./notification.ts";

/** The log of these failures. */
export interface UnreadLog {
  info(about: object, message: string): void;
  warn(about: object, message: string): void;
}

/** Logs why something about an event could not be read from the registry. */
export function logUnread(
  log: UnreadLog,
  error: unknown,
  { repository, tag, digest }: Pick<RegistryEvent, "repository" | "tag" | "digest">,
  message: string,
): void {
  const about = { repository, ...(tag !== "" && { tag }), ...(digest !== "" && { digest }) };
  if (error instanceof MissingManifest) log.info(about, "a manifest was deleted before it was read");
  else if (error instanceof ContentError || error instanceof OutboundError)
    log.warn({ ...about, reason: expectedReason(error) }, message);
  else log.warn({ ...about, err: error }, message);
}

function expectedReason({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
