// The complete door: gRPC, gRPC-web and Connect by way of connect-node, for every method of the table.
import type { Registry } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { loader } from "../lazy.ts";
import type { Method, MethodTable } from "../pipeline/method.ts";
import type { HttpHandler } from "./dispatch.ts";
import { pathOf } from "./http-message.ts";

export interface RouterOptions {
  readonly methods: MethodTable;
  /** Services that are not in the table, those with streams, by name; each adds itself when it is first asked for. */
  readonly operations: Readonly<Record<string, (router: ConnectRouter) => void>>;
  /** Takes whatever is no RPC. */
  readonly fallback: HttpHandler;
  readonly maxBodyBytes: number;
  readonly maxTimeoutMs: number;
  /** The types that stand in the details of errors. */
  readonly detailTypes: Registry;
  /** Aborted when the program begins to stop. */
  readonly draining: AbortSignal;
}

const load = loader(import.meta.url);

/** Makes the request listener of both HTTP versions. What serves a service is made with its first request. */
export function createRouter(options: RouterOptions): HttpHandler {
  const made = new Map<string, HttpHandler>();
  return (request, response) => {
    const path = pathOf(request);
    const method = options.methods.get(path);
    const name = method?.descriptor.parent.typeName ?? serviceOf(path);
    let handler = made.get(name);
    if (!handler) {
      handler = handlerOf(name, method, options);
      if (!handler) return options.fallback(request, response);
      made.set(name, handler);
    }
    return handler(request, response);
  };
}

/** What serves a service; undefined when there is none of this name. */
function handlerOf(name: string, method: Method | undefined, options: RouterOptions): HttpHandler | undefined {
  const operation = Object.hasOwn(options.operations, name) ? options.operations[name] : undefined;
  if (!method && !operation) return undefined;
  const { adapt, adaptMethods }: typeof import("./connect-adapter.ts") = load("./connect-adapter.ts");
  if (!method) return adapt(operation!, options);
  const { methods } = method.descriptor.parent;
  return adaptMethods(
    methods.flatMap((each) => options.methods.get(`/${name}/${each.name}`) ?? []),
    options,
  );
}

function serviceOf(path: string): string {
  return path.slice(1, path.indexOf("/", 1));
}
