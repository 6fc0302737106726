// Shows the installation to its operators (docs/design/delivery.md).
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  EndSessionRequestSchema,
  type InstallationSchema,
  ListSessionsRequestSchema,
  Node_State,
  type NodeSchema,
  OperateService,
  RetireSigningKeyRequestSchema,
} from "../../../gen/gatehouse/operate/v1/operate_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { version } from "../../base/version.ts";
import { type Handlers, type Implementation, implement } from "../../pipeline/handlers.ts";
import { type TextRule, uidRule } from "../../pipeline/text-rules.ts";
import { cutPage } from "../../resource/cut-page.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { readDatabaseFacts } from "../../storage/installation/database-facts.ts";
import type { NodeRow } from "../../storage/installation/nodes.ts";
import { requireUnlimited } from "../operator-call.ts";
import { type SessionContext, sessionMethods } from "./sessions.ts";
import { type SigningKeyContext, signingKeyMethods } from "./signing-keys.ts";

/** Facts about the running server. */
export interface InstallationFacts {
  /** The start of the process, in milliseconds since the epoch. */
  readonly startTime: number;
  /** How many processes serve the port. */
  readonly workers: number;
  /** Returns the public message about a problem with the database; empty if there is none. */
  databaseProblem(): Promise<string>;
  /** Returns how often each limit of the listener was met. */
  limitsMet(): Promise<Readonly<Record<string, number>>>;
}

/** The dependencies of the operate service. */
export interface OperateContext extends ServiceContext, NodeContext, SigningKeyContext, SessionContext {
  readonly installation: InstallationFacts;
}

/** Serves the installation. */
export function operate(context: OperateContext): Implementation {
  return implement(
    OperateService,
    {
      async getInstallation(_request, call) {
        requireUnlimited(call, "see the installation");
        return await installationOf(context);
      },
      ...nodeMethods(context),
      ...signingKeyMethods(context),
      ...sessionMethods(context),
    },
    [
      { schema: RetireSigningKeyRequestSchema, fields: { key_id: keyIdRule } },
      { schema: ListSessionsRequestSchema, fields: { identity_uid: uidRule } },
      { schema: EndSessionRequestSchema, fields: { session_id: sessionIdRule } },
    ],
  );
}

async function installationOf({
  database,
  settings,
  installation,
}: OperateContext): Promise<MessageInitShape<typeof InstallationSchema>> {
  const problem = await installation.databaseProblem();
  // A database that does not respond has no facts.
  const facts = await readDatabaseFacts(database.session).catch((error) => {
    if (problem === "") throw error;
    return { version: "", sizeBytes: 0 };
  });
  const limitsMet = Object.entries(await installation.limitsMet());
  return {
    version,
    nodeVersion: process.versions.node,
    baseUrl: settings.baseUrl,
    startTime: toTimestamp(installation.startTime),
    workerCount: installation.workers,
    database: {
      product: database.session.product,
      version: facts.version,
      sizeBytes: BigInt(facts.sizeBytes),
      problem,
    },
    limitsMet: Object.fromEntries(limitsMet.map(([name, count]) => [name, BigInt(count)])),
  };
}

const keyIdRule: TextRule = {
  test: (text) => /^[\w-]{43}$/.test(text),
  description: "must be the id of a signing key: 43 characters of base64url",
  pattern: "^[\\w-]{43}$",
};

const sessionIdRule: TextRule = {
  test: (text) => /^[\w-]{1,64}$/.test(text),
  description: "must be the id of a session: letters, digits, - and _",
  pattern: "^[\\w-]{1,64}$",
};

/** A server is "not seen" after this time: it writes four times as often (server/limits.ts). */
const silenceMs = 60_000;

/** The dependencies of the method. */
interface NodeContext extends Pick<ServiceContext, "clock" | "pageTokenKey"> {
  /** The servers that share the database. */
  readonly nodes: {
    /** The id of this server. */
    readonly id: string;
    list(): Promise<readonly NodeRow[]>;
  };
}

/** Returns the method for servers. */
function nodeMethods(context: NodeContext): Pick<Handlers<typeof OperateService>, "listNodes"> {
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
