import { PingService as V1PingService } from "../../gen/chainguard/platform/ping/v1/ping_pb.ts";
import { PingService } from "../../gen/chainguard/platform/ping/v2beta1/ping_pb.ts";
import { passThrough, serve, type V1Implementation } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";

/** Serves ping in version 1. */
export function ping(api: CurrentApi): V1Implementation {
  return serve(V1PingService, { ping: passThrough(api, V1PingService.method.ping, PingService.method.ping) });
}
