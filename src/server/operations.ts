// The services that are no part of the API, by name.
import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { loader, once } from "../base/lazy.ts";
import type { MethodTable } from "../pipeline/method.ts";
import type { HealthOptions } from "../services/operations/health.ts";

const load = loader(import.meta.url);

/** What adds each of them to the transport that serves it, when it is first asked for. */
export function operations(
  methods: MethodTable,
  state: Omit<HealthOptions, "services">,
): Readonly<Record<string, (router: ConnectRouter) => void>> {
  const served = once((): DescService[] => [...new Set([...methods.values()].map((m) => m.descriptor.parent))]);
  const services = once(() => new Set(served().map((service) => service.typeName)));
  const addReflection = (router: ConnectRouter) => loaded().addReflection(router, served());
  return {
    "grpc.health.v1.Health": (router) => loaded().addHealth(router, { ...state, services }),
    "grpc.reflection.v1.ServerReflection": addReflection,
    "grpc.reflection.v1alpha.ServerReflection": addReflection,
  };
}

function loaded(): typeof import("../services/operations/operations.ts") {
  return load("../services/operations/operations.ts");
}
