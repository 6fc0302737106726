// node:http, taken without an import statement. Node makes an ES module of a built-in by reading each of its exports, and
// reading those of the WebSocket client that node:http passes on loads all of undici: 45 ms and 4 MB for nothing.

/** node:http. */
export const http = process.getBuiltinModule("node:http");
