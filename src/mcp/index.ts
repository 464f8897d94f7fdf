/** MCP: the tools of its servers. */

export type { McpEra } from '../executors/mcp/connection.ts';
export type { AskPerson, McpAnswer, McpQuestion } from '../executors/mcp/elicit.ts';
export type { McpOptions, McpServer } from '../executors/mcp/mcp-executor.ts';
export { mcpExecutor } from '../executors/mcp/mcp-executor.ts';
export type { McpProblem, McpProblemKind } from '../executors/mcp/problem.ts';
export type { McpAddress, McpCommand, McpTarget, McpTransport } from '../executors/mcp/target.ts';
