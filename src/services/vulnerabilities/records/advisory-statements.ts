// Reads advisories as messages, with the records that they are derived from.
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryStatements,
  AdvisoryStatementsSchema,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { Session } from "../../../storage/engine/session.ts";
import type { AdvisoryRow } from "../../../storage/vulnerabilities/rows.ts";
import { readStates } from "../advisories/advisories.ts";
import { statementsOf } from "./record-lists.ts";

/** Reads the statements of advisories, in the order of the rows. The advisories come without derived events, which repeat their records. */
export async function readStatements(session: Session, rows: readonly AdvisoryRow[]): Promise<AdvisoryStatements[]> {
  const found = await statementsOf(session, await readStates(session, rows, "written"));
  return found.map((statements) => create(AdvisoryStatementsSchema, statements));
}
