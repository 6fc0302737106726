import type { Advisory } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { newChild } from "../../../model/uid.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { underived, unknownProduct } from "../../../storage/vulnerabilities/rows.ts";
import { insertState } from "./advisory-state.ts";
import { contentOf, eventRow } from "./event-content.ts";

/**
 * Inserts an advisory with its events into a group without checks, for sample data. Returns its uid. Missing times become that of the
 * transaction. `origin` is the package from which the artifact is built.
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
    uid,
    parent,
    createTime,
    updateTime,
    name: advisory.advisoryId,
    origin,
    legacyAdvisoryId: advisory.legacyAdvisoryId ?? "",
    author,
    artifactName,
    artifactType,
    artifactArchitecture,
    aliases,
    componentName,
    componentType,
    componentLocation,
    sources: [],
    ...underived,
    ...unknownProduct,
    severities: severities.map(({ type, score }) => ({ type, score })),
  };
  await insertState(tx, { row, events });
  return uid;
}
