import type { Change } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { shortUid } from "./uids.ts";

/** Returns how people call the resource of a change: its name, or what identifies it for them, or else its uid. */
export function nameInChange({ before, after, resourceUid }: Pick<Change, "before" | "after" | "resourceUid">): string {
  const { name, aliases, sink } = after ?? before ?? {};
  const alias = Array.isArray(aliases) ? aliases[0] : undefined;
  const found = [name, alias, sink].find((text) => typeof text === "string" && text !== "");
  return typeof found === "string" ? found : shortUid(resourceUid);
}
