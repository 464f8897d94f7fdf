/** MCP: the tools of its servers, and a stack between its clients and servers. */

export type { McpOptions, McpServer } from '../executors/mcp/mcp-executor.ts';
export { mcpExecutor } from '../executors/mcp/mcp-executor.ts';
export type { McpProblem, McpProblemKind } from '../executors/mcp/problem.ts';
export type { AskPerson, McpAnswer, McpQuestion } from '../executors/mcp/question.ts';
export type {
  McpAddress,
  McpCommand,
  McpEra,
  McpTarget,
  McpTransport,
  SdkTransport,
} from '../executors/mcp/target.ts';
export {
  type AggregateLink,
  aggregateLinks,
  type AggregateOptions,
  type UpstreamSpec,
} from '../proxy/aggregate/aggregate-links.ts';
export {
  createProxy,
  type Proxy,
  type ProxyOptions,
  type ProxyStack,
} from '../proxy/create-proxy.ts';
export type { HttpServerOptions } from '../proxy/http/call-server.ts';
export { httpServerLink } from '../proxy/http/http-server-link.ts';
export {
  type HttpClient,
  type HttpListener,
  listenHttp,
  type ListenOptions,
} from '../proxy/http/listen-http.ts';
export { type Frame, type Link, type LinkHandlers, linkPair } from '../proxy/link.ts';
export type { Relay, RelayEnd } from '../proxy/relay.ts';
export { type ServeOptions, serveTools, type ToolServer } from '../proxy/serve-tools.ts';
export { type ChildLink, childLink, type ServerCommand, streamLink } from '../proxy/stdio-links.ts';
export type { ServerInfo } from '../proxy/tool-server-link.ts';
