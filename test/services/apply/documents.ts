import type { JsonObject } from "@bufbuild/protobuf";
import { stringify } from "yaml";

/** Returns resources as a file for `gatehouse apply` has them. */
export function documentsOf(resources: readonly JsonObject[]): string {
  const documents = resources.flatMap((each) =>
    Object.entries(each).map(([field, fields]) => ({
      kind: `${field.charAt(0).toUpperCase()}${field.slice(1)}`,
      ...(fields as JsonObject),
    })),
  );
  return documents.map((each) => stringify(each)).join("---\n");
}
