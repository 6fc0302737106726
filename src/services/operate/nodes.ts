// The servers of an installation, for its operators.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Node_State, type NodeSchema, type OperateService } from "../../../gen/gatehouse/operate/v1/operate_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import type { Handlers } from "../../pipeline/handlers.ts";
import { cutPage } from "../../resource/cut-page.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { NodeRow } from "../../storage/installation/nodes.ts";
import { requireUnlimited } from "../operator-call.ts";

/** A server is "not seen" after this time: it writes four times as often (server/limits.ts). */
const silenceMs = 60_000;

/** The dependencies of the method. */
export interface NodeContext extends Pick<ServiceContext, "clock" | "pageTokenKey"> {
  /** The servers that share the database. */
  readonly nodes: {
    /** The id of this server. */
    readonly id: string;
    list(): Promise<readonly NodeRow[]>;
  };
}

/** Returns the method for servers. */
export function nodeMethods(context: NodeContext): Pick<Handlers<typeof OperateService>, "listNodes"> {
  const { nodes, clock } = context;
  return {
    async listNodes(request, call) {
      requireUnlimited(call, "list the servers of the installation");
      const positionOf = ({ startTime, id }: NodeRow) => ({ time: startTime, id });
      const { rows, ...page } = await cutPage(context, call, request, nodes.list, positionOf);
      return { ...page, nodes: rows.map((row) => toMessage(row, nodes.id, clock())) };
    },
  };
}

function toMessage({ id, hostName, version, workerCount, startTime, lastSeenTime }: NodeRow, own: string, now: number) {
  const shown: MessageInitShape<typeof NodeSchema> = {
    nodeId: id,
    hostName,
    version,
    workerCount,
    state: now - lastSeenTime < silenceMs ? Node_State.RUNNING : Node_State.NOT_SEEN,
    current: id === own,
    startTime: toTimestamp(startTime),
    lastSeenTime: toTimestamp(lastSeenTime),
  };
  return shown;
}
