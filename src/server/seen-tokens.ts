// Records the shapes of the tokens that workloads present, in one place for all endpoints.
import type { Logger } from "pino";
import type { AccessLog } from "../access-log/access-log.ts";
import type { Config } from "../config/config.ts";
import type { AssumptionDeps } from "../sts/assumable-identity.ts";
import { formatShape } from "../sts/trust/token-shape.ts";

/** The dependencies of the recorder. */
export interface TokenRecorderOptions {
  readonly config: Pick<Config, "seenTokensKeptMs">;
  readonly accessLog: Pick<AccessLog, "recordToken">;
  readonly log: Pick<Logger, "warn">;
}

/**
 * Returns a function that records a token, or undefined if none are stored. It never throws: a failure must not change the verdict.
 */
export function tokenRecorder(
  { config, accessLog, log }: TokenRecorderOptions,
  isRegistry: boolean,
): AssumptionDeps["recordToken"] {
  if (config.seenTokensKeptMs === 0) return undefined;
  return ({ identityUid, match, claims, failedCheck }) => {
    try {
      accessLog.recordToken({ identityUid, shape: formatShape(match, claims), failedCheck, isRegistry });
    } catch (error) {
      log.warn({ err: error }, "a token could not be recorded");
    }
  };
}
