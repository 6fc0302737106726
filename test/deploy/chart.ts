/** The chart. */
export const chartFolder = "deploy/helm/gatehouse";
