import { PingService as V1PingService } from "../../gen/chainguard/platform/ping/v1/ping_pb.ts";
import { PingService } from "../../gen/chainguard/platform/ping/v2beta1/ping_pb.ts";
import { same, serve, type V1Implementation } from "./adapter.ts";
import type { Today } from "./current-api.ts";

/** Answers whoever wants to know that the service is reachable. */
export function ping(today: Today): V1Implementation {
  return serve(V1PingService, { ping: same(today, V1PingService.method.ping, PingService.method.ping) });
}
