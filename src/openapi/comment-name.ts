import type { AnyDesc, DescFile } from "@bufbuild/protobuf";

/** What can have a comment. */
export type Commented = Exclude<AnyDesc, DescFile>;

/** The name that a comment is kept under: the full name, that of the type first for what belongs to one. */
export function commentName(desc: Commented): string {
  switch (desc.kind) {
    case "field":
    case "rpc":
    case "enum_value":
    case "oneof":
      return `${desc.parent.typeName}.${desc.name}`;
    default:
      return desc.typeName;
  }
}
