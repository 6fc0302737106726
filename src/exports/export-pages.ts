// Pages of the API, read in this process on behalf of the client of an export.
import { setImmediate as nextTick } from "node:timers/promises";
import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import {
  AdvisoryRecordsService,
  type ListAdvisoryStatementsResponse,
  RecordView,
} from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { ExportSource } from "../advisories/exported.ts";
import { type Call, callAs } from "../pipeline/call.ts";
import { methodPath } from "../pipeline/compose.ts";
import type { Method, MethodTable } from "../pipeline/method.ts";

/** Advisories of a page: as many as a page may have. */
const pageSize = 200;

/** Calls the API for an export. */
export interface ExportPages {
  /** Finds out who calls. Rejects with UNAUTHENTICATED. */
  authenticate(call: Call): Promise<void>;
  /** A page of the advisories of a group. Rejects as the API does. */
  statements(call: Call, group: string, pageToken: string, size?: number): Promise<ListAdvisoryStatementsResponse>;
  /** Everything that an export of a group is made of. */
  source(call: Call, group: string): ExportSource;
}

/** Makes the calls through the pipeline: each is authorized by what the caller may do by then. */
export function exportPages(methods: MethodTable): ExportPages {
  const { listAdvisoryStatements, listAdvisoryRecords } = AdvisoryRecordsService.method;

  function methodOf(descriptor: DescMethodUnary): Method {
    const method = methods.get(methodPath(descriptor));
    if (!method) throw new Error(`${descriptor.name} is not served`);
    return method;
  }

  async function invoke<I extends DescMethodUnary>(
    call: Call,
    descriptor: I,
    request: MessageInitShape<I["input"]>,
  ): Promise<MessageShape<I["output"]>> {
    const method = methodOf(descriptor);
    const message = create(descriptor.input, request);
    // SQLite answers within the same event-loop tick: without a pause no other request would be served until the export ends.
    await nextTick();
    call.signal?.throwIfAborted();
    // The call of the export itself has no method: the pipeline logs these calls, and denials of them, as its own.
    return (await method.invoke(callAs(call, method), message)) as MessageShape<I["output"]>;
  }

  const statements: ExportPages["statements"] = (call, parent, pageToken, size = pageSize) =>
    invoke(call, listAdvisoryStatements, { parent, pageToken, pageSize: size });

  return {
    async authenticate(call) {
      const method = methodOf(listAdvisoryStatements);
      await method.authenticate(callAs(call, method));
    },
    statements,
    source: (call, parent) => ({
      statements: (pageToken) => statements(call, parent, pageToken),
      withdrawnRecords: (pageToken) =>
        invoke(call, listAdvisoryRecords, {
          ...{ parent, recursive: true, withdrawn: true },
          ...{ view: RecordView.FULL, pageToken, pageSize },
        }),
    }),
  };
}
