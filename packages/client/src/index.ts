// The exports that run in Node and in browsers.
export { bearerToken } from "./bearer.ts";
export type { ClientOptions, GatehouseClient } from "./client.ts";
export { type ErrorDetails, errorDetails, type FieldViolation, type PreconditionViolation } from "./errors.ts";
export {
  type ExchangeOptions,
  exchangedToken,
  type RefreshOptions,
  refreshedToken,
  type TokenOptions,
  type TokenServer,
  type Tokens,
} from "./exchange.ts";
export { type FetchDocument, type KeySupport, keySupportOf } from "./key-support.ts";
export { listAll } from "./pages.ts";
export {
  isIdempotent,
  keyedCalls,
  type RetryPolicy,
  repeatableCall,
  retryingCalls,
  takesKey,
} from "./retrying-calls.ts";
export { type Clock, cachedToken, type ExpiringToken, readToken, staticToken, type TokenSource } from "./tokens.ts";
export { type OpenWatch, type WatchOptions, watchChanges } from "./watch.ts";
