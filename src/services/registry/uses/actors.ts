// Shows who used an image, and how.
import { UseKind as ShownKind } from "../../../../gen/gatehouse/registry/v1/image_uses_pb.ts";
import { isUid } from "../../../model/uid.ts";
import { UseKind } from "../../../storage/registry/image-uses.ts";
import type { ShownIdentity } from "../../access/shown-identities.ts";

/** Returns the kind of a use, as responses have it. */
export function shownKind(kind: number): ShownKind {
  return kind === UseKind.pull ? ShownKind.PULL : ShownKind.CHECK;
}

/** Returns the actor of a use, as it is stored, as the fields of a response. */
export function actorOf(actor: string, identityOf: (uid: string) => ShownIdentity) {
  return {
    ...(isUid(actor) && { identity: identityOf(actor) }),
    registryUser: actor.startsWith("user:") ? actor.slice("user:".length) : "",
  };
}
