import type { JsonObject } from "@bufbuild/protobuf";
import { nameOrUid } from "../resources/access-lists.ts";

/** Returns the name of the identity or of the user of the registry that used an image; empty if it is unknown. */
export function actorOf({ identity, registryUser }: JsonObject): string {
  return identity === undefined ? String(registryUser ?? "") : nameOrUid(identity, "name", "uid");
}
