// node:http, taken without an import statement. Node makes an ES module of a built-in by reading each of its exports, and
// reading those of the WebSocket client that node:http passes on loads all of undici: 45 ms and 4 MB for nothing.
import { once } from "./lazy.ts";

/** node:http, loaded when it is first asked for: a startup snapshot cannot hold what it consists of. */
export const http = once(() => process.getBuiltinModule("node:http"));
