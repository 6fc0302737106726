// The modules of prom-client that metrics.ts imports by path: the package has types for its main module only.
declare module "prom-client/lib/gauge.js" {
  import { Gauge } from "prom-client";
  export default Gauge;
}
declare module "prom-client/lib/histogram.js" {
  import { Histogram } from "prom-client";
  export default Histogram;
}
declare module "prom-client/lib/registry.js" {
  import { Registry } from "prom-client";
  export default Registry;
}
declare module "prom-client/lib/cluster.js" {
  import { AggregatorRegistry } from "prom-client";
  export default AggregatorRegistry;
}
