// Version 2 as its clients know it.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { aliasMethods } from "../../src/v2/alias.ts";
import { methodOf } from "../transport/rest/methods.ts";
import { services } from "./api-clients.ts";

const later = aliasMethods(
  new Map(
    services
      .flatMap((service): readonly { readonly methodKind: string }[] => service.methods)
      .map((descriptor) => methodOf(descriptor as DescMethodUnary))
      .map((method) => [method.path, method]),
  ),
);

/** Returns the method of v2 for one of v2beta1; any other stays what it is. */
export function asV2(method: DescMethodUnary): DescMethodUnary {
  const path = `/${method.parent.typeName}/${method.name}`.replace(".v2beta1.", ".v2.");
  for (const { methods } of later) {
    const found = methods().get(path);
    if (found) return found.descriptor;
  }
  return method;
}
