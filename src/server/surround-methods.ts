// Replaces the methods of an API by others around them.
import { memoizeByObject, once } from "../base/lazy.ts";
import type { Method, MethodTable } from "../pipeline/method.ts";
import type { Api } from "./api.ts";

/** Returns an API with the methods that `surround` returns; the same API without it. */
export function surroundMethods<T extends Api>(api: T, surround: ((method: Method) => Method) | undefined): T {
  if (!surround) return api;
  const around = memoizeByObject(surround);
  const tableOf = (table: MethodTable): MethodTable => ({
    get(path) {
      const method = table.get(path);
      return method && around(method);
    },
    *values() {
      for (const method of table.values()) yield around(method);
    },
  });
  return {
    ...api,
    current: tableOf(api.current),
    methods: tableOf(api.methods),
    lazy: api.lazy.map(({ methods, ...version }) => ({ ...version, methods: once(() => tableOf(methods())) })),
  };
}
