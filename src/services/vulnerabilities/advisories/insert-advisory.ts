import type { Advisory } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { newChild } from "../../../model/uid.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { unknownProduct } from "../../../storage/vulnerabilities/rows.ts";
import { insertState } from "./advisory-state.ts";
import { contentOf, eventRow } from "./event-content.ts";

/**
 * Adds an advisory with its events below a group as it is, and answers its uid: for samples. Uids are made; times that are
 * absent are those of the transaction. `origin` is the package that the artifact is built from.
 */
export async function insertAdvisory(
  tx: Transaction,
  parent: string,
  advisory: Advisory,
  origin: string = advisory.artifactName,
): Promise<string> {
  const createTime = advisory.createTime ? fromTimestamp(advisory.createTime) : tx.context.time;
  const updateTime = advisory.updateTime ? fromTimestamp(advisory.updateTime) : createTime;
  const uid = newChild(parent);
  const { author, artifactName, artifactType, artifactArchitecture, aliases } = advisory;
  const { componentName, componentType, componentLocation, severities } = advisory;
  const events = advisory.events.map((event) => {
    const content = contentOf(event);
    return eventRow(newChild(uid), uid, content, content.time ?? createTime);
  });
  const row = {
    ...{ uid, parent, createTime, updateTime, name: advisory.advisoryId, origin },
    legacyAdvisoryId: advisory.legacyAdvisoryId ?? "",
    ...{ author, artifactName, artifactType, artifactArchitecture, aliases },
    ...{ componentName, componentType, componentLocation, latestEventType: 0, aliasText: "", sources: [] },
    ...unknownProduct,
    severities: severities.map(({ type, score }) => ({ type, score })),
  };
  await insertState(tx, { row, events });
  return uid;
}
