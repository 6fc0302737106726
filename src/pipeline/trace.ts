// W3C Trace Context (https://www.w3.org/TR/trace-context/): the trace that a request belongs to.

/** The trace id of a `traceparent` header; undefined when there is none or it is malformed (§3.2.2). */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  const [, version, traceId, parentId, rest] = traceparent === undefined ? [] : (form.exec(traceparent) ?? []);
  // §3.2.2.1: version ff is invalid. Version 00 ends after the flags; later ones may go on.
  if (version === "ff" || (version === "00" && rest !== "")) return undefined;
  return isZero(traceId) || isZero(parentId) ? undefined : traceId;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}((?:-.*)?)$/;

// §3.2.2.3 and §3.2.2.4: all zeros stand for no id.
function isZero(id: string | undefined): boolean {
  return id !== undefined && /^0+$/.test(id);
}
