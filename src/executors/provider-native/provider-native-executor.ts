/** Stands in for tools that a model's provider runs itself. */

import { toolFailure, type ToolExecutor } from '../../tools/tool.ts';

const standIns = new WeakSet<ToolExecutor>();

/**
 * Lets tools of the provider be declared, so that their calls are recorded under a description, a
 * schema and annotations. It runs nothing: a call that reaches it is refused, and calls that the
 * provider has made are reported with `observe`.
 */
export function providerNativeExecutor(): ToolExecutor {
  const executor: ToolExecutor = Object.freeze({
    kind: 'provider_native' as const,
    execute({ tool }: Parameters<ToolExecutor['execute']>[0]) {
      throw toolFailure(
        `The provider runs ${tool.name} itself; it cannot be called here. Its calls are reported with observe.`,
        { category: 'provider_native', errorClass: 'fatal', executed: 'no' },
      );
    },
  });
  standIns.add(executor);
  return executor;
}

/**
 * Whether an executor runs nothing: its tools are shown to the model by their provider, and by
 * nobody else.
 */
export const runsNothing = (executor: ToolExecutor): boolean => standIns.has(executor);
