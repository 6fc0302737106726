// Properties that the panels of all dashboards share.
import {
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/timeseries";

/** The labels of the chosen servers, for a selector. */
export const servers = 'job="$job",instance=~"$instance"';

const source = { type: "prometheus", uid: "$datasource" };

/** A graph of queries. */
export interface Graph {
  readonly title: string;
  /** A sentence for readers of the dashboard. */
  readonly description: string;
  /** The unit, by its name in Grafana. */
  readonly unit: string;
  /** The queries by the text of their legend, which may have labels in `{{…}}`. */
  readonly queries: Readonly<Record<string, string>>;
  /** Whether points of it lead to traces. False if absent. */
  readonly hasExemplars?: boolean;
}

/** A row of graphs. */
export interface Row {
  readonly title: string;
  readonly graphs: readonly Graph[];
}

/** Returns a dashboard as JSON text. */
export function dashboardOf(uid: string, title: string, description: string, rows: readonly Row[]): string {
  const dashboard = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags(["gatehouse"])
    .time({ from: "now-3h", to: "now" })
    .refresh("30s")
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus"))
    .withVariable(variable("job", "Job", "label_values(gatehouse_build_info, job)"))
    .withVariable(
      variable("instance", "Server", 'label_values(gatehouse_build_info{job="$job"}, instance)')
        .multi(true)
        .includeAll(true)
        .allValue(".*"),
    );
  for (const row of rows) {
    dashboard.withRow(new RowBuilder(row.title));
    for (const graph of row.graphs) dashboard.withPanel(panel(graph, row.graphs.length));
  }
  return `${JSON.stringify(dashboard.build(), undefined, 2)}\n`;
}

function variable(name: string, label: string, query: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(source)
    .query({ query, refId: name })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc);
}

/** A row of Grafana has 24 columns. */
const columns = 24;

function panel({ title, description, unit, queries, hasExemplars = false }: Graph, inRow: number): PanelBuilder {
  const graph = new PanelBuilder()
    .title(title)
    .description(description)
    .datasource(source)
    .unit(unit)
    .min(0)
    .lineWidth(2)
    .fillOpacity(8)
    .span(columns / Math.min(inRow, 3))
    .height(8)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending));
  for (const [i, [legend, expr]] of Object.entries(queries).entries()) {
    const query = new DataqueryBuilder().expr(expr).legendFormat(legend).exemplar(hasExemplars);
    // Grafana tells the queries of a panel apart by letters.
    graph.withTarget(query.refId("ABCDEF"[i]!));
  }
  return graph;
}
