// W3C Trace Context: https://www.w3.org/TR/trace-context/

/** Returns the trace id of a `traceparent` header; undefined if it is missing or malformed (§3.2.2). */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  const [, version, traceId, parentId, rest] = traceparent === undefined ? [] : (form.exec(traceparent) ?? []);
  // §3.2.2.1: version ff is invalid. Version 00 ends after the flags; later versions may continue.
  if (version === "ff" || (version === "00" && rest !== "")) return undefined;
  return isZero(traceId) || isZero(parentId) ? undefined : traceId;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}((?:-.*)?)$/;

// §3.2.2.3 and §3.2.2.4: an id of zeros is invalid.
function isZero(id: string | undefined): boolean {
  return id !== undefined && /^0+$/.test(id);
}
