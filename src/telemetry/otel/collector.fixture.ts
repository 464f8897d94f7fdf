/**
 * An OpenTelemetry collector from elsewhere, which reads what it gets by the official protocol
 * files.
 */

import { createRequire } from 'node:module';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events?: readonly { readonly name: string; readonly timeUnixNano: string }[];
  readonly status?: { readonly code?: string; readonly message?: string };
}

interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Readonly<Record<string, unknown>> };
    readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[];
  }[];
}

export interface CollectedMetric {
  readonly name: string;
  readonly unit: string;
}

interface Metrics {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly CollectedMetric[] }[];
  }[];
}

interface Package {
  readonly MockOtlpServer: new (
    options: object,
  ) => { readonly httpUrl: URL; start(): Promise<void>; close(): Promise<void> };
  readonly normalizeTrace: (trace: object) => Traces;
  readonly normalizeMetrics: (metrics: object) => Metrics;
}

// The package has no types of its own.
const { MockOtlpServer, normalizeTrace, normalizeMetrics } = createRequire(import.meta.url)(
  '@elastic/mockotlpserver',
) as Package;

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  readonly metrics: readonly CollectedMetric[];
  /** Attributes of whoever sent, one for each request. */
  readonly senders: readonly Readonly<Record<string, unknown>>[];
  /** Forgets what has come so far. */
  clear(): void;
  close(): Promise<void>;
}

/**
 * Listens on a free port of the loopback interface. One at a time: it hears everything of its
 * process.
 */
export async function startCollector(): Promise<Collector> {
  const traces: Traces[] = [];
  const metrics: Metrics[] = [];
  const server = new MockOtlpServer({
    services: ['http'],
    httpHostname: '127.0.0.1',
    httpPort: 0,
    logLevel: 'fatal',
    onTrace: (trace: object) => void traces.push(normalizeTrace(trace)),
    onMetrics: (metric: object) => void metrics.push(normalizeMetrics(metric)),
  });
  await server.start();
  return {
    url: server.httpUrl.href,
    get spans() {
      return traces.flatMap(spansIn);
    },
    get metrics() {
      return metrics.flatMap((item) =>
        item.resourceMetrics.flatMap((r) => r.scopeMetrics.flatMap((s) => s.metrics)),
      );
    },
    get senders() {
      return traces.flatMap(({ resourceSpans }) =>
        resourceSpans.map(({ resource }) => resource.attributes),
      );
    },
    clear: () => {
      traces.length = 0;
      metrics.length = 0;
    },
    close: () => server.close(),
  };
}

const spansIn = ({ resourceSpans }: Traces): readonly CollectedSpan[] =>
  resourceSpans.flatMap((r) => r.scopeSpans.flatMap((s) => s.spans));

/** The spans of an OTLP/JSON body, as the collector understands them. */
export const readOtlp = (body: string): readonly CollectedSpan[] =>
  spansIn(normalizeTrace(JSON.parse(body) as object));
