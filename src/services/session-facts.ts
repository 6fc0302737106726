import { toTimestamp } from "../aip/timestamps.ts";
import type { RefreshFamilyRow } from "../storage/sign-in/sign-ins.ts";

/** Returns the fields that all messages about a session have. The digest of its token and the claims of its provider stay out. */
export function sessionFacts({ id, signIn, createTime, expireTime }: RefreshFamilyRow) {
  const { browser, client = {}, lastUseTime } = signIn;
  return {
    sessionId: id,
    browser: browser !== undefined,
    clientAddress: client.client ?? "",
    userAgent: client.userAgent ?? "",
    createTime: toTimestamp(createTime),
    expireTime: toTimestamp(expireTime),
    ...(lastUseTime !== undefined && { lastUseTime: toTimestamp(lastUseTime) }),
  };
}
