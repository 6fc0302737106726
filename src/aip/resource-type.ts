// AIP-123: the types of resources, as google.api.resource declares them.
import { type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { resource } from "../../gen/google/api/resource_pb.ts";

/** The type of a resource as errors name it, such as `iam.chainguard.dev/Group`. Throws for what is declared as none. */
export function resourceType(schema: DescMessage): string {
  if (!hasOption(schema, resource)) throw new Error(`${schema.typeName} is not declared as a resource`);
  return getOption(schema, resource).type;
}
