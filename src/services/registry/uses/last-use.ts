// Says who used an image last.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { LastImageUseSchema } from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { hourMs } from "../../../base/clock.ts";
import { isUid, parentOf } from "../../../model/uid.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { listUses } from "../../../storage/registry/use-queries.ts";
import { identityShower } from "../../access/shown-identities.ts";
import { actorOf, shownKind } from "./actors.ts";

/** Returns the last use of an image; undefined if none is known, or if the caller may not list the uses of the repo. */
export async function lastUseOf(
  session: Session,
  { repoUid, digest }: { readonly repoUid: string; readonly digest: string },
  call: Call,
): Promise<MessageInitShape<typeof LastImageUseSchema> | undefined> {
  if (!accessOf(call).has(Capability.CAP_MANIFEST_METADATA_LIST, repoUid)) return undefined;
  const [last] = await listUses(session, { repoUid, digest }, undefined, 1);
  if (!last) return undefined;
  const identityOf = await identityShower(session, isUid(last.actor) ? [last.actor] : [], parentOf(repoUid), call);
  return { time: toTimestamp(last.last * hourMs), kind: shownKind(last.kind), ...actorOf(last.actor, identityOf) };
}
