// W3C Trace Context: https://www.w3.org/TR/trace-context/

/** The fields of a `traceparent` header that this server uses. */
export interface TraceParent {
  readonly traceId: string;
  /** Whether the caller records this trace. */
  readonly isSampled: boolean;
}

/** Reads a `traceparent` header; undefined if it is missing or malformed (§3.2.2). */
export function readTraceParent(header: string | undefined): TraceParent | undefined {
  const parts = header === undefined ? undefined : form.exec(header)?.groups;
  if (!parts) return undefined;
  const { version, traceId = "", parentId = "", flags = "", rest } = parts;
  // §3.2.2.1: version ff is invalid. Version 00 ends after the flags; later versions may continue.
  if (version === "ff" || (version === "00" && rest !== "")) return undefined;
  if (isZero(traceId) || isZero(parentId)) return undefined;
  // §3.2.2.5.1: the lowest bit of the flags.
  return { traceId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

const form =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<parentId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<rest>(?:-.*)?)$/;

// §3.2.2.3 and §3.2.2.4: an id of zeros is invalid.
function isZero(id: string): boolean {
  return /^0+$/.test(id);
}
