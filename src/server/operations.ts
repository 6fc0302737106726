// Services outside the API: health and reflection.
import type { DescService } from "@bufbuild/protobuf";
import { once } from "../base/lazy.ts";
import type { MethodTable } from "../pipeline/method.ts";
import type { Operation } from "../transport/connect/router.ts";
import type { HealthOptions } from "../transport/connect/streams/health.ts";

/** Returns the health and reflection services by name. Each is loaded by the first request for it. */
export function operations(
  methods: MethodTable,
  state: Omit<HealthOptions, "services">,
): Readonly<Record<string, Operation>> {
  const served = once((): DescService[] => [...new Set([...methods.values()].map((m) => m.descriptor.parent))]);
  const services = once(() => new Set(served().map((service) => service.typeName)));
  const health: Operation = async () => {
    const { addHealth } = await loadOperations();
    return (router) => addHealth(router, { ...state, services });
  };
  const reflection: Operation = async () => {
    const { addReflection } = await loadOperations();
    return (router) => addReflection(router, served());
  };
  return {
    "grpc.health.v1.Health": health,
    "grpc.reflection.v1.ServerReflection": reflection,
    "grpc.reflection.v1alpha.ServerReflection": reflection,
  };
}

function loadOperations() {
  return import("../transport/connect/streams/streams.ts");
}
