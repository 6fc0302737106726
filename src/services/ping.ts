import { PingService } from "../../gen/chainguard/platform/ping/v2beta1/ping_pb.ts";
import { type Implementation, implement } from "../pipeline/handlers.ts";

/** Serves ping, which checks that the service is reachable. */
export function ping(): Implementation {
  return implement(PingService, { ping: () => ({ response: "pong" }) });
}
