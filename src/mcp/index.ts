/** MCP: the tools of its servers, and a stack between its clients and servers. */

export type { McpOptions, McpServer } from './client/mcp-executor.ts';
export { mcpExecutor } from './client/mcp-executor.ts';
export type { McpProblem, McpProblemKind } from './client/problem.ts';
export type { AskPerson, McpAnswer, McpQuestion } from './client/question.ts';
export type {
  McpAddress,
  McpCommand,
  McpEra,
  McpTarget,
  McpTransport,
  SdkTransport,
} from './client/target.ts';
export {
  type AggregateLink,
  aggregateLinks,
  type AggregateOptions,
  type UpstreamSpec,
} from './aggregate/aggregate-links.ts';
export {
  createProxy,
  type Proxy,
  type ProxyOptions,
  type ProxyStack,
} from './proxy/create-proxy.ts';
export type { HttpServerOptions } from './http/call-server.ts';
export { httpServerLink } from './http/http-server-link.ts';
export type { HttpClient } from './http/links.ts';
export { type HttpListener, listenHttp, type ListenOptions } from './http/listen-http.ts';
export { type Frame, type Link, type LinkHandlers, linkPair } from './proxy/link.ts';
export type { Relay, RelayEnd } from './proxy/relay.ts';
export { type ServeOptions, serveTools, type ToolServer } from './proxy/serve-tools.ts';
export { type ChildLink, childLink, type ServerCommand, streamLink } from './stdio/stdio-links.ts';
export type { ServerInfo } from './proxy/serve-tools.ts';
