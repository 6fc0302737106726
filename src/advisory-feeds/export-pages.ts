// Reads pages of the API, in this process, on behalf of the client of an export.
import { setImmediate as nextTick } from "node:timers/promises";
import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import {
  AdvisoryRecordsService,
  type ListAdvisoryStatementsResponse,
  RecordView,
  StatementsView,
} from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { ExportSource } from "../advisories/exported.ts";
import type { PackageSource } from "../advisories/openvex/by-package.ts";
import { type Call, callAs } from "../pipeline/call.ts";
import { methodPath } from "../pipeline/compose.ts";
import type { Method, MethodTable } from "../pipeline/method.ts";

/** The maximum page size. */
const pageSize = 200;

/** The request of an export, and the state of its group by then. */
export interface Begun<R> extends Pick<ListAdvisoryStatementsResponse, "state" | "changeTime"> {
  readonly request: R;
}

/** Calls the API for an export. */
export interface ExportPages {
  /**
   * Authenticates the caller, parses the request, authorizes the caller, and returns the parsed request with the state of the group. Rejects
   * as the API does, and with what `parse` throws.
   */
  begin<R extends { readonly group: string }>(call: Call, parse: () => R): Promise<Begun<R>>;
  /** Returns the source of an export of a group. */
  source(call: Call, group: string): ExportSource & PackageSource;
}

/** Makes the calls through the pipeline, which authorizes each by the current access of the caller. */
export function exportPages(methods: MethodTable): ExportPages {
  const { listAdvisoryStatements, listAdvisoryRecords } = AdvisoryRecordsService.method;

  async function invoke<I extends DescMethodUnary>(
    call: Call,
    descriptor: I,
    request: () => MessageInitShape<I["input"]>,
  ): Promise<MessageShape<I["output"]>> {
    const method = methodOf(methods, descriptor);
    // SQLite reads synchronously: without a pause the server would serve no other request until the export ends.
    await nextTick();
    call.signal?.throwIfAborted();
    // The call of the export itself has no method: the pipeline logs these calls, and denials of them, as its own.
    const response = await method.call(callAs(call, method), () => create(descriptor.input, request()));
    return response as MessageShape<I["output"]>;
  }

  return {
    async begin<R extends { readonly group: string }>(call: Call, parse: () => R) {
      let request: R | undefined;
      const { state, changeTime } = await invoke(call, listAdvisoryStatements, () => {
        request = parse();
        return { parent: request.group, pageSize: 1 };
      });
      return { request: request!, state, changeTime };
    },
    source(exported, parent) {
      // A response that has begun cannot be rejected.
      const call = { ...callAs(exported, methodOf(methods, listAdvisoryStatements)), isAdmitted: true };
      const view = StatementsView.PRODUCT;
      return {
        products: (pageToken) => invoke(call, listAdvisoryStatements, () => ({ parent, pageToken, pageSize, view })),
        named: (advisoryUids) =>
          invoke(call, listAdvisoryStatements, () => ({ parent, pageSize, advisoryUids: [...advisoryUids] })),
        statements: (pageToken) => invoke(call, listAdvisoryStatements, () => ({ parent, pageToken, pageSize })),
        withdrawnRecords: (pageToken) =>
          invoke(call, listAdvisoryRecords, () => ({
            parent,
            recursive: true,
            withdrawn: true,
            view: RecordView.FULL,
            pageToken,
            pageSize,
          })),
      };
    },
  };
}

function methodOf(methods: MethodTable, descriptor: DescMethodUnary): Method {
  const method = methods.get(methodPath(descriptor));
  if (!method) throw new Error(`${descriptor.name} is not served`);
  return method;
}
