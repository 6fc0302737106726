import type { AnyDesc, DescFile } from "@bufbuild/protobuf";

/** A declaration that can have a comment. */
export type Commented = Exclude<AnyDesc, DescFile>;

/** Returns the full name of a declaration, under which its comment is stored. */
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
