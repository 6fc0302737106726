// The services with streams in both directions or without a token: health and reflection. Loaded on first use.
import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../../../../gen/google/rpc/error_details_pb.ts";
import { ServerReflection as ReflectionV1 } from "../../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ReflectionV1Alpha } from "../../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { Health } from "../../../../gen/health/v1/health_pb.ts";
import { type HealthOptions, health } from "./health.ts";

import { reflection } from "./reflection.ts";

/** Adds health of these services. */
export function addHealth(router: ConnectRouter, options: HealthOptions): void {
  router.service(Health, health(options));
}

/** Adds reflection of these services, of health and of reflection itself. */
export function addReflection(router: ConnectRouter, services: readonly DescService[]): void {
  const reflect = reflection([...services, Health, ReflectionV1, ReflectionV1Alpha], [file_google_rpc_error_details]);
  router.service(ReflectionV1, { serverReflectionInfo: reflect });
  router.service(ReflectionV1Alpha, { serverReflectionInfo: reflect as never });
}
