// AIP-123: the types of resources, from the annotation google.api.resource.
import { type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { resource } from "../../gen/google/api/resource_pb.ts";

/** Returns the type of a resource as in errors, such as `iam.chainguard.dev/Group`. Throws if it declares none. */
export function resourceType(schema: DescMessage): string {
  if (!hasOption(schema, resource)) throw new Error(`${schema.typeName} is not declared as a resource`);
  return getOption(schema, resource).type;
}
